"""Max: model-based active exploration (Shyam et al. 2019), tabular. Go where an ensemble of models disagrees."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from efex.agents.base import Mask
from efex.agents.ensemble import Ensemble
from efex.agents.random import Walker
from efex.checks import fraction, whole
from efex.kernels.tree_search import tree_search
from efex.model.allocation import ClonePolicy
from efex.symbols import Symbol


class Max(Walker):
    """Explores by how much an ensemble of models disagrees about what actions lead to, found by tree search.

    Every observation is taken for a state, so it suits environments without aliasing. Where the original has nets,
    this one has tables, `ensemble` of them, whose initial guesses weigh `prior` of a step; they learn after every step.
    After `warm_up` random episodes an action is chosen by `simulations` walks of `horizon` steps through the mean of
    what the tables predict, which earn the disagreement they pass. `clones` are for the map learned at the end.

    The defaults were set so that a chain of 50 takes about the 18 episodes published for MAX. They are not the fastest:
    with a smaller `prior` or more `simulations` it takes fewer.

    >>> import efex
    >>> world = efex.make("chain", length=5)
    >>> run = efex.explore(world, steps=50, agent=Max(clones=1, warm_up=1), progress=False)
    >>> efex.measures.weighted_coverage(run, world)
    1.0
    """

    def __init__(
        self,
        *,
        clones: ClonePolicy = "auto",
        ensemble: int = 8,
        prior: float = 0.1,
        warm_up: int = 3,
        horizon: int = 50,
        simulations: int = 200,
    ) -> None:
        super().__init__(clones=clones)
        self.members = whole("ensemble", ensemble, at_least=2)
        self.prior = fraction("prior", prior)
        self.warm_up = whole("warm_up", warm_up, at_least=0)
        self.horizon = whole("horizon", horizon, at_least=1)
        self.simulations = whole("simulations", simulations, at_least=1)

    def prepare(self, n_actions: int, *, rng: np.random.Generator, symbols: Iterable[Symbol] = ()) -> None:
        """Get ready for an environment: forget everything about any other."""
        super().prepare(n_actions, rng=rng, symbols=symbols)
        self.ensemble = Ensemble(self.members, self._n_states, n_actions, prior=self.prior, rng=rng)
        self._last_masks: dict[int, Mask] = {}

    def started(self) -> None:
        """Have room for the first observation."""
        self.ensemble.make_room(self._n_states)

    def moved(self) -> None:
        """Let every table learn the step."""
        self.ensemble.make_room(self._n_states)
        state, target = self.experience.observations[-2:].tolist()
        self.ensemble.add(state, int(self.experience.actions[-2]), target)

    def finished(self) -> None:
        """Remember that nothing can be done where the environment ended for good."""
        if len(self.experience) - 1 in self.experience.terminated:
            self._last_masks[self._state] = np.zeros(self.experience.n_actions, np.bool_)

    def choose(self, mask: Mask | None) -> int:
        """Return the action with the highest mean return in the search, ties broken at random."""
        self._last_masks.pop(self._state, None)
        if mask is not None:
            self._last_masks[self._state] = mask
        if self.experience.n_episodes <= self.warm_up:
            return self.random_action(mask)
        draws = self.rng.random((self.simulations, self.horizon, 2))
        returns = tree_search(self._state, self.ensemble.cumulative, self.ensemble.utility, self._allowed(), draws)
        return int(self.rng.choice(np.flatnonzero(returns == returns.max())))

    def _allowed(self) -> Mask:
        """Return what may be done in imagination: at a state never seen nothing, elsewhere what its last mask says."""
        allowed = np.zeros(self.ensemble.utility.shape, np.bool_)
        allowed[: self._n_states] = True
        for state, mask in self._last_masks.items():
            allowed[state] = mask
        return allowed

    @property
    def _n_states(self) -> int:
        return len(self.experience.alphabet)

    @property
    def _state(self) -> int:
        return int(self.experience.observations[-1])

    @property
    def status(self) -> dict[str, float]:
        """States known, and the mean disagreement about their actions, in nats."""
        return {"states": self._n_states, "disagreement": float(self.ensemble.utility[: self._n_states].mean())}
