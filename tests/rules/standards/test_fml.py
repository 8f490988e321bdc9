"""FML documents: built as IEEE 1855-2016 has it, and read safely."""

import re
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from neuroplastic.rules.standards import FileFormatError, NotExpressibleError, from_fml, to_fml
from tests.rules.standards.random_rules import KINDS, grid, outputs_of, random_rules

SPACE = "{http://www.ieee1855.org}"
NAME = re.compile(r"[^\W\d][\w.-]*")
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")

# Of each element that is written: the children in order ("*" is one or more), the attributes that
# must be there, and those that may. After the schema of the standard, in our own words.
STRUCTURE = {
    "fuzzySystem": (["knowledgeBase", "tskRuleBase"], {"name"}, {"networkAddress"}),
    "knowledgeBase": (["fuzzyVariable*", "tskVariable*"], set(), {"networkAddress"}),
    "fuzzyVariable": (
        ["fuzzyTerm*"],
        {"name", "domainleft", "domainright"},
        {"scale", "type", "accumulation", "defuzzifier", "defaultValue", "networkAddress"},
    ),
    "fuzzyTerm": (["gaussianShape"], {"name"}, {"complement"}),
    "gaussianShape": ([], {"param1", "param2"}, set()),
    "tskVariable": (
        ["tskTerm*"],
        {"name", "type"},
        {"scale", "combination", "defaultValue", "networkAddress"},
    ),
    "tskTerm": (["tskValue*"], {"name", "order"}, set()),
    "tskValue": ([], set(), set()),
    "tskRuleBase": (
        ["tskRule*"],
        {"name"},
        {"activationMethod", "andMethod", "orMethod", "networkAddress"},
    ),
    "tskRule": (
        ["antecedent", "tskConsequent"],
        {"name"},
        {"andMethod", "orMethod", "connector", "weight", "networkAddress"},
    ),
    "antecedent": (["clause*"], set(), set()),
    "tskConsequent": (["tskThen"], set(), set()),
    "tskThen": (["tskClause*"], set(), set()),
    "clause": (["variable", "term"], set(), {"modifier"}),
    "tskClause": (["variable", "term"], set(), set()),
    "variable": ([], set(), set()),
    "term": ([], set(), set()),
}
ALLOWED = {
    "type": {"input", "output"},
    "complement": {"true", "false"},
    "order": {"0", "1"},
    "combination": {"WA"},
    "andMethod": {"MIN", "PROD"},
    "orMethod": {"MAX", "PROBOR"},
    "activationMethod": {"MIN", "PROD"},
    "connector": {"and", "or"},
}
NUMBERS = {"param1", "param2", "domainleft", "domainright", "defaultValue", "weight"}


def check_element(element):
    """The element and all below it are built as the standard asks."""
    assert element.tag.startswith(SPACE), element.tag
    name = element.tag.removeprefix(SPACE)
    children, required, optional = STRUCTURE[name]
    assert required <= set(element.attrib) <= required | optional, (name, element.attrib)
    pattern = "".join(f"(?:{child.rstrip('*')} ){'+' if child.endswith('*') else ''}" for child in children)
    found = "".join(f"{child.tag.removeprefix(SPACE)} " for child in element)
    assert re.fullmatch(pattern, found), (name, found)
    for key, value in element.attrib.items():
        if key in ALLOWED:
            assert value in ALLOWED[key], (name, key, value)
        if key in NUMBERS:
            assert NUMBER.fullmatch(value), (name, key, value)
    for child in element:
        check_element(child)


def check_names(root):
    """Names are of type ID: XML names, unique in the document; references are of type IDREF."""
    names = [element.get("name") for element in root.iter() if element.get("name")]
    assert len(set(names)) == len(names)
    assert all(NAME.fullmatch(name) for name in names)
    for kind in ("variable", "term"):
        assert {element.text for element in root.iter(SPACE + kind)} <= set(names)


