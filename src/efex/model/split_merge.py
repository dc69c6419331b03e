"""SplitMerge: a path improved by splitting places that may be two and merging those that may be one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from efex.checks import finite, flag, whole
from efex.experience import Experience
from efex.kernels import reckoning as kernel
from efex.model.aliasing import odds_of_two
from efex.model.chance import left_to_chance
from efex.model.contexts import tell_apart
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.marginal import marginal_likelihood
from efex.model.melting import melted
from efex.model.merging import merge
from efex.model.methods import Method, refine
from efex.model.moves import Moves, displacements, no_moves, turning
from efex.model.naming import named_after
from efex.model.reckoning import wrapped
from efex.model.redecoding import redecoded
from efex.model.restarts import Refit, Restart
from efex.model.strides import Strides
from efex.model.throwing import unthrown
from efex.model.transitions import count_transitions, places_of
from efex.model.viterbi_training import from_path, viterbi_training

Path = NDArray[np.int64]

HOPELESS = 30.0
"""How many nats behind a path may be for it to be decoded again: rarely does that make up for more."""

MOST_MORE = 3
"""How many times as many places may be reckoned as there are: many more, and something carries off who reckons."""


@dataclass(frozen=True)
class SplitMerge(Restart):
    """The last path is improved by splitting places and merging them, as long as that makes it likelier.

    Every episode is decoded again by what the others tell, if it is to `redecode`. Some places are told apart by what
    came before or after, until that has been in vain `contexts` times in a row; what was needlessly told apart is
    merged, so it takes `merge`. A path is kept if it is likelier with all transitions integrated out, theory (10), and
    as long as one is, another round follows, `rounds` at most. Then some places are forgotten, and so many `iterations`
    of EM, and what follows it, find others in their stead, until that has been in vain `melts` times in a row, or once
    where the path leaves nothing to chance.

    If it is to `reckon`, actions that undo one another are steps to and fro, which tells where places are: what shows
    the same at the same place is tried as one, and edges that agree on where a place is make a path likelier. Where
    actions turn, walks are followed by what is seen at every pose, to tell which steps led on.

    If only the `latest` episode is looked at, that one is decoded again and its places are merged with others.

    If there may be `chance`, a map with one place for every observation is taken instead where that is likelier, its
    rows weighing more beforehand; the next refit still goes on from the path.

    A map with one place more is preferred by `place` nats: None takes the odds from the map so far, as the places that
    show the same are many or one.
    """

    contexts: int = 6
    melts: int = 6
    rounds: int = 4
    iterations: int = 30
    merge: bool = True
    redecode: bool = True
    reckon: bool = True
    place: float | None = None
    chance: bool = True
    latest: bool = False
    takes_spare_clones = True

    def __post_init__(self) -> None:
        whole("contexts", self.contexts, at_least=0)
        whole("melts", self.melts, at_least=0)
        whole("rounds", self.rounds, at_least=0)
        whole("iterations", self.iterations, at_least=1)
        flag("merge", self.merge)
        flag("redecode", self.redecode)
        flag("reckon", self.reckon)
        flag("chance", self.chance)
        flag("latest", self.latest)
        if self.place is not None:
            finite("place", self.place)

    @property
    def brief(self) -> SplitMerge:
        """The same for the latest episode alone, and without looking for places that are two."""
        return replace(self, contexts=0, melts=0, rounds=1, latest=True)

    def __call__(
        self,
        last: Model,
        experience: Experience,
        layout: CloneLayout,
        *,
        method: Method,
        turn: int,
        rng: np.random.Generator,
    ) -> Refit:
        """Return the model of the best path found."""
        carried = last.carried(experience, layout)
        if not (self.latest and self.redecode):
            carried = viterbi_training(carried, experience).model
        path = carried.decode(experience).path
        place = odds_of_two(path, experience) if self.place is None else self.place
        moves = no_moves(experience.n_actions)
        if self.reckon:
            moves = displacements(experience, actions=unthrown(path, experience))
        search = _Search(self, experience, layout, method, last.pseudocount * layout.n_states, place, moves, rng)
        best = search.improve(path)
        model = from_path(carried, experience, best)
        believed = left_to_chance(model, best, experience, moves=moves) if self.chance else model
        return Refit(model, believed, tuple(search.wanted.tolist()))


class Beliefs(TypedDict):
    """What a search takes for granted: what a row's prior weighs, what a place more is worth, how far actions move."""

    weight: float
    place: float
    moves: Moves


