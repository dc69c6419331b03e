"""Efex: Algorithm 1 of the paper. Learn a model, decode, count, value information, plan, act."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from efex.agents.base import Agent, Mask, Recovery
from efex.agents.tracker import Tracker
from efex.belief import Belief
from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.model.allocation import ClonePolicy, allocation_for
from efex.model.cscg import Model
from efex.model.fit import Method, check_method
from efex.model.layout import CloneLayout
from efex.model.marginal import marginal_likelihood
from efex.model.pseudocount import PerRow, Pseudocount, per_target, positive
from efex.model.restarts import Fresh, Refit, Restart, Rivals, Warm
from efex.planning import check_discount, policy_iteration
from efex.symbols import Symbol

LONGEST_WAIT = 100
"""In an episode longer than this, `refit="episode"` refits every so many steps instead of waiting for its end."""

ROW = PerRow(0.1)
"""What a row is believed in before it was walked: a tenth of one walk, however many states there are."""

GROWTH_PATIENCE = 1.25
"""When more clones did not pay, they are tried again after this many times the experience."""

RESTARTS: dict[str, Callable[[], Restart]] = {"warm": Warm, "fresh": Fresh, "rivals": Rivals}


class Efex(Agent):
    """Explores by the information each action is expected to bring about the transitions of a learned model.

    Every step the current episode is decoded again and its counts enter the belief; the model itself waits for the
    next refit: after every `"episode"`, every `"step"`, or every so many steps. A refit starts EM at the last model
    (`start="warm"`), at random (`"fresh"`), or at both, the better one kept (`"rivals"`); a Restart says it in detail.
    The defaults are efex's own; `EfexPaper` has the paper's.
    """

    def __init__(
        self,
        *,
        clones: ClonePolicy = "auto",
        discount: float = 0.9999,
        prior: Pseudocount = ROW,
        pseudocount: Pseudocount = ROW,
        method: Method = "em+viterbi",
        refit: Literal["episode", "step"] | int = 25,
        start: Literal["warm", "fresh", "rivals"] | Restart = "rivals",
        replan: int = 1,
    ) -> None:
        if not isinstance(start, Restart) and start not in RESTARTS:
            raise InvalidArgumentError(f"start must be one of {', '.join(RESTARTS)} or a Restart, not {start!r}")
        if refit not in ("episode", "step"):
            refit = whole("refit", refit, at_least=1)
        check_discount(discount)
        check_method(method)
        positive("prior", prior)
        positive("pseudocount", pseudocount)
        self.clones = allocation_for(clones)
        self.discount = discount
        self.prior = prior
        self.pseudocount = pseudocount
        self.method: Method = method
        self.refit_at_end = refit == "episode"
        self.refit_every = LONGEST_WAIT if refit == "episode" else 1 if refit == "step" else int(refit)
        self.restart = start if isinstance(start, Restart) else RESTARTS[start]()
        self.replan = whole("replan", replan, at_least=1)

    def prepare(self, n_actions: int, *, rng: np.random.Generator, symbols: Iterable[Symbol] = ()) -> None:
        """Get ready for an environment: forget everything about any other."""
        super().prepare(n_actions, rng=rng, symbols=symbols)
        self._layout: CloneLayout | None = None
        self.belief = Belief.empty(1, n_actions, prior=1.0)
        self._changed = self._turn = self._since_refit = self._since_plan = 0
        self._grow_after = 0

    def started(self) -> None:
        """Locate the first observation: before any model, at one of its clones at random."""
        if self._layout is None:
            self._initialise()
        elif len(self.experience.alphabet) > self._layout.n_observations:
            self._make_room()
        else:
            self._follow()
            end = self.experience.terminated[-1:]
            if len(end) and end[0] == len(self.experience) - 2:
                self.belief = self._counted = self._restarting(self.belief, end, self._whole_path())

    def _initialise(self) -> None:
        self._layout = self.clones.first(self.experience)
        self.values = self.rng.random(self._layout.n_states)
        alpha = per_target(self.pseudocount, self._layout.n_states)
        self._soft = Model.random(self.experience, self._layout, pseudocount=alpha, rng=self.rng)
        self._adopt(self._soft)

    def moved(self) -> None:
        """Decode the episode again; refit when it is time."""
        self._since_refit += 1
        assert self._layout is not None
        if len(self.experience.alphabet) > self._layout.n_observations:
            self._make_room()
        elif self._since_refit >= self.refit_every:
            self.refit()
        else:
            last = int(self.experience.actions[-2])
            changed = self._tracker.step(last, int(self.experience.observations[-1]))
            self._changed = min(self._changed, changed)
            self.belief = self._recount()

    def finished(self) -> None:
        """Learn from the whole episode."""
        if self.refit_at_end and self._since_refit > 0:
            self.refit()
        self._path = self._whole_path()
        self.belief = self.belief.closing(self._closed_rows(self.belief.n_states))

    def choose(self, mask: Mask | None) -> int:
        """Return the action that promises most information from here on, ties broken at random."""
        if self._since_plan % self.replan == 0:
            self.plan = policy_iteration(self.belief, discount=self.discount, relative=self.values)
            self.values = self.plan.relative
        self._since_plan += 1
        return int(self.rng.choice(self.plan.best_actions(int(self._tracker.path[-1]), mask=mask)))

    def refit(self) -> None:
        """Obtain the transitions by EM and what follows it, then decode everything again."""
        assert self._layout is not None
        self._turn += 1
        self._since_refit = 0
        learned = self._learn(self._layout)
        larger = self._larger()
        if larger is not None:
            grown = self._learn(larger)
            if marginal_likelihood(grown.model, self.experience) >= marginal_likelihood(learned.model, self.experience):
                learned = grown
                self._relayout(larger)
            else:
                self._grow_after = int(GROWTH_PATIENCE * len(self.experience))
        self._soft = learned.soft
        self._adopt(learned.model)

    def _learn(self, layout: CloneLayout) -> Refit:
        last = replace(self._soft, pseudocount=per_target(self.pseudocount, layout.n_states))
        return self.restart(last, self.experience, layout, method=self.method, turn=self._turn, rng=self.rng)

    def _larger(self) -> CloneLayout | None:
        """Return a layout with more clones if some observation is short of them and it is time to ask again."""
        assert self._layout is not None
        layout = self.clones.grown(self._layout, self._path)
        return None if layout == self._layout or len(self.experience) < self._grow_after else layout

    def _relayout(self, layout: CloneLayout) -> None:
        """Take a larger layout; states keep their values, new ones get random ones."""
        assert self._layout is not None
        _, moved = self._layout.resized(layout.sizes)
        values = self.rng.random(layout.n_states)
        values[moved] = self.values
        self._layout, self.values = layout, values

    def _make_room(self) -> None:
        """Give clones to symbols seen for the first time; states already there keep their numbers."""
        assert self._layout is not None
        layout = self.clones.extended(self._layout, self.experience)
        self._relayout(layout)
        alpha = per_target(self.pseudocount, layout.n_states)
        self._soft = replace(self._soft.carried(self.experience, layout), pseudocount=alpha)
        self._adopt(replace(self.model.carried(self.experience, layout), pseudocount=alpha))

    def _adopt(self, model: Model) -> None:
        """Take `model`: decode all experience with it and count every step."""
        self.model = model
        self._since_plan = 0  # a plan for other states is worth nothing
        self._path = model.decode(self.experience).path
        n_states = model.layout.n_states
        empty = Belief.empty(n_states, self.experience.n_actions, prior=per_target(self.prior, n_states))
        t = np.flatnonzero(self.experience.actions >= 0)
        steps = empty.updated(self._path[t], self.experience.actions[t].astype(np.int64), self._path[t + 1])
        ends = self.experience.terminated
        self.belief = self._restarting(steps, ends[ends + 1 < len(self._path)], self._path)
        self.belief = self.belief.closing(self._closed_rows(n_states))
        self._follow()

    def _restarting(self, belief: Belief, ends: NDArray[np.int64], path: NDArray[np.int64]) -> Belief:
        """Return the belief that also counts how the end of an episode led to the beginning of the next."""
        return belief.updated(path[ends], np.zeros(len(ends), np.int64), path[ends + 1])

    def _follow(self) -> None:
        """Track the episode that is under way."""
        begin = int(self.experience.offsets[-2])
        observations, actions = self.experience.observations[begin:], self.experience.actions[begin:-1]
        self._tracker = Tracker(self.model, observations, actions)
        self._anchor = self._tracker.path.copy()
        self._changed = len(self._anchor)
        self._counted = self.belief

    def _recount(self) -> Belief:
        """Return the counts with the episode's steps as they are decoded now instead of when last counted."""
        begin = int(self.experience.offsets[-2])
        lo = max(self._changed - 1, 0)
        old, new = self._anchor[lo:], self._tracker.path[lo:]
        actions = self.experience.actions[begin + lo : -1].astype(np.int64)
        gone = max(len(old) - 1, 0)
        return self._counted.updated(
            np.concatenate([old[:-1], new[:-1]]),
            np.concatenate([actions[:gone], actions]),
            np.concatenate([old[1:], new[1:]]),
            np.repeat([-1, 1], [gone, len(new) - 1]),
        )

    def _closed_rows(self, n_states: int) -> NDArray[np.bool_]:
        """Return the rows that hold nothing to learn: where an episode terminated, and what was not available."""
        closed = np.zeros((n_states, self.experience.n_actions), bool)
        ends = self.experience.terminated
        closed[self._path[ends]] = True
        # Where an observation was only ever seen at an end, its other clones would be ends too.
        always = np.setdiff1d(
            self.experience.observations[ends], self.experience.observations[self.experience.actions >= 0]
        )
        closed[np.isin(self.model.layout.observation, always)] = True
        if self.masks:
            positions, masks = np.array(list(self.masks)), np.array(list(self.masks.values()))
            known = positions < len(self._path)
            np.logical_or.at(closed, self._path[positions[known]], ~masks[known])
        return closed.ravel()

    def recover(self) -> Recovery:
        """Return the map as it is decoded now."""
        shape = (-1, self.experience.n_actions)
        gain, closed = self.belief.information_gain.reshape(shape), self.belief.closed.reshape(shape)
        return Recovery(self.model, self._whole_path(), gain.max(axis=1), closed)

    def _whole_path(self) -> NDArray[np.int64]:
        return np.concatenate([self._path[: int(self.experience.offsets[-2])], self._tracker.path])

    @property
    def status(self) -> dict[str, float]:
        """States in use, and the model's log-likelihood of everything seen, in nats per step."""
        steps = max(self.experience.n_steps, 1)
        likelihood = self.model.log_likelihood(self.experience) / steps
        return {"states": len(np.unique(self._path)), "log-lik": likelihood}
