"""A rule base as JSON and back, every number exact."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np

from .. import safe_json
from ..errors import NeuroplasticError, in_short
from ..fuzzy.firing import Firing
from .evidence import Evidence
from .rule_base import Conclusions, Indices, Linear, Numbers, RuleBase, Term, Variable

KIND = "neuroplastic rule base"
VERSION = 1

# Fields of firing that every file has, and those that came later.
_FIRING = ("reduce", "alpha", "layer_norm", "certainty")
_FURTHER = ("gain", "power", "balance", "fitting")


class RuleJSONError(NeuroplasticError, ValueError):
    """A text is not a rule base in JSON: not JSON at all, or a part is missing or of the wrong form."""


def json_of(rules: RuleBase) -> str:
    """The rule base as one JSON object; floats in their shortest exact form."""
    part = rules.consequents
    if isinstance(part, Linear):
        consequents: dict[str, Any] = {
            "form": "linear",
            "weight": None if part.is_constant else part.weight.tolist(),
            "bias": part.bias.tolist(),
        }
    else:
        consequents = {"form": "terms", "terms": part.terms.tolist(), "defuzzifier": part.defuzzifier}
    content = {
        "kind": KIND,
        "version": VERSION,
        "inputs": [asdict(variable) for variable in rules.inputs],
        "outputs": [asdict(variable) for variable in rules.outputs],
        "firing": _firing(rules.firing),
        "premises": rules.premises.tolist(),
        "consequents": consequents,
        **{name: _listed(getattr(rules, name)) for name in ("certainty", "gain", "shift")},
        **_further(rules),
    }
    return json.dumps(content, ensure_ascii=False, default=float)


def _further(rules: RuleBase) -> dict[str, Any]:
    """What came later, where it says something."""
    found: dict[str, Any] = {"classes": True} if rules.classes else {}
    evidence = rules.evidence
    if evidence is not None:
        found["evidence"] = {
            "cases": evidence.cases.tolist(),
            "shares": evidence.shares.tolist(),
            "rows": float(evidence.rows),
        }
    return found


def _firing(firing: Firing) -> dict[str, Any]:
    """The fields that every rule base has, and the others where they say something."""
    usual = asdict(Firing())
    return {name: value for name, value in asdict(firing).items() if name in _FIRING or value != usual[name]}


def _firing_of(found: dict[str, Any]) -> Firing:
    _only({name: value for name, value in found.items() if name not in _FURTHER}, _FIRING, "firing")
    if not isinstance(found["alpha"], (int, float)) or not isinstance(found["layer_norm"], bool):
        raise RuleJSONError(
            f"firing must have a number alpha and a true or false layer_norm, got {in_short(repr(found), 80)}"
        )
    return Firing(**found)


def _listed(values: Numbers | None) -> list[float] | None:
    listed: list[float] | None = None if values is None else values.tolist()
    return listed


def rule_base_of(text: str) -> RuleBase:
    """The rule base that `json_of` wrote. Anything else raises a RuleJSONError or a ConfigError."""
    if not isinstance(text, str):
        raise RuleJSONError(f"a rule base in JSON must be a str, got {type(text).__name__}")
    try:
        content = safe_json.parse(text, most_digits=1000)
    except safe_json.JsonError as error:
        raise RuleJSONError(f"this is not JSON of a rule base: {error}") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise RuleJSONError(f"a rule base in JSON is an object with 'kind': {KIND!r}")
    if content.get("version") != VERSION:
        raise RuleJSONError(
            f"version must be {VERSION}, got {in_short(repr(content.get('version')), 80)}; upgrade neuroplastic for "
            "newer ones"
        )
    firing = _firing_of(_part(content, "firing", dict))
    return RuleBase(
        _variables(content, "inputs"),
        _variables(content, "outputs"),
        _array(_part(content, "premises", list), "premises", np.int64),
        _consequents(_part(content, "consequents", dict)),
        firing,
        **{name: _optional(content, name) for name in ("certainty", "gain", "shift")},
        classes="classes" in content and bool(_part(content, "classes", bool)),
        evidence=_evidence(content),
    )


def _part(content: dict[str, Any], name: str, kind: type) -> Any:
    value = content.get(name)
    if not isinstance(value, kind):
        raise RuleJSONError(f"{name!r} must be a {kind.__name__}, got {type(value).__name__}")
    return value


def _only(content: Any, names: tuple[str, ...], where: str) -> None:
    if not isinstance(content, dict) or set(content) != set(names):
        raise RuleJSONError(f"{where} must be an object with {', '.join(map(repr, names))}")


def _variables(content: dict[str, Any], name: str) -> tuple[Variable, ...]:
    found = []
    for variable in _part(content, name, list):
        _only(variable, ("name", "terms"), f"each of {name!r}")
        terms = []
        for term in _part(variable, "terms", list):
            _only(term, ("name", "center", "width"), f"each term of {name!r}")
            sizes = [_number(term[key], key) for key in ("center", "width")]
            terms.append(Term(_part(term, "name", str), *sizes))
        found.append(Variable(_part(variable, "name", str), tuple(terms)))
    return tuple(found)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RuleJSONError(f"{name} must be a number, got {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        return math.inf  # which the rule base refuses by name


def _consequents(content: dict[str, Any]) -> Linear | Conclusions:
    if content.get("form") == "linear":
        _only(content, ("form", "weight", "bias"), "linear consequents")
        bias = _array(_part(content, "bias", list), "bias", np.float64)
        if content["weight"] is None:
            return Linear(np.zeros((*bias.shape, 0)), bias)
        weight = _array(_part(content, "weight", list), "weight", np.float64)
        if weight.ndim != 3:
            raise RuleJSONError(f"weight must be nested 3 deep (rules, outputs, inputs), got {weight.ndim}")
        return Linear(weight, bias)
    _only(content, ("form", "terms", "defuzzifier"), "consequents of form 'linear' or 'terms'")
    if content["form"] != "terms" or content["defuzzifier"] not in ("height", "area"):
        raise RuleJSONError("consequents must be of form 'linear', or 'terms' by 'height' or 'area'")
    terms: Indices = _array(_part(content, "terms", list), "conclusions", np.int64)
    return Conclusions(terms, content["defuzzifier"])


def _evidence(content: dict[str, Any]) -> Evidence | None:
    if content.get("evidence") is None:
        return None
    found = _part(content, "evidence", dict)
    _only(found, ("cases", "shares", "rows"), "evidence")
    cases, shares = (_array(_part(found, name, list), name, np.float64) for name in ("cases", "shares"))
    return Evidence(cases, shares, _number(found["rows"], "rows"))


def _optional(content: dict[str, Any], name: str) -> Numbers | None:
    if content.get(name) is None:
        return None
    values: Numbers = _array(_part(content, name, list), name, np.float64)
    return values


def _array(values: list[Any], name: str, dtype: type) -> Any:
    """A nested list as an array; whole numbers must be whole, and nothing is turned from text or true/false."""
    try:
        found = np.array(values)
        kinds = "iu" if dtype is np.int64 else "iuf"
        if found.dtype.kind not in kinds and found.size:
            raise ValueError(f"its entries are of type {found.dtype}")
        return found.astype(dtype)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise RuleJSONError(
            f"{name} must be nested lists of {'whole ' if dtype is np.int64 else ''}numbers, of equal length: {error}"
        ) from error