@dataclass
class _Search:
    """The rounds of one refit."""

    how: SplitMerge
    experience: Experience
    layout: CloneLayout
    method: Method
    weight: float
    place: float
    moves: Moves
    rng: np.random.Generator

    def improve(self, path: Path) -> Path:
        """Return the best path found from `path`."""
        self.wanted, self.tried = np.zeros(self.layout.n_observations, np.int64), set[bytes]()
        self.path = self._merged(path, among=self._latest(path))
        self.score = self._score(self.path)
        if turning(self.moves).any() and not self.how.latest:
            self._try_strides()
        for _ in range(self.how.rounds):
            before = self.score
            if self.how.redecode:
                self._try_redecoding()
            if self.moves.any():
                self._try_reckoning()
            if self.how.merge:
                self._try_contexts()
            if self.score == before:
                break
        if self.how.melts:
            self._try_melting(self.how.melts if self._is_random else 1)
        # Where nothing is aliased, or nothing can be known, one place for every observation is best.
        self._keep(self.experience.observations.astype(np.int64))
        return self.path

    def _try_redecoding(self) -> None:
        latest = self.how.latest
        self._try(redecoded(self.path, self.experience, rng=self.rng, latest=latest, **self._beliefs))

    def _try_reckoning(self) -> None:
        """Take for one place what shows the same and is reckoned to be where the other is, maybe all the way around."""
        actions = unthrown(self.path, self.experience)
        for told in self._told_by(kernel.positions(*self._whereabouts, actions, self.moves)):
            if self._is_credible(told):
                self._try(told)

    def _try_strides(self) -> None:
        """Take for one place what shows the same where walks were that are followed by what is seen at every pose.

        Whether a step led on although the same is seen turns all that follows. Note how many clones that takes where it
        is likelier and there are too few.
        """
        places, at = self._whereabouts
        strides = Strides(self.experience, at[places], moves=self.moves)
        # A map that leaves nothing to chance is hardly one that is turned.
        rng = self.rng if self._is_random else None
        where = strides.likeliest(places, score=lambda at: self._plain_score(self._as_one(at)), rng=rng)
        for told in self._told_by(where):
            # Steps that seem to lead on for ever make a place of each, and where those are preferred that wins.
            if self._plain_score(told) <= self._plain_score(self.path):
                continue
            if self._is_likelier(self._score(told)):
                self.wanted = np.maximum(self.wanted, self._used(told))
            (self._try if self._is_credible(told) else self._keep)(told)

    @property
    def _whereabouts(self) -> tuple[Path, NDArray[np.int64]]:
        """The place at every position, and where every place is."""
        places = places_of(self.path, self.experience)
        return places.at, count_transitions(places, self.experience, weight=self.weight, moves=self.moves).at

    def _told_by(self, at: NDArray[np.int64]) -> list[Path]:
        """Return paths on which the same at the same coordinate is one place, as is and, if it seems so, wrapped."""
        looks = self.experience.observations.astype(np.int64)
        found = (where for where in (at, wrapped(at, looks)) if where is not None)
        return [self._as_one(where) for where in found]

    def _as_one(self, where: NDArray[np.int64]) -> Path:
        """Return the path on which the same at the same coordinate is one place."""
        return np.unique((where, self.experience.observations), axis=1, return_inverse=True)[1].ravel()

    def _is_credible(self, told: Path) -> bool:
        """Whether there are not so many more places that merging them would take long and be in vain."""
        return bool(told.max() < MOST_MORE * len(np.unique(self.path)))

    def _try(self, told: Path) -> None:
        """Keep a path if it is likelier, as it is or with what is one merged; what was tried is no better again."""
        if (name := told.tobytes()) in self.tried:
            return
        self.tried.add(name)
        self._keep(told)
        self._keep(self._merged(told, among=self._latest(told)))

    @property
    def _beliefs(self) -> Beliefs:
        return {"weight": self.weight, "place": self.place, "moves": self.moves}

    def _latest(self, path: Path) -> Path | None:
        """Return the states of the latest episode, None where all episodes are looked at."""
        return path[self.experience.offsets[-2] :] if self.how.latest else None

    def _try_contexts(self) -> None:
        """Tell places apart by what came before or after, and merge what is one, until that has failed a few times."""
        failures = 0
        while failures < self.how.contexts:
            told = tell_apart(self.path, self.experience, rng=self.rng)
            better = self._keep(self._merged(told.path, among=told.parts))
            failures = 0 if better else failures + 1

    @property
    def _is_random(self) -> bool:
        """Whether an action has led to different places from the same one."""
        at, taken = places_of(self.path, self.experience).at, np.flatnonzero(self.experience.actions >= 0)
        rows = at[taken] * self.experience.n_actions + self.experience.actions[taken]
        return len(np.unique(rows)) < len(np.unique(rows * len(at) + at[taken + 1]))

    def _try_melting(self, tries: int) -> None:
        """Forget some places and let EM find others, until that has been in vain so many times in a row."""
        failures = 0
        while failures < tries:
            start = melted(self.path, self.experience, most=self.layout, weight=self.weight, rng=self.rng)
            _, found = refine(
                start, self.experience, method=self.method, iterations=self.how.iterations, tolerance=1e-6
            )
            told = self._merged(found.decode(self.experience).path)
            score = self._score(told)
            better = (
                self.how.redecode
                and score > self.score - HOPELESS
                and self._keep(self._merged(redecoded(told, self.experience, rng=self.rng, **self._beliefs)))
            )
            failures = 0 if better or self._keep(told, score) else failures + 1

    def _keep(self, path: Path, score: float | None = None) -> bool:
        """Keep the path if it is likelier and there are clones for its places; return whether it is so."""
        score = self._score(path) if score is None else score
        if not self._is_likelier(score) or (self._used(path) > self.layout.sizes).any():
            return False
        self.path, self.score = named_after(path, self.path, self.experience, self.layout), score
        return True

    def _is_likelier(self, score: float) -> bool:
        return score > self.score + 1e-9 * abs(self.score)

    def _used(self, path: Path) -> NDArray[np.int64]:
        """Return how many places there are of every observation."""
        return np.bincount(places_of(path, self.experience).observation, minlength=self.layout.n_observations)

    def _merged(self, path: Path, *, among: Path | None = None) -> Path:
        if not self.how.merge:
            return path
        return merge(path, self.experience, among=among, **self._beliefs)

    def _plain_score(self, path: Path) -> float:
        """Return the score where one place more is neither preferred nor shunned."""
        return marginal_likelihood(path, self.experience, **(self._beliefs | {"place": 0.0}))

    def _score(self, path: Path) -> float:
        return marginal_likelihood(path, self.experience, **self._beliefs)
