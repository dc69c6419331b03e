"""Merging needless copies, against scoring every path that has one of them less."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from efex.bench.measuring import Line, best_time
from efex.bench.workloads import walked
from efex.model.marginal import marginal_likelihood
from efex.model.merging import merge, same_looks
from efex.model.moves import displacements
from efex.model.transitions import places_of

WEIGHT = 0.1


def lines() -> Iterator[Line]:
    """Yield what it takes to merge two copies of every place, each pair of which might be one."""
    experience, nodes = walked(11, episodes=50)
    moves = displacements(experience)
    copies = 2 * nodes + np.random.default_rng(0).integers(0, 2, len(nodes))
    pairs = len(same_looks(places_of(copies, experience).observation))
    seconds = best_time(lambda: merge(copies, experience, weight=WEIGHT, moves=moves), repeats=3)
    once = best_time(lambda: marginal_likelihood(copies, experience, weight=WEIGHT, moves=moves))
    merged = merge(copies, experience, weight=WEIGHT, moves=moves)
    found, true, both = (len(np.unique(each)) for each in (merged, nodes, merged * (nodes.max() + 1) + nodes))
    what = f"merging copies, {pairs:,} pairs, against scoring as many paths"
    check = f"{found} places for {true}, none of them two"
    yield Line(what, seconds / (pairs * once), "of the time", 0.1, check, found == both)
