"""Rules turned by hand in a browser: by mouse, by keyboard and in words; undone, redone, saved."""

import json
import urllib.request

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")
pytest.importorskip("sklearn", reason="needs the extra 'table'")
pytest.importorskip("gymnasium", reason="needs the extra 'gym'")

from neuroplastic import NeuroFuzzyClassifier
from neuroplastic.experiment.agent import greedy
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.learn.columns import Columns
from neuroplastic.learn.table_model import TableModel
from neuroplastic.usecases.agent_editing import edited_agent, save_edited_agent
from neuroplastic.usecases.edits import SetConclusion, SetPremise, SwitchRule
from neuroplastic.usecases.opening import open_run
from neuroplastic.usecases.requests import rule_files
from tests.usecases.test_agent_editing import LEFT, RIGHT, pole_balancer
from tests.usecases.test_editing import table

EFFECT = "return document.querySelector('#effect').innerText"
LEAVING = """const leaving = new Event('beforeunload', { cancelable: true });
window.dispatchEvent(leaving); return leaving.defaultPrevented"""
VIEW = "return JSON.stringify(Rules.state.view)"
SETTLED = "return !Rules.state.pending && Rules.state.edits.length === arguments[0]"


@pytest.fixture(scope="module")
def opened(studio, browser):
    """A model and its table at hand, and the page on it."""
    frame = table()[["size", "weight", "kind"]]
    model = NeuroFuzzyClassifier(readable=True, taught=False).fit(frame[["size", "weight"]], frame["kind"])
    TableModel(Columns("kind", True, ("size", "weight")), model).save(studio.folder / "models" / "kinds")
    rows = frame.to_csv(index=False).encode()
    asked = urllib.request.Request(f"{studio.base}/api/tables?name=kinds.csv", rows, {"Origin": studio.base})
    with urllib.request.urlopen(asked) as answer:
        key = json.load(answer)["key"]
    browser.go(f"{studio.base}/rules/kinds?table={key}")
    return key


def test_a_set_is_dragged_by_mouse_the_effect_shows_and_undo_brings_all_back(studio, browser, until, opened):
    until("return Rules.state.view && !document.querySelector('#turning').hidden")
    before = browser(VIEW)
    assert "; 0 predictions changed" in browser(EFFECT)
    browser("document.querySelector('.handle').scrollIntoView({ block: 'center' })")
    box = browser(
        "const b = document.querySelector('.handle').getBoundingClientRect(); return [b.x, b.y, b.width]"
    )
    x, y = box[0] + box[2] / 2, box[1] + box[2] / 2
    old = browser("return Rules.state.view.inputs[0].terms[0][1]")
    browser.drag((x, y), (x + 90, y))
    until(SETTLED, 1)
    assert browser("return Rules.state.view.inputs[0].terms[0][1]") > old + 1
    until("return document.querySelector('#effect .worse') !== null")
    assert "; 0 predictions changed" not in browser(EFFECT)
    turned = browser(VIEW)
    assert "±" in browser("return document.querySelector('#changes del').textContent")

    browser("document.querySelector('#undo').click()")
    until(SETTLED, 0)
    assert browser(VIEW) == before  # numbers in full: equal to the bit
    browser("document.querySelector('#redo').click()")
    until(SETTLED, 1)
    assert browser(VIEW) == turned
    browser("document.querySelector('#undo').click()")
    until(SETTLED, 0)


