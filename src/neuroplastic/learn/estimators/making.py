"""The network that a fit starts from: sets at quantiles, rules at clusters, one linear solution in all rules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from ...fuzzy.firing import Firing
from ...fuzzy.selection import Selection
from ...memory import need_memory
from ...network.consequents import Affine
from ...network.neurogenesis import Neurogenesis
from ...network.nfn import NeuroFuzzyNetwork
from ...network.size import parameters_of
from .encoding import Encoder
from .rows import Rows
from .start import crisp_sets, first_terms, place_first_rules, place_first_sets, sharpen, start_linear

if TYPE_CHECKING:
    from .base import NeuroFuzzyEstimator

# Rules where nobody asks for a number of them; of more rows than so many, more in proportion, up to the most.
RULES, ROWS_OF_RULES, MOST_RULES = 30, 20_000, 200
# Room per column for sets to be born.
SPARE_TERMS = 3
# A set is born for so many uncovered values (as a share of a batch, counted over batches), and so wide at least.
ASKING, LEAST_BORN_WIDTH = 0.5, 0.5
# What a fit takes at most, measured: of a number that is learned, gradient, moments, averages and copies in double
# precision; of the firing of a rule in a row of a batch, the steps that make and differentiate it.
BYTES_OF_NUMBER, BYTES_OF_LEVEL = 40, 64
# More rules than this are told apart by as many sets as there are.
MANY_RULES = 2**62


def first_network(
    estimator: NeuroFuzzyEstimator, seen: Rows, encoder: Encoder, seed: int
) -> NeuroFuzzyNetwork:
    """The network before training, of rows as it sees them.

    One-hot columns get the set "any" alone: rules do not ask for them, so that no two premises can contradict each
    other, and a category acts through the THEN parts. Columns of codes get one crisp set per category, frozen; beside
    one-hot columns, THEN parts know nothing of them.
    """
    rules, outputs = rules_of(estimator, len(seen)), estimator._outputs()
    unasked = encoder.are("hot")
    asked = int((~unasked).sum())
    terms = (
        int(estimator.terms)
        if estimator.terms != "auto"
        else first_terms(min(rules, MANY_RULES), max(asked, 1))
    )
    room = int(estimator.max_terms) if estimator.max_terms is not None else terms + SPARE_TERMS
    crisp = crisp_sets(encoder.crisp, estimator.offset_, estimator.scale_)
    room = max(room, *(len(centers) + 1 for centers, _ in crisp.values())) if crisp else room
    check_memory(estimator, encoder.width, room, len(seen))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = NeuroFuzzyNetwork(
            encoder.width,
            outputs,
            rules,
            terms=1,
            max_terms=room,
            selection=Selection(estimator="ste"),
            firing=Firing(alpha=estimator.entmax_alpha, layer_norm=bool(estimator.layer_norm)),
            consequent=Affine(init="zeros"),
            neurogenesis=births(estimator, len(seen)),
        )
        place_first_sets(net, seen, min(terms, room), unasked, crisp)
        place_first_rules(net, seen, seed, unasked, crisp)
        if crisp:
            net.freeze(
                sets=[(column, term) for column, sets in crisp.items() for term in range(len(sets[0]))]
            )
        sharpen(net.eval(), seen, asked)
    start_linear(net, *estimator._linear_solution(seen))
    return net


def rules_of(estimator: NeuroFuzzyEstimator, rows: int) -> int:
    """How many rules a fit of so many rows starts with."""
    if estimator.rules != "auto":
        return int(estimator.rules)
    return min(max(RULES, RULES * rows // ROWS_OF_RULES), MOST_RULES)


def births(estimator: NeuroFuzzyEstimator, rows: int) -> Neurogenesis | None:
    """Births of wide sets, for many rows: a narrow one at a few outliers silences its rules everywhere else."""
    if not estimator.growth:
        return None
    enough = max(2, math.ceil(ASKING * min(int(estimator.batch_size), rows)))
    return Neurogenesis(epsilon=estimator.growth, min_count=enough, min_width=LEAST_BORN_WIDTH)


def check_memory(estimator: NeuroFuzzyEstimator, columns: int, max_terms: int, rows: int) -> None:
    """Raise a ConfigError where a fit would take more memory than there is."""
    rules, outputs = rules_of(estimator, rows), estimator._outputs()
    learned = BYTES_OF_NUMBER * parameters_of(columns, outputs, rules, max_terms, Affine())
    fired = BYTES_OF_LEVEL * rules * min(int(estimator.batch_size), rows)
    need_memory(
        f"rules={rules} of {columns} columns with {outputs} outputs and max_terms={max_terms}",
        learned + fired,
        torch.device("cpu"),
        "use fewer rules, a smaller max_terms or fewer columns",
    )
