"""Run: what an exploration leaves behind. The experience, the model, the map."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.agents.base import Recovery
from efex.agreement import agreement
from efex.checks import flag, whole
from efex.counting import counted
from efex.experience import Experience
from efex.graph import LatentGraph, inference
from efex.graph.first_order import first_order_graph
from efex.model.allocation import Growing
from efex.model.fit import fit
from efex.model.sufficiency import out_of_clones
from efex.randomness import stream
from efex.report import FEW, Report, seen_fewer_than
from efex.symbols import Symbol, to_symbol

UNASKED = "not asked; restarts=3 learns the map 3 more times and says how far they agree"
"""What a summary says of restarts where there were none."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A model learned from an experience, and the map it holds.

    >>> import efex
    >>> walk = Experience.from_episodes([("door wall wall".split() * 20, None)])
    >>> efex.learn(walk, clones=2)
    Fit(Experience(1 episodes, 59 steps, 2 symbols), LatentGraph(3 nodes, 2 observations, 1 action, 3 edges))
    """

    experience: Experience
    recovery: Recovery
    settings: dict[str, Any] = field(default_factory=dict)
    symbol: Callable[[Any], Symbol] = to_symbol
    """Turns a raw observation into the symbol that the learner was shown."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.experience!r}, {self.graph!r})"

    @cached_property
    def states(self) -> NDArray[np.int64]:
        """The states in use, in order: state `states[i]` is node i of the graph."""
        return np.unique(self.recovery.path)

    @cached_property
    def graph(self) -> LatentGraph:
        """The recovered map: every used state a node, edges counted along the decoded path and in what was known."""
        return self._graph_with(self.recovery.carried)

    @cached_property
    def expected(self) -> LatentGraph:
        """The map with what was never tried but is foreseen, every such edge as if walked once.

        Nodes that are foreseen, too, since another world had them, come after those of `graph`.
        """
        foreseen, carried = self.recovery.foreseen, self.recovery.carried
        if foreseen is None or not len(foreseen):
            return self.graph
        once = np.pad(foreseen, ((0, 0), (0, 1)), constant_values=1)
        return self._graph_with(once if carried is None else np.concatenate([carried, once]))

    def _graph_with(self, known: NDArray[np.int64] | None) -> LatentGraph:
        """Return the graph of the decoded path and of what is known besides: (state, action, state, times)."""
        t, path = np.flatnonzero(self.experience.actions >= 0), self.recovery.path
        layout, alphabet = self.recovery.model.layout, self.experience.alphabet
        utility, closed = self.recovery.utility, self.recovery.closed
        steps = np.stack([path[t], self.experience.actions[t], path[t + 1], np.ones(len(t), np.int64)], axis=1)
        states = self.states
        if known is not None:
            steps = np.concatenate([steps, known])
            # What was never seen here but is foreseen comes after what was seen.
            states = np.concatenate([states, np.setdiff1d(known[:, [0, 2]], states)])
        node = np.zeros(layout.n_states, np.int64)
        node[states] = np.arange(len(states))
        return LatentGraph.from_walks(
            [alphabet[code] for code in layout.observation[states].tolist()],
            self.experience.n_actions,
            np.stack([node[steps[:, 0]], steps[:, 1], node[steps[:, 2]]], axis=1),
            times=steps[:, 3],
            starts=node[path[self.experience.offsets[:-1]]].tolist(),
            utility=None if utility is None else utility[states],
            closed=None if closed is None else closed[states],
            action_names=self.settings.get("actions"),
        )

    @cached_property
    def nodes(self) -> NDArray[np.int64]:
        """The node of `graph` at every observation of the experience."""
        return np.searchsorted(self.states, self.recovery.path)

    @cached_property
    def first_order(self) -> LatentGraph:
        """The trivial graph of what was seen: every observation one node, however many places show it."""
        return first_order_graph(self.experience.symbols, self.experience.actions, n_actions=self.experience.n_actions)

    def decode(self, observations: Sequence[Any], actions: Sequence[int | str] | ArrayLike) -> NDArray[np.int64]:
        """Return the likeliest node of `graph` at every step of one walk; -1 where the symbol was never seen.

        Actions are numbers, or names where they have some. The start is uniform, the model's pseudocount makes every
        transition possible, and untried actions do what is `expected` of them.

        >>> import efex
        >>> walk = Experience.from_episodes([("door wall wall".split() * 20, None)])
        >>> near, far, door = efex.learn(walk, clones=2).decode(["wall", "wall", "door"], [0, 0]).tolist()
        >>> door, near != far
        (0, True)
        """
        walk = inference.one_walk(self.expected, map(self.symbol, observations), actions)
        return inference.decode(self.expected, walk, pseudocount=self._pseudocount)

    def log_likelihood(self, observations: Sequence[Any], actions: Sequence[int | str] | ArrayLike) -> float:
        """Return log P(observations | actions) of one walk in nats, from a uniform start.

        A symbol never seen costs log 1e-6 and the walk goes on from a uniform start behind it.

        >>> import efex
        >>> fit = efex.learn(Experience.from_episodes([("door wall wall".split() * 20, None)]), clones=2)
        >>> fit.log_likelihood(["wall", "wall", "door"], [0, 0]) > fit.log_likelihood(["wall", "wall", "wall"], [0, 0])
        True
        """
        walk = inference.one_walk(self.expected, map(self.symbol, observations), actions)
        return inference.log_likelihood(self.expected, walk, pseudocount=self._pseudocount)

    def decode_all(self, walks: Experience) -> NDArray[np.int64]:
        """Return the likeliest node of `graph` at every observation of many walks, as `decode` does for one.

        >>> import efex
        >>> run = efex.explore(efex.make("chain", length=5), steps=50, progress=False)
        >>> (run.decode_all(run.experience) == run.nodes).all().item()
        True
        """
        return inference.decode(self.expected, walks.renamed(self.symbol), pseudocount=self._pseudocount)

    def log_likelihood_all(self, walks: Experience) -> float:
        """Return the log-probability of many walks in nats, as `log_likelihood` does for one.

        >>> import efex
        >>> world = efex.make("chain", length=5)
        >>> run = efex.explore(world, steps=50, progress=False)
        >>> run.log_likelihood_all(run.experience) < world.truth.log_likelihood_all(run.experience)
        True
        """
        return inference.log_likelihood(self.expected, walks.renamed(self.symbol), pseudocount=self._pseudocount)

    @property
    def _pseudocount(self) -> float:
        return self.recovery.model.pseudocount

    def out_of_clones(self) -> list[Symbol]:
        """Return the observations that use all their clones and would need more for what follows to be predictable.

        >>> import efex
        >>> walk = Experience.from_episodes([("door wall wall".split() * 20, None)])
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     efex.learn(walk, clones=1).out_of_clones()
        ['wall']
        """
        codes = out_of_clones(self.recovery.model.layout, self.experience, self.recovery.path)
        return [self.experience.alphabet[code] for code in codes.tolist()]

    def warn_of_missing_clones(self) -> None:
        """Warn if some observations would need more clones.

        `learn` and `explore` do so themselves, where clones were given.

        >>> import efex
        >>> walk = Experience.from_episodes([("door wall wall".split() * 20, None)])
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     _ = efex.learn(walk, clones=1)
        >>> print(caught[0].message)  # doctest: +ELLIPSIS
        1 of 2 observations use all their clones ... give more clones=, or "auto"
        """
        if short := self.out_of_clones():
            warnings.warn(
                f"{len(short)} of {len(self.graph.symbols)} observations use all their clones and what follows them "
                f'still depends on history, {short[0]!r} for one: give more clones=, or "auto"',
                stacklevel=3,
            )

    @property
    def information_left(self) -> float | None:
        """What one more try of every (node, action) pair is expected to teach, in nats; None without a belief."""
        information = self.recovery.information
        return None if information is None else float(information[self.states].sum())

    def agreement(self, *, restarts: int = 3, seed: int = 0) -> float:
        """Return how far maps learned anew from the same experience agree with this one: 1 is the same map each time.

        The map is learned `restarts` times from random starts, and it is the mean share of positions that are decoded
        to the same place, under the best one-to-one match of places. It takes as long as learning so many times.

        >>> import efex
        >>> run = efex.explore(efex.make("grid2d", size=3, unique_fraction=0.5), steps=400, progress=False)
        >>> run.agreement(restarts=1)
        1.0
        """
        rng = stream(seed, "agreement")
        models = (fit(self.experience, Growing(), rng=rng) for _ in range(whole("restarts", restarts, at_least=1)))
        shares = [agreement(self.recovery.path, model.decode(self.experience).path) for model in models]
        return float(np.mean(shares))

    def summary(self, *, restarts: int = 0, few: int = FEW) -> dict[str, Any]:
        """Return the figures a reader asks for first, and what is unknown, such as nodes seen fewer than `few` times.

        Whether learning again finds the same map is known where `learn` was given restarts. With `restarts`, so many
        maps are learned anew to find out, see `agreement`; it is noted in `settings`, so once is enough.

        >>> import efex
        >>> summary = efex.explore(efex.make("chain", length=5), steps=50, progress=False).summary()
        >>> summary["nodes"], summary["edges"], summary["untried_pairs"]
        (5, 10, 0)
        """
        if whole("restarts", restarts, at_least=0) not in (0, self.settings.get("restarts")):
            self.settings.update(restarts=restarts, agreement=self.agreement(restarts=restarts))
        graph, experience = self.graph, self.experience
        return {
            **self.settings,
            "steps": experience.n_steps,
            "episodes": experience.n_episodes,
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "observations": len(graph.symbols),
            "untried_pairs": int(graph.untried.sum()),
            f"nodes_seen_fewer_than_{few}_times": seen_fewer_than(whole("few", few, at_least=1), self.nodes),
            "information_left_in_nats": self.information_left,
            "pairs_with_several_outcomes": int((graph.outcomes > 1).sum()),
            "observations_out_of_clones": len(self.out_of_clones()),
            "log_likelihood_per_step": self.recovery.model.log_likelihood(experience) / max(experience.n_steps, 1),
            "restarts": self.settings.get("restarts", UNASKED),
        }

    @cached_property
    def report(self) -> Report:
        """What to know about the map before trusting it, as a small table to print."""
        return Report.of(self)

    def save(self, folder: str | Path) -> Path:
        """Write experience, model, graph, summary and map.png to `folder`, from which `efex.load` reads them.

        >>> import efex
        >>> from tempfile import TemporaryDirectory
        >>> fit = efex.learn(Experience.from_episodes([("door wall wall".split() * 20, None)]), clones=2)
        >>> with TemporaryDirectory() as folder:
        ...     efex.load(fit.save(folder)).graph.equivalent_to(fit.graph)
        True
        """
        return Run(self.experience, self.recovery, self.settings, self.symbol).save(folder)


