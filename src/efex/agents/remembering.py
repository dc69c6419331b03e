"""Remembering: explores a world of which a part may be known, from another world that shares it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from efex.agents.base import Mask, Recovery
from efex.agents.efex import Efex
from efex.agents.foresight import LIKELY
from efex.agents.memory import remembered
from efex.belief import Belief
from efex.experience import Experience
from efex.graph.latent import LatentGraph
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.naming import numbered
from efex.model.pseudocount import per_target
from efex.model.transitions import places_of
from efex.model.viterbi_training import from_path

SPARE = 4
"""Clones of every observation beyond those that the known graph needs."""


class Remembering(Efex):
    """Knows places of a known graph again, and trusts what it remembers of them as far as that has been right.

    Its experience begins with a walk over the known graph, so that places are told by what is known of them. What it
    believes of this world are the steps taken here; what was never tried here is foreseen to do what it did there, with
    the doubt that follows from how often that was wrong.
    """

    def __init__(self, known: LatentGraph, **settings: Any) -> None:
        # What was seen elsewhere says nothing of whether coordinates tell here.
        super().__init__(**{"telling": 0.0} | settings)
        self.known = known

    def recall(self, walks: Experience, masks: Mapping[int, Mask]) -> None:
        """Remember the known graph, and take in what was seen and done in this world by somebody else."""
        self.experience, nodes = remembered(self.known, walks.alphabet)
        self._remembered = len(nodes)
        self._learner = self._new_learner()
        self._learner.begin_with(self._model_of(nodes))
        for at, (symbol, action) in enumerate(zip(walks.symbols, [-1, *walks.actions.tolist()])):
            if action < 0:
                self.experience.begin(symbol)
            else:
                self.experience.append(action, symbol)
            if at in walks.terminated:
                self.experience.terminate()
        self.masks |= {self._remembered + at: mask for at, mask in masks.items()}
        self._learner.make_room()
        self.values = self.rng.random(self._learner.layout.n_states)
        self._decode(self._learner)

    def _model_of(self, nodes: NDArray[np.int64]) -> Model:
        """Return the model that counts what is remembered, with clones to spare."""
        places = places_of(nodes, self.experience)
        used = np.bincount(places.observation, minlength=len(self.experience.alphabet))
        layout = CloneLayout(tuple((used + SPARE).tolist()))
        empty = Model.empty(self.experience, layout, pseudocount=per_target(self.pseudocount, layout.n_states))
        return from_path(empty, self.experience, numbered(places, layout)[places.at])

    @property
    def belief(self) -> Belief:
        """What is believed of this world's transitions: what is remembered does not count."""
        source, action, target = self._memories
        return self._ledger.belief.updated(source, action, target, np.full(len(source), -1))

    @property
    def _memories(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The remembered steps, as they are decoded now."""
        path, actions = self._ledger.path, self.experience.actions[: self._remembered]
        t = np.flatnonzero(actions >= 0)
        return path[t], actions[t].astype(np.int64), path[t + 1]

    @property
    def _foreseeing(self) -> Belief:
        """The belief, with what is remembered of all that was not tried here."""
        here = self.belief
        walked, mostly = _likeliest(
            Belief.empty(here.n_states, here.n_actions, prior=here.prior).updated(*self._memories)
        )
        tried = here.totals[walked] > 0
        agrees = np.isin(walked * here.n_states + mostly, here.rows * here.n_states + here.target)
        doubt = (np.count_nonzero(tried & ~agrees) + 0.5) / (np.count_nonzero(tried) + 1)
        kept = ~tried & ~here.closed[walked]
        if doubt >= LIKELY or not kept.any():
            return here
        source, action = np.divmod(walked[kept], here.n_actions)
        doubts = np.zeros(len(here.closed))
        doubts[walked[kept]] = doubt
        return replace(here.updated(source, action, mostly[kept]), doubt=doubts)

    def recover(self) -> Recovery:
        """Return the map of this world, with what is remembered of its places as foreseen."""
        found = super().recover()
        path, ahead = found.path[self._remembered :], found.foreseen
        if ahead is not None:
            ahead = ahead[np.isin(ahead[:, 0], _within_reach(np.unique(path), ahead))]
        return found._replace(path=path, foreseen=ahead)


def _likeliest(belief: Belief) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that were walked, and the state that each led to most often."""
    order = np.lexsort((belief.count, belief.rows))
    last = np.flatnonzero(np.diff(belief.rows[order], append=-1))
    return belief.rows[order][last], belief.target[order][last]


def _within_reach(states: NDArray[np.int64], steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the states and all that rows of (state, action, state) lead to from them."""
    while len(more := np.union1d(states, steps[np.isin(steps[:, 0], states), 2])) > len(states):
        states = more
    return states
