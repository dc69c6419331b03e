"""RandomAgent: uniformly random actions; the map is learned from them when asked."""

from __future__ import annotations

from efex.agents.base import Agent, Mask, Recovery
from efex.agents.closing import closed_pairs
from efex.checks import whole
from efex.model.allocation import ClonePolicy, allocation_for
from efex.model.fit import fit
from efex.model.methods import Method
from efex.model.pseudocount import ROW, Pseudocount


class Walker(Agent):
    """Walks without a map; `recover` fits the same model that the exploring agents use to the walk.

    >>> import efex
    >>> class InTurn(Walker):
    ...     def choose(self, mask):
    ...         return self.experience.n_steps % self.experience.n_actions
    >>> run = efex.explore(efex.make("grid2d", size=3), steps=5, agent=InTurn(clones=1), progress=False)
    >>> run.experience.actions.tolist()
    [0, 1, 2, 3, 0, -1]
    """

    def __init__(
        self,
        *,
        clones: ClonePolicy = "auto",
        pseudocount: Pseudocount = ROW,
        method: Method = "em+viterbi",
        restarts: int = 1,
        iterations: int = 100,
        patience: int = 5,
    ) -> None:
        self.clones = allocation_for(clones)
        self.pseudocount = pseudocount
        self.method: Method = method
        self.restarts = whole("restarts", restarts, at_least=1)
        self.iterations = whole("iterations", iterations, at_least=1)
        self.patience = whole("patience", patience, at_least=0)

    def recover(self) -> Recovery:
        """Return the map learned from the walk so far."""
        model = fit(
            self.experience,
            self.clones,
            method=self.method,
            pseudocount=self.pseudocount,
            restarts=self.restarts,
            iterations=self.iterations,
            patience=self.patience,
            # A generator of its own: asking for the map does not change where the walk goes.
            rng=self.rng.spawn(1)[0],
        )
        path = model.decode(self.experience).path
        return Recovery(model, path, closed=closed_pairs(path, model.layout, self.experience, self.masks))


class RandomAgent(Walker):
    """Walks at random; `recover` learns the map from the walk.

    >>> import efex
    >>> world = efex.make("chain", length=5)
    >>> run = efex.explore(world, steps=50, agent=RandomAgent(clones=1), progress=False)
    >>> efex.measures.weighted_coverage(run, world)
    0.9
    """

    def choose(self, mask: Mask | None) -> int:
        """Return a uniformly random action, one that the mask allows."""
        return self.random_action(mask)