@dataclass(frozen=True, eq=False, repr=False)
class Run(Fit):
    """A Fit that an agent made by exploring, with the true nodes where the environment tells them.

    >>> import efex
    >>> run = efex.explore(efex.make("chain", length=5), steps=50, progress=False)
    >>> run.graph.equivalent_to(run.truth)
    True
    """

    true_nodes: NDArray[np.int64] | None = None
    """The true node at every observation; the agent never sees it."""
    truth: LatentGraph | None = None
    """The true graph, where the environment is a world; the agent never sees it."""

    def true_positions(self) -> NDArray[np.float64] | None:
        """Return where every node of `graph` lies in the world: at the true node it mostly stands for.

        >>> import efex
        >>> run = efex.explore(efex.make("chain", length=5), steps=50, progress=False)
        >>> run.true_positions()[:, 0].tolist()
        [0.0, 1.0, 2.0, 3.0, 4.0]
        """
        if self.truth is None or self.truth.coordinates is None or self.true_nodes is None:
            return None
        together = np.zeros((self.graph.n_nodes, self.truth.n_nodes), np.int64)
        np.add.at(together, (self.nodes, self.true_nodes), 1)
        return np.asarray(self.truth.coordinates[together.argmax(axis=1)])

    def plot(self, path: str | Path, *, numbers: bool = False) -> Path:
        """Draw the map; where the truth is known, beside it, on its coordinates and turned like it.

        With `numbers`, the nodes of the map carry the numbers that `plan`, `block` and `tag` take.

        >>> import efex
        >>> from tempfile import TemporaryDirectory
        >>> run = efex.explore(efex.make("chain", length=5), steps=50, progress=False)
        >>> with TemporaryDirectory() as folder:
        ...     run.plot(f"{folder}/map.png", numbers=True).name
        'map.png'
        """
        from efex.graph.drawing import plot_comparison
        from efex.graph.layout import laid_out_like

        nodes, steps = counted(self.graph.n_nodes, "node"), counted(self.experience.n_steps, "step")
        panels: list[tuple[str, LatentGraph, NDArray[np.float64] | None]] = []
        positions = self.true_positions()
        if self.truth is not None:
            panels.append((f"the truth: {counted(self.truth.n_nodes, 'node')}", self.truth, self.truth.coordinates))
        laid_out = f"recovered: {nodes}, laid out by the map itself"
        if positions is None:
            panels.append((laid_out, self.graph, None))
        else:
            panels.append((f"recovered in {steps}: {nodes}, where they truly are", self.graph, positions))
            panels.append((f"{laid_out}, turned like the truth", self.graph, laid_out_like(self.graph, positions)))
        return plot_comparison(path, panels, numbered=self.graph if flag("numbers", numbers) else None)

    def save(self, folder: str | Path) -> Path:
        """Write experience, model, graph and summary to `folder`."""
        from efex.storage import save

        return save(self, folder)
