"""Exported files put before engines written by others.

pyfuzzylite computes but reads none of the formats, so each has a short reader here, written from the formats'
descriptions and sharing nothing with the package. fuzzylab reads `.fis` files, but with NumPy 2 computes no more:
what it read is computed by pyfuzzylite.
"""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

SPACE = "{http://www.ieee1855.org}"


def fuzzylite():
    """The engine pyfuzzylite, or a skip."""
    return pytest.importorskip(
        "fuzzylite", reason="pyfuzzylite is not installed (pip install --no-deps pyfuzzylite)"
    )


def fuzzylab():
    """The engine fuzzylab, or a skip."""
    return pytest.importorskip(
        "fuzzylab", reason="fuzzylab is not installed (pip install --no-deps fuzzylab)"
    )


class Reading:
    """What a file says: sets (centre, width) and decisions (coefficients, constant last) by name, rules."""

    def __init__(self):
        self.inputs, self.outputs, self.rules = {}, {}, []
        self.joined = "prod"

    def evaluated(self, x):
        """What pyfuzzylite makes of it, (B, O)."""
        fl = fuzzylite()
        engine = fl.Engine(name="rules")
        for name, terms in self.inputs.items():
            sets = [fl.Gaussian(term, center, width) for term, (center, width) in terms.items()]
            engine.input_variables.append(fl.InputVariable(name, terms=sets))
        for name, terms in self.outputs.items():
            decisions = [
                fl.Constant(term, values[0]) if len(values) == 1 else fl.Linear(term, values, engine)
                for term, values in terms.items()
            ]
            average = fl.WeightedAverage("TakagiSugeno")
            engine.output_variables.append(fl.OutputVariable(name, terms=decisions, defuzzifier=average))
        joined = {"prod": fl.AlgebraicProduct, "min": fl.Minimum}[self.joined]()
        block = fl.RuleBlock("all", conjunction=joined, implication=fl.AlgebraicProduct())
        block.activation = fl.General()
        engine.rule_blocks.append(block)
        for premises, conclusions, weight in self.rules:
            conditions = " and ".join(f"{variable} is {term}" for variable, term in premises)
            decisions = " and ".join(f"{variable} is {term}" for variable, term in conclusions)
            rule = fl.Rule.create(f"if {conditions} then {decisions}", engine)
            rule.weight = weight
            block.rules.append(rule)
        for variable, column in zip(engine.input_variables, x.T, strict=True):
            variable.value = column
        engine.process()
        return np.stack([np.broadcast_to(v.value, len(x)) for v in engine.output_variables], axis=1)


def read_fml(text):
    """IEEE 1855: coefficients start with the constant."""
    root, found = ElementTree.fromstring(text), Reading()
    for variable in root.iter(f"{SPACE}fuzzyVariable"):
        found.inputs[variable.get("name")] = {
            term.get("name"): (float(term[0].get("param1")), float(term[0].get("param2")))
            for term in variable
        }
    for variable in root.iter(f"{SPACE}tskVariable"):
        terms = {term.get("name"): [float(value.text) for value in term] for term in variable}
        found.outputs[variable.get("name")] = {name: [*v[1:], v[0]] for name, v in terms.items()}
    found.joined = root.find(f"{SPACE}tskRuleBase").get("andMethod").lower()
    for rule in root.iter(f"{SPACE}tskRule"):
        assert rule.get("andMethod").lower() == found.joined
        premises = [(clause[0].text, clause[1].text) for clause in rule.iter(f"{SPACE}clause")]
        conclusions = [(clause[0].text, clause[1].text) for clause in rule.iter(f"{SPACE}tskClause")]
        found.rules.append((premises, conclusions, float(rule.get("weight"))))
    return found


def read_fcl(text):
    """IEC 61131-7 with the Gaussian and Linear of fuzzylite or the GAUSS of jFuzzyLogic."""
    found = Reading()
    found.joined = re.search(r"^  AND : (\w+);$", text, re.M)[1].lower()
    for kind, name, body in re.findall(r"^(FUZZIFY|DEFUZZIFY) (\w+)$(.*?)^END_", text, re.M | re.S):
        terms = {
            term: [float(word) for word in words.split() if word[0] in "-.0123456789"]
            for term, words in re.findall(r"TERM (\w+) := (.*);", body)
        }
        (found.inputs if kind == "FUZZIFY" else found.outputs)[name] = terms
    for before, after, weight in re.findall(r"RULE \d+ : if (.*) then (.*?)(?: with (.*))?;", text):
        clause = re.compile(r"(\w+) is (\w+)")
        found.rules.append((clause.findall(before), clause.findall(after), float(weight or 1)))
    return found


def read_fis(text):
    """MATLAB: gaussmf is [width centre], linear ends with the constant, rules name sets by number from 1."""
    found = Reading()
    found.joined = re.search(r"^AndMethod='(\w+)'$", text, re.M)[1]
    for kind, body in re.findall(r"^\[(Input|Output)\d+\]$(.*?)(?=^\[)", text, re.M | re.S):
        name = re.search("Name='(.*)'", body)[1]
        terms = {
            term: [float(word) for word in values.split()]
            for term, values in re.findall(r"MF\d+='(\w+)':'\w+',\[(.*)\]", body)
        }
        if kind == "Input":
            found.inputs[name] = {term: (center, width) for term, (width, center) in terms.items()}
        else:
            found.outputs[name] = terms
    for before, after, weight in re.findall(r"^([\d ]+), ([\d ]+) \((.*)\) : 1$", text, re.M):
        found.rules.append((_named(before, found.inputs), _named(after, found.outputs), float(weight)))
    return found


def _named(numbers, variables):
    places = zip(variables.items(), map(int, numbers.split()), strict=True)
    return [(name, list(terms)[place - 1]) for (name, terms), place in places if place]


def read_fis_by_fuzzylab(path):
    """A `.fis` file as fuzzylab reads it."""
    system, found = fuzzylab().readfis(str(path)), Reading()
    found.joined = system.AndMethod
    assert system.DefuzzificationMethod == "wtaver"
    for variable in system.Inputs:
        assert {function.Type for function in variable.MembershipFunctions} == {"gaussmf"}
        found.inputs[variable.Name] = {
            f.Name: tuple(f.Parameters[::-1]) for f in variable.MembershipFunctions
        }
    for variable in system.Outputs:
        found.outputs[variable.Name] = {f.Name: list(f.Parameters) for f in variable.MembershipFunctions}
    for rule in system.Rules:
        assert rule.Connection == 1
        before, after = (" ".join(map(str, part)) for part in (rule.Antecedent, rule.Consequent))
        found.rules.append((_named(before, found.inputs), _named(after, found.outputs), float(rule.Weight)))
    return found