def test_rules_are_switched_off_concluded_anew_added_in_words_and_saved(studio, browser, until, opened):
    until("return Rules.state.view !== null")
    name, term = browser(
        "const v = Rules.state.view.inputs.find((i) => i.terms.length); return [v.name, v.terms[0][0]]"
    )
    browser("document.querySelector('.card input[type=checkbox]').click()")
    until(SETTLED, 1)
    assert browser(LEAVING)  # nobody loses edits without being asked
    assert browser("return document.querySelectorAll('.card.off').length") == 1
    browser(
        """document.querySelector('#words').value = arguments[0];
        document.querySelector('#add button').click()""",
        f"IF {name} is {term} THEN large",
    )
    until(SETTLED, 2)
    cards = browser("return document.querySelectorAll('.card').length")
    changed = browser("return [...document.querySelectorAll('#changes b')].map((line) => line.textContent)")
    assert changed == ["Rule 1, switched off", f"Rule {cards}, added"]
    browser("""document.querySelector('#words').value = 'IF <b>x</b> is y THEN z';
        document.querySelector('#add button').click()""")
    said = until("const it = document.querySelector('#add-problem'); return !it.hidden && it.textContent")
    assert "no input is meant by '<b>x</b> is y'" in said
    until(SETTLED, 2)
    all_standards_hold_the_edited_rules(studio, browser("return Rules.state.edits"))
    browser("document.querySelector('#export button').click()")
    until("return document.querySelector('#toast').textContent === 'Exported as kinds-turned.txt.'")
    browser(
        "document.querySelector('#as').value = '../../turned'; document.querySelector('#save button').click()"
    )
    until("return document.querySelector('#model').value === 'model:turned' && Rules.state.view")
    made = TableModel.load(studio.folder / "models" / "turned")
    assert len(made.estimator.rules_) == cards - 1
    assert not browser(LEAVING)
    edits = browser("return document.querySelector('#edits').textContent")
    assert edits == "as it was saved: changed by hand from kinds, with 2 edits"
    assert browser.complaints() == [] or all("400" in line for line in browser.complaints())


def all_standards_hold_the_edited_rules(studio, edits):
    def exported(ending, edits):
        wish = json.dumps({"edits": edits, "ending": ending}).encode()
        address = f"{studio.base}/api/models/kinds/export"
        with urllib.request.urlopen(urllib.request.Request(address, wish, {"Origin": studio.base})) as answer:
            return answer.read()

    for ending in rule_files():
        assert exported(ending, edits) != exported(ending, [])


def test_a_handle_is_moved_by_the_arrow_keys(browser, until, opened):
    until("return Rules.state.view && !Rules.state.pending && Rules.state.edits.length === 0")
    old = browser(
        "document.querySelector('.handle').focus(); return Rules.state.view.inputs[0].terms[0].slice(1)"
    )
    browser.press("\ue014", "\ue014", "\ue013")
    until(SETTLED, 1)
    center, width = browser("return Rules.state.view.inputs[0].terms[0].slice(1)")
    assert center > old[0]
    assert width > old[1]


ANGLE = 2


def acts(run, *angles):
    """What an agent does where the pole leans so far."""
    return greedy(run.agent, np.array([[0, 0, angle, 0] for angle in angles], np.float32)).tolist()


def two_rules(folder):
    """An agent that pushes left where the pole leans to the left, else right, in a run of that name."""
    run = pole_balancer(folder / "untrained")
    edits = [SwitchRule(rule, on=False) for rule in range(2, 12)]
    for rule, (term, action) in enumerate([(0, LEFT), (1, RIGHT)]):
        edits += [SetPremise(rule, place, term if place == ANGLE else -1) for place in range(4)]
        edits += [SetConclusion(rule, action, 1.0), SetConclusion(rule, 1 - action, -1.0)]
    save_edited_agent(run, edits, folder / "leaning")
    return open_run(folder / "leaning")


