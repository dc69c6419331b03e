"""The marginal likelihood of a path: what decides between two explanations of the same experience."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import transitions as kernel
from efex.model.cscg import Model
from efex.model.transitions import PLACE, count_transitions, places_of
from efex.special import gammaln


def marginal_likelihood(
    path: NDArray[np.int64], experience: Experience, *, weight: float, place: float = PLACE
) -> float:
    """Return the log-probability of a state path with every row's transitions integrated out, theory (10).

    The prior of a row counts as `weight` steps, and a place more is preferred by `place` nats. Needless states cost,
    and clones that nobody uses do not, so paths of any models can be compared.
    """
    places = places_of(path, experience)
    steps = kernel.log_evidence(count_transitions(places, experience, weight=weight))
    names = place * len(places.names) + gammaln(np.bincount(places.observation) + 1.0).sum()
    return float(steps + names)


def explanation(model: Model, experience: Experience) -> float:
    """Return how well a model explains: the marginal likelihood of its decoded path, in nats."""
    path, weight = model.decode(experience).path, model.pseudocount * model.layout.n_states
    return marginal_likelihood(path, experience, weight=weight)
