"""Efex: Algorithm 1 of the paper. Learn a model, decode, count, value information, plan, act."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from efex.agents.arrivals import Arrivals, Edge
from efex.agents.base import Agent, Mask, Recovery
from efex.agents.cadence import Cadence
from efex.agents.closing import closed_pairs
from efex.agents.curiosity import Prior
from efex.agents.foresight import foreseeing, foreseen, untaught
from efex.agents.learner import Learner
from efex.agents.ledger import Ledger
from efex.agents.urge import SETTLED, Urge
from efex.agents.whereabouts import Whereabouts
from efex.belief import Belief
from efex.checks import amount, flag, repetition, whole
from efex.errors import InvalidArgumentError
from efex.kernels.threads import threads_for
from efex.model.aliasing import PLACE
from efex.model.allocation import ClonePolicy, Growing, allocation_for
from efex.model.layout import CloneLayout
from efex.model.methods import Method, check_method
from efex.model.pseudocount import ROW, Pseudocount, positive
from efex.model.restarts import Fresh, Restart, Rivals, Warm
from efex.model.split_merge import SplitMerge
from efex.planning import check_discount, policy_iteration
from efex.symbols import Symbol

LONGEST_WAIT = 100
"""In an episode longer than this, `refit="episode"` refits every so many steps instead of waiting for its end."""

LONG_ENOUGH = 500
"""After how many steps one knows whether places have coordinates."""

Start = Literal[
    "split-merge",
    "unreckoned",
    "unmelted",
    "contextless",
    "as-decoded",
    "fixed-odds",
    "chanceless",
    "split",
    "merge",
    "warm",
    "fresh",
    "rivals",
]

RESTARTS: dict[Start, Restart] = {
    "split-merge": SplitMerge(),
    "unreckoned": SplitMerge(reckon=False),
    "unmelted": SplitMerge(melts=0),
    "contextless": SplitMerge(contexts=0),
    "as-decoded": SplitMerge(redecode=False),
    "fixed-odds": SplitMerge(place=PLACE),
    "chanceless": SplitMerge(chance=False),
    "split": SplitMerge(merge=False),
    "merge": SplitMerge(contexts=0, melts=0),
    "warm": Warm(),
    "fresh": Fresh(),
    "rivals": Rivals(),
}
"""What `start` names. Without merging there are no contexts either, since they would leave every place in parts."""


class Efex(Agent):
    """Explores by the information each action is expected to bring about the transitions of a learned model.

    Every step the current episode is decoded again and its counts enter the belief; the model itself waits for the
    next refit: after every `"episode"`, every `"step"`, or every so many steps, and in any case until the experience
    has grown by the share `refit_growth`, so that a step of a long run costs no more than one of a short run; if
    refits changed nothing and no step was a surprise since, by several times that share, where `patient`. After a
    surprise, something that is not on the map, a brief refit comes `prompt` steps after the last one (0: none). A refit
    improves the last path by splitting and merging places (`start="split-merge"`; `"unreckoned"`, `"unmelted"`,
    `"contextless"`, `"as-decoded"`, `"fixed-odds"`, `"chanceless"`, `"split"` and `"merge"` leave out part of it), or
    starts EM at the last model (`"warm"`), at random (`"fresh"`), or at both, the better one kept (`"rivals"`); a
    Restart says it in detail. Where actions undo one another, or turn, it is reckoned where places are, and so foreseen
    where untried actions lead; not if `"unreckoned"`.

    `clones` is how many states an observation may have at most; the agent starts with a few and takes more as it needs
    them, without a limit if "auto", unless they are `fixed_clones`: all there from the start. What the rows of the
    belief weigh beforehand is `prior`, or `"learned"`: the less, the fewer places look alike, and more where chance
    rules. An agent that is `hedged` weighs all places where it may be, and what an action tells about which of them it
    is. `scrutiny` is what an action is worth, in nats, that was never tried after the edge just walked: whether that
    edge leads to the place it seems to lead to; `telling` is what a nat is worth, instead, that such an action tells
    about which place it is, where coordinates do not tell (0: scrutiny does everywhere). Where nothing is left untried,
    `restlessness` is how often, once the map has stood still for long, the agent gives in to an urge: to repeat a
    random action, mostly a few times and sometimes many. A map that seems complete may be too small. The defaults are
    efex's own; `EfexPaper` has the paper's.

    >>> import efex
    >>> world = efex.make("chain", length=5)
    >>> run = efex.explore(world, steps=50, agent=Efex(discount=0.99, refit=10), progress=False)
    >>> run.graph.equivalent_to(world.truth)
    True
    """

    def __init__(
        self,
        *,
        clones: ClonePolicy = "auto",
        fixed_clones: bool = False,
        discount: float = 0.9999,
        prior: Prior = "learned",
        pseudocount: Pseudocount = ROW,
        method: Method = "em+viterbi",
        refit: Literal["episode", "step"] | int = 25,
        refit_growth: float = 0.01,
        start: Start | Restart = "split-merge",
        replan: int = 1,
        scrutiny: float = 0.1,
        telling: float = 2.0,
        restlessness: float = 0.1,
        patient: bool = True,
        hedged: bool = True,
        prompt: int = 5,
    ) -> None:
        if not isinstance(start, Restart) and not (isinstance(start, str) and start in RESTARTS):
            raise InvalidArgumentError(f"start must be one of {', '.join(RESTARTS)} or a Restart, not {start!r}")
        if refit not in ("episode", "step"):
            refit = whole("refit", refit, at_least=1)
        check_discount(discount)
        check_method(method)
        if not isinstance(prior, str):
            positive("prior", prior)
        elif prior != "learned":
            raise InvalidArgumentError(
                f'prior must be "learned", a number above 0 per target, or PerRow, not {prior!r}'
            )
        positive("pseudocount", pseudocount)
        self.discount = discount
        self.prior: Prior = prior
        self.pseudocount = pseudocount
        self.method: Method = method
        self.refit_at_end = refit == "episode"
        every = LONGEST_WAIT if refit == "episode" else 1 if refit == "step" else int(refit)
        self.restart = start if isinstance(start, Restart) else RESTARTS[start]
        prompt = whole("prompt", prompt, at_least=0) * (self.restart.brief is not None)
        self.cadence = Cadence(every, repetition("refit_growth", refit_growth), flag("patient", patient), prompt)
        most = None if clones == "auto" else clones
        self.clones = allocation_for(clones) if fixed_clones else Growing(most=most)
        self.replan = whole("replan", replan, at_least=1)
        self.scrutiny = repetition("scrutiny", scrutiny)
        self.telling = amount("telling", telling)
        self.restlessness = repetition("restlessness", restlessness)
        self.hedged = flag("hedged", hedged)

    def prepare(self, n_actions: int, *, rng: np.random.Generator, symbols: Iterable[Symbol] = ()) -> None:
        """Get ready for an environment: forget everything about any other."""
        super().prepare(n_actions, rng=rng, symbols=symbols)
        self._learner: Learner | None = None
        self._urge = Urge(self.restlessness, rng)
        self.cadence.reset()

    def started(self) -> None:
        """Locate the first observation: before any model, at one of its clones at random."""
        if self._learner is None:
            self._learner = self._new_learner()
            self.values = self.rng.random(self._learner.layout.n_states)
            self._decode(self._learner)
        elif self._learner.is_short:
            self._make_room(self._learner)
        else:
            self._ledger.begin()

    def _new_learner(self) -> Learner:
        """Return one that has learned nothing yet from the experience."""
        return Learner(
            self.experience,
            self.clones,
            pseudocount=self.pseudocount,
            method=self.method,
            restart=self.restart,
            rng=self.rng,
        )

    def moved(self) -> None:
        """Decode the episode again; refit when it is time."""
        assert self._learner is not None
        is_due = self.cadence.is_due(self.belief, self.experience.n_steps)
        if self._learner.is_short:
            self._make_room(self._learner)
        elif is_due:
            self._refit(self._learner)
        elif self.cadence.is_prompted(surprised=self._ledger.step()):
            self._refit(self._learner, brief=True)

    def finished(self) -> None:
        """Learn from the whole episode."""
        assert self._learner is not None
        if self.refit_at_end and self.cadence.waited > 0:
            self._refit(self._learner)
        else:
            self._ledger.end()

    def choose(self, mask: Mask | None) -> int:
        """Return the action that promises most information from here on, ties broken at random."""
        edge = self._ledger.last_edge
        urge = self._follow_urge(mask)
        action = self._best_action(edge, mask) if urge is None else urge
        if edge is not None:
            self._arrivals.add(edge, action)
        return action

    def _follow_urge(self, mask: Mask | None) -> int | None:
        """Return what a restless agent does, None where there are better things to do."""
        if self.restlessness == 0:
            return None
        if not self.belief.is_complete:
            self._urge.rest()
            return None
        # Who is not patient does not watch whether the map stands still.
        settled_for = self.cadence.settled_for(self.experience.n_steps) if self.cadence.patient else SETTLED
        urge = self._urge.follow(lambda: self.random_action(mask), settled_for=settled_for)
        return urge if urge is None or mask is None or mask[urge] else self.random_action(mask)

    def _best_action(self, edge: Edge | None, mask: Mask | None) -> int:
        if self._since_plan % self.replan == 0:
            self._plan = policy_iteration(self._foreseeing, discount=self.discount, relative=self.values)
            self.values = self._plan.relative
        self._since_plan += 1
        bonus = np.zeros(self.experience.n_actions) if edge is None else self._tests(edge)
        values = None
        if self.hedged and not (may_be := self._ledger.whereabouts).is_known:
            values = may_be.action_values(self._plan)
            bonus = bonus + may_be.telling(self._plan.belief, self._ledger.model.layout)
        return int(self.rng.choice(self._plan.best_actions(self._ledger.state, mask=mask, values=values, bonus=bonus)))

    def _tests(self, edge: Edge) -> NDArray[np.float64]:
        """Return what every action is worth that was never tried after an edge: whether that leads where it seems to.

        Where coordinates do not tell, which only who reckons knows, and `telling` is more than nothing, that is what is
        seen next tells about which one it is of all the places that look alike.
        """
        is_early = self.experience.n_steps < LONG_ENOUGH
        if self.telling == 0 or not self.restart.reckon or self._ledger.is_reckoned or is_early:
            return self.scrutiny * self._arrivals.doubt(edge)
        layout = self._ledger.model.layout
        alike = Whereabouts.anywhere(edge.target, self.path, layout)
        told = 0.0 if alike.is_known else alike.telling(self._plan.belief, layout)
        return np.asarray(self.telling * self._arrivals.untried(edge) * told)

    def _refit(self, learner: Learner, *, brief: bool = False) -> None:
        """Obtain the transitions by EM and what follows it, then decode everything again."""
        before = learner.layout
        with threads_for(len(self.experience)):
            learner.refit(self._ledger.path, brief=brief)
            self._carry_values(before, learner.layout)
            self._decode(learner)
        self.cadence.refitted(self.belief, brief=brief)

    def _make_room(self, learner: Learner) -> None:
        before = learner.layout
        learner.make_room()
        self._carry_values(before, learner.layout)
        self._decode(learner)

    def _carry_values(self, before: CloneLayout, after: CloneLayout) -> None:
        """Keep the values of the states there were; new ones get random ones, as all did at first."""
        values = self.rng.random(after.n_states)
        values[before.resized(after.sizes)[1]] = self.values
        self.values = values

    def _decode(self, learner: Learner) -> None:
        """Decode all experience and count every step: the last lines of Algorithm 1."""
        self._ledger = Ledger(learner.model, self.experience, self.masks, prior=self.prior, reckon=self.restart.reckon)
        self._arrivals = Arrivals(self._ledger.path, self.experience)
        self._since_plan = 0  # a plan for other states is worth nothing

    @property
    def belief(self) -> Belief:
        """What is believed of every transition now."""
        return self._ledger.belief

    @property
    def path(self) -> NDArray[np.int64]:
        """The state at every observation, as it is decoded now."""
        return self._ledger.path

    @property
    def _foreseeing(self) -> Belief:
        """The belief, with what is foreseen where the agent reckons."""
        return foreseeing(self.belief, self.experience, self.path) if self.restart.reckon else self.belief

    def recover(self) -> Recovery:
        """Return the map as it is decoded now."""
        model, path = self._ledger.model, self.path
        closed = closed_pairs(path, model.layout, self.experience, self.masks)
        known = untaught(self.belief, self.experience, path) if self.restart.reckon else self.belief
        gain = known.closing(closed.ravel()).information_gain.reshape(closed.shape)
        found = (model, path, gain.max(axis=1), closed, gain.sum(axis=1))
        return Recovery(*found, foreseen=foreseen(self._foreseeing))

    @property
    def status(self) -> dict[str, float]:
        """States in use, and the model's log-likelihood of everything seen, in nats per step."""
        likelihood = self._ledger.model.log_likelihood(self.experience) / max(self.experience.n_steps, 1)
        return {"states": len(np.unique(self._ledger.path)), "log-lik": likelihood}