def test_an_agents_set_is_dragged_by_mouse_and_it_acts_as_foretold(studio, browser, until):
    run = two_rules(studio.folder / "runs")
    assert acts(run, -0.1, 0.1) == [LEFT, RIGHT]
    browser.go(f"{studio.base}/rules/leaning?agent=1")
    until("return Rules.state.view && RulesPlay.state.before.length === 20 && Rules.state.seen")
    before = browser(VIEW)
    handle = f'[data-handle="{ANGLE}-0"]'
    x, y, width, plot = browser(
        f"""const handle = document.querySelector('{handle}');
        handle.scrollIntoView({{ block: 'center' }});
        const b = handle.getBoundingClientRect();
        return [b.x, b.y, b.width, handle.ownerSVGElement.getBoundingClientRect().right]"""
    )
    start = x + width / 2, y + width / 2
    browser.drag(start, (plot - 4, start[1]))  # "low" beyond "high": left and right change places
    until(SETTLED, 1)
    until("return RulesPlay.done() && RulesPlay.state.after.length === 20")
    low, high = browser(f"return Rules.state.view.inputs[{ANGLE}].terms.map((term) => term[1])")
    assert low > high
    assert "→" in browser(EFFECT)

    browser("document.querySelector('#undo').click()")
    until(SETTLED, 0)
    until("return JSON.stringify(Rules.state.view) === arguments[0]", before)  # leads come with the play
    browser("document.querySelector('#redo').click()")
    until(SETTLED, 1)
    browser(
        "document.querySelector('#as').value = 'the other way'; document.querySelector('#save button').click()"
    )
    until("return document.querySelector('#model').value === 'agent:the-other-way' && Rules.state.view")
    made = open_run(studio.folder / "runs" / "the-other-way")
    # The sets are equally wide: of two rules that ask for one each, the one whose set is nearer leads.
    assert acts(made, high, low) == [RIGHT, LEFT]
    assert acts(made, -0.1) == [RIGHT]
    assert acts(edited_agent(run, []), -0.1, 0.1) == [LEFT, RIGHT]
    assert browser.complaints() == []


@pytest.mark.slow
def test_a_frozen_rule_stays_as_written_while_the_others_learn_on(studio, browser, until, opened):
    browser.go(f"{studio.base}/rules/kinds?table={opened}")
    until("return Rules.state.view !== null && !Rules.state.pending")
    browser("document.querySelector('[data-key=\"frozen-0\"]').click()")
    until(SETTLED, 1)
    browser("Rules.edit({ kind: 'conclusion', rule: 0, output: 0, value: 2.75 })")
    until(SETTLED, 2)
    browser("document.querySelector('#as').value = 'learned'; document.querySelector('#on').click()")
    until("return document.querySelector('#model').value === 'model:learned' && Rules.state.view")
    made = TableModel.load(studio.folder / "models" / "learned")
    assert made.estimator.rules_.consequents.bias[0, 0] == 2.75
    assert made.estimator.network_.frozen[0] == [0]
    assert browser("return document.querySelector('[data-key=\"frozen-0\"]').checked")


@pytest.mark.slow
def test_an_agent_trains_on_from_its_edits_with_frozen_rules_kept(studio, browser, until):
    folder = studio.folder / "runs"
    run = pole_balancer(folder)
    browser.go(f"{studio.base}/rules/{run.path.name}?agent=1")
    until("return Rules.state.view !== null && !Rules.state.pending")
    browser("document.querySelector('[data-key=\"frozen-3\"]').click()")
    until(SETTLED, 1)
    browser("Rules.edit({ kind: 'conclusion', rule: 3, output: 0, value: 1.25 })")
    until(SETTLED, 2)
    browser("document.querySelector('#as').value = 'written'; document.querySelector('#on').click()")
    until(
        "return location.pathname === '/train' && Train.state.told?.here.some((one) => one.state === 'step')"
    )
    name = until("return Train.state.told.here.find((one) => one.state === 'step').name")
    until("return Train.state.told.here.find((one) => one.state === 'step').steps > 1000")
    browser("document.querySelector('#here button').click()")
    until("return Train.state.told.here.at(-1).state === 'stopped'")
    state = RunFolder(folder / name).checkpoints.load().state["trainer"]["learner"]["network"]
    written = open_run(folder / "written").agent.state_dict()
    bias = "advantage.levels.0.consequent.bias"
    assert state[bias][3, 0] == 1.25
    assert (state[bias][3] == written[bias][3]).all()
    assert (state[bias] != written[bias]).any()