@pytest.mark.parametrize("certain", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_document_is_built_as_the_standard_asks(kind, certain):
    for seed in range(5):
        rules = random_rules(seed, kind=kind, certain=certain, ignore=0.25 * seed)
        root = ElementTree.fromstring(to_fml(rules))
        assert root.tag == f"{SPACE}fuzzySystem"
        check_element(root)
        check_names(root)
        for rule in root.iter(f"{SPACE}tskRule"):
            assert 0 <= float(rule.get("weight")) <= 1
        for term in root.iter(f"{SPACE}tskTerm"):
            assert len(term) == (1 if term.get("order") == "0" else len(rules.inputs) + 1)


def test_foreign_documents_are_read_in_any_order_with_comments_and_without_namespace():
    text = """<?xml version='1.0' encoding='UTF-8'?>
    <!-- a comment --><fuzzySystem name="tip">
      <tskRuleBase name="rb" andMethod="MIN">
        <tskRule weight="0.5" name="r2"><tskConsequent><tskThen><tskClause><term> generous </term>
          <variable>tip</variable></tskClause></tskThen></tskConsequent>
          <antecedent><clause><variable>service</variable><term>good</term></clause></antecedent></tskRule>
        <tskRule name="r1"><antecedent><clause modifier="any"><variable>service</variable><term>good</term></clause>
          </antecedent><tskConsequent><tskThen><tskClause><variable>tip</variable><term>cheap</term></tskClause>
          </tskThen></tskConsequent></tskRule>
      </tskRuleBase>
      <knowledgeBase networkAddress="127.0.0.1">
        <tskVariable name="tip" type="output"><tskTerm name="cheap" order="0"><tskValue>5</tskValue></tskTerm>
          <tskTerm name="generous" order="1"><tskValue>1</tskValue><tskValue>2e0</tskValue></tskTerm></tskVariable>
        <fuzzyVariable name="service" domainleft="0" domainright="10" scale="points">
          <fuzzyTerm name="good"><!-- mean, deviation --><gaussianShape param2="2" param1="5"/></fuzzyTerm>
        </fuzzyVariable>
      </knowledgeBase>
    </fuzzySystem>"""
    rules = from_fml(text)
    assert [term.name for term in rules.inputs[0].terms] == ["good"]
    x = np.linspace(0, 10, 7)[:, None]
    fired = 0.5 * np.exp(-0.5 * ((x - 5) / 2) ** 2)
    np.testing.assert_allclose(outputs_of(rules, x), (fired * (1 + 2 * x) + 5) / (fired + 1), atol=1e-12)


def test_other_encodings_are_read_from_bytes():
    text = to_fml(random_rules(0)).replace("x1", "größe")
    for name, encoding in (("UTF-16", "utf-16"), ("ISO-8859-1", "latin-1"), ("UTF-8", "utf-8-sig")):
        rules = from_fml(text.replace("UTF-8", name).encode(encoding))
        assert rules.inputs[0].name == "größe"


def test_terms_with_the_name_of_their_variable_in_front_are_found():
    text = to_fml(random_rules(3, kind="constant", inputs=1, terms=2, ignore=0.0))
    odd = text.replace("x1_low", "x1_x1_medium").replace('"x1_medium', '"x1_medium')
    x = grid(1)
    np.testing.assert_array_equal(outputs_of(from_fml(odd), x), outputs_of(from_fml(text), x))


BOMB = """<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>
<fuzzySystem name="&d;"/>"""


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        '<!DOCTYPE fuzzySystem SYSTEM "http://localhost:1/FML.dtd"><fuzzySystem/>',
        '<!DOCTYPE fuzzySystem [<!ENTITY x SYSTEM "file:///etc/passwd">]><fuzzySystem name="a">&x;</fuzzySystem>',
        '<!DOCTYPE f [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><f/>',
        "<!DOCTYPE fuzzySystem><fuzzySystem/>",
    ],
)
def test_document_types_and_entities_are_refused(text):
    with pytest.raises(FileFormatError, match="DTD"):
        from_fml(text)


def test_deep_and_large_documents_are_refused_quickly(monkeypatch):
    start = time.monotonic()
    with pytest.raises(FileFormatError, match="nested more than 32 deep"):
        from_fml("<a>" * 200_000 + "</a>" * 200_000)
    monkeypatch.setattr("neuroplastic.rules.standards.text.MOST_CHARACTERS", 1000)
    with pytest.raises(FileFormatError, match="more than the 1000"):
        from_fml("<a>" + " " * 1000 + "</a>")
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not well-formed XML"),
        ("<fuzzySystem>", "line 1, column 14: not well-formed XML"),
        ("<a>&undefined;</a>", "not well-formed XML"),
        ("\ud800<a/>", "not readable XML"),
        (b"<?xml version='1.0' encoding='no-such'?><a/>", "the encoding 'no-such' is not read"),
        (b"<a>\xff</a>", "not utf-8 text"),
        ("<FuzzyController/>", "root must be <fuzzySystem>, got <FuzzyController>"),
        ("<fuzzySystem/>", "must have one <knowledgeBase>, got 0"),
        ("<fuzzySystem><knowledgeBase/>\n</fuzzySystem>", "one rule base, got 0"),
    ],
)
def test_malformed_documents_are_named_errors(text, complaint):
    with pytest.raises((FileFormatError, NotExpressibleError), match=complaint):
        from_fml(text)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('param1="', 'param1="nan', "line 6: param1 of <gaussianShape> must be a number"),
        ('param2="', 'param2="1e999" x="', "param2 of <gaussianShape> must be finite"),
        ("param2=", "param3=", "must have the attribute 'param2'"),
        ('order="0"', 'order="2"', "order of <tskTerm> must be 0 or 1, got '2'"),
        ('order="0"', 'order="1"', "must have 4 <tskValue>"),
        ("<variable>x1", "<variable>x9", "premise on 'x9' names no known input"),
        ("<variable>y1", "<variable>y9", "conclusion on 'y9' names no known output"),
        ('name="x2"', 'name="x1"', "unique"),
    ],
)
def test_wrong_values_are_errors_with_a_place(old, new, complaint):
    text = to_fml(random_rules(0, kind="constant", ignore=0.0))
    assert old in text
    with pytest.raises(FileFormatError, match=complaint):
        from_fml(text.replace(old, new))
