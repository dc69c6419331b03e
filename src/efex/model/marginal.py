"""The marginal likelihood of a path: what decides between two explanations of the same experience."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import transitions as kernel
from efex.kernels.reckoning import total_agreement
from efex.model.cscg import Model
from efex.model.merging import room_for
from efex.model.transitions import PLACE, count_transitions, places_of
from efex.special import gammaln


def marginal_likelihood(
    path: NDArray[np.int64],
    experience: Experience,
    *,
    weight: float,
    place: float = PLACE,
    moves: NDArray[np.int64] | None = None,
) -> float:
    """Return the log-probability of a state path with every row's transitions integrated out, theory (10).

    The prior of a row counts as `weight` steps, and a place more is preferred by `place` nats. Needless states cost,
    and clones that nobody uses do not, so paths of any models can be compared. `moves` says by how much actions move,
    where that is known: then it counts whether edges agree on where places are, theory (10).
    """
    places = places_of(path, experience)
    transitions = count_transitions(places, experience, weight=weight, moves=moves)
    steps = kernel.log_evidence(transitions)
    if transitions.is_reckoned:
        steps += total_agreement(transitions, room_for(transitions))
    names = place * len(places.names) + gammaln(np.bincount(places.observation) + 1.0).sum()
    return float(steps + names)


def explanation(model: Model, experience: Experience, *, moves: NDArray[np.int64] | None = None) -> float:
    """Return how well a model explains: the marginal likelihood of its decoded path, in nats."""
    path, weight = model.decode(experience).path, model.pseudocount * model.layout.n_states
    return marginal_likelihood(path, experience, weight=weight, moves=moves)
