"""The marginal likelihood of a path: what decides between two explanations of the same experience."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import transitions as kernel
from efex.kernels.reckoning import total_agreement
from efex.model.cscg import Model
from efex.model.moves import Moves
from efex.model.transitions import count_transitions, places_of
from efex.special import gammaln

WEIGHTS = (1.0, 3.0, 10.0, 30.0)
"""How many times as much as at least a row's prior may weigh: little where outcomes are certain, much where not."""


def marginal_likelihood(
    path: NDArray[np.int64],
    experience: Experience,
    *,
    weight: float,
    place: float = 0.0,
    moves: Moves | None = None,
) -> float:
    """Return the log-probability of a state path with every row's transitions integrated out, theory (10).

    The prior of a row counts as `weight` steps, and a place more is preferred by `place` nats. Needless states cost,
    and clones that nobody uses do not, so paths of any models can be compared. `moves` says by how much actions move,
    where that is known: then it counts whether edges agree on where places are, theory (10).
    """
    return weighed(path, experience, least=weight, times=(1.0,), place=place, moves=moves).score


class Weighed(NamedTuple):
    """What a row's prior weighs, and the marginal likelihood of a path where it does."""

    weight: float
    score: float


def weighed(
    path: NDArray[np.int64],
    experience: Experience,
    *,
    least: float,
    times: Sequence[float] = WEIGHTS,
    place: float = 0.0,
    moves: Moves | None = None,
) -> Weighed:
    """Return the weight of a row's prior that makes a path likeliest, `least` or some `times` as much.

    The less it weighs, the surer a row's first outcome is to be its only one; the more, the more is left to chance.
    """
    places = places_of(path, experience)
    transitions = count_transitions(places, experience, weight=least, moves=moves)
    steps = [kernel.log_evidence(transitions, each) for each in times]
    where = total_agreement(transitions) if transitions.is_reckoned else 0.0
    names = place * len(places.names) + gammaln(np.bincount(places.observation) + 1.0).sum()
    best = int(np.argmax(steps))
    return Weighed(times[best] * least, float(steps[best] + where + names))


def explanation(model: Model, experience: Experience, *, moves: Moves | None = None) -> float:
    """Return how well a model explains: the marginal likelihood of its decoded path, in nats."""
    path, weight = model.decode(experience).path, model.pseudocount * model.layout.n_states
    return marginal_likelihood(path, experience, weight=weight, moves=moves)
