"""BootstrappedDqn: several deep Q networks that disagree about what was not tried; one is followed per episode."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from efex.agents.deep.dqn import Dqn
from efex.agents.deep.qlearner import Settings
from efex.checks import fraction, whole
from efex.errors import InvalidArgumentError

LONGEST_FOLLOWED = 100
"""In an episode longer than this, another head is drawn every so many steps: one alone may see no reason to move on."""


class BootstrappedDqn(Dqn):
    """Bootstrapped DQN (Osband et al. 2016) with randomised prior functions (Osband et al. 2018), and no reward at all.

    Each of the `heads` is a network plus a fixed random one, scaled by `prior`, and learns from a random `share` of the
    steps. Every episode follows one head. That nothing is ever rewarded is learned only of what was done; of anything
    else a head still believes what its prior happens to say, and where that is good it goes, however far it is.
    """

    def __init__(
        self,
        *,
        heads: int = 10,
        prior: float = 3.0,
        share: float = 0.5,
        epsilon: float = 0.0,
        settings: Settings | None = None,
        **recovery: Any,
    ) -> None:
        super().__init__(epsilon=epsilon, settings=settings, **recovery)
        if not 0 <= prior < math.inf:
            raise InvalidArgumentError(f"prior must be a number of at least 0, not {prior!r}")
        self.heads = whole("heads", heads, at_least=1)
        self.prior = float(prior)
        self.share = fraction("share", share)

    def started(self) -> None:
        """Draw the head that this episode follows."""
        self.head = int(self.rng.integers(self.heads))
        self._followed = 0

    def moved(self) -> None:
        """Draw another head in an episode that goes on for long."""
        self._followed += 1
        if self._followed == LONGEST_FOLLOWED:
            self.started()

    def learners(self) -> NDArray[np.bool_]:
        """Return a random share of the heads."""
        return self.rng.random(self.heads) < self.share

    def rewards(self, states: NDArray[np.int32], actions: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return zeros."""
        return np.zeros(states.shape)
