"""Training over the clones that matter: what is left out is chosen by its posterior, and its cost is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.kernels import cpu, pruned
from efex.model.cscg import Model
from efex.model.expectation import Counts, Messages, Steps

FEW, WORTH = 4, 20
"""A pass over pairs of clones takes half the time of a full one at FEW pairs a step plus one WORTH-th of all pairs."""


class Few(NamedTuple):
    """What the transitions of a trellis and all starts weigh, and what such weights cost the objective."""

    transitions: NDArray[np.floating]
    starts: NDArray[np.float64]
    cost: float


WeighFew = Callable[[Model, pruned.Trellis, NDArray[np.float64], NDArray[np.float64]], Few]
"""How expected counts, of a trellis' transitions and of starts, become weights."""


def restricted_training(
    model: Model,
    steps: Steps,
    *,
    weights: cpu.Weights,
    cost: float,
    messages: Messages,
    weigh: WeighFew,
    share: float,
    iterations: int,
    settled: Callable[[list[float]], bool],
) -> tuple[Counts, list[float]] | None:
    """Return the counts after training on paths of likely clones, and what those paths scored before every iteration.

    Left out are clones that hold at most `share` of a position's posterior. The likelihood of the paths that remain is
    a lower bound of the full one, and EM raises it: so the full one never falls by more than leaving the rest out
    costs at first. None is returned where that is more than `share` nats per step, or where too many remain. The first
    `weights` are given, and what they `cost`; then `weigh` makes them of counts.
    """
    trellis = _trellis(model, steps, weights, messages, share)
    if trellis is None:
        return None
    least = messages.log_likelihood - share * np.count_nonzero(steps.walks.actions >= 0)
    few = Few(weights.values[trellis.entry].astype(np.float64), weights.initial, cost)
    objective: list[float] = []
    while len(objective) < iterations and not settled(objective):
        counts, starts, log_likelihood = pruned.expect(trellis, few.transitions, few.starts)
        if not objective and not log_likelihood >= least:
            return None
        objective.append(log_likelihood - few.cost)
        few = weigh(model, trellis, counts, starts)
    transitions = np.zeros_like(model.counts)
    transitions[trellis.entry] = counts
    return Counts(transitions, starts), objective


def _trellis(
    model: Model, steps: Steps, weights: cpu.Weights, messages: Messages, share: float
) -> pruned.Trellis | None:
    """Return the clones that hold all but `share` of every position's posterior, None where they are too many."""
    walks, at = steps.walks, steps.at
    if (walks.block[walks.actions >= 0] < 0).any():
        return None  # a step that the model has no block for leads anywhere
    live, state = pruned.choose(walks, weights.first, at, messages.forward, messages.backward, share)
    inner = walks.actions[:-1] >= 0
    pairs, all_pairs = (int((width[:-1] * width[1:])[inner].sum()) for width in (np.diff(live), np.diff(at)))
    if pairs > FEW * np.count_nonzero(inner) + all_pairs / WORTH:
        return None
    trellis: pruned.Trellis = pruned.connect(walks, weights, model.layout.n_states, live, state)
    return trellis
