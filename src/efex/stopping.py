"""When an exploration stops before its last step: when the map is complete, or when the caller says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from efex.agents import Agent, Efex
from efex.errors import InvalidArgumentError
from efex.experience import Experience

Until = Literal["complete"] | Callable[[Agent], bool] | None

LEAST_SETTLED = 1_000
"""Steps for which the map must have stayed as it is before it passes for complete, at least."""

SETTLED_SHARE = 0.25
"""The share of all steps for which the map must have stayed as it is before it passes for complete."""


def stopping_rule(until: Until, agent: Agent) -> Callable[[Agent], bool]:
    """Return the question that is asked after every step."""
    if until is None:
        return lambda agent: False
    if callable(until):
        return until
    if until != "complete":
        raise InvalidArgumentError(f'until must be None, "complete" or a function of the agent, not {until!r}')
    if not isinstance(agent, Efex):
        raise InvalidArgumentError(
            f'until="complete" needs an agent that knows what it does not know, "efex" or "efex-paper", '
            f"not {type(agent).__name__}; pass a function of the agent"
        )
    if not agent.cadence.patient:
        raise InvalidArgumentError('until="complete" needs an agent that is patient: it notices that a map has settled')
    return seems_complete


def seems_complete(agent: Agent) -> bool:
    """Return whether the map has nothing left to try and has been the same for long.

    Every action that was available of late was tried at every place, and for the last 1,000 steps, or the last quarter
    of all steps if that is more, refits left the map as it was and no edge was walked that was not on it. This is no
    proof: a part that hides behind two places taken for one may take longer to be noticed. Of the very first place, if
    it is one that was never come back to and looks like another, nothing is asked: see `is_left_for_good`.
    """
    assert isinstance(agent, Efex)
    n_steps = agent.experience.n_steps
    settled = agent.cadence.settled_for(n_steps) >= max(LEAST_SETTLED, SETTLED_SHARE * n_steps)
    if not settled:
        return False
    unfinished = np.flatnonzero(agent.belief.has_untried)
    if len(unfinished) != 1:
        return len(unfinished) == 0
    path = agent.path
    return int(path[0]) == int(unfinished[0]) and is_left_for_good(path, agent.experience)


def is_left_for_good(path: NDArray[np.int64], experience: Experience) -> bool:
    """Return whether the first place of `path` was never come back to, and looks like one where the walk was later.

    Nothing led to the first place, so it may be any of those that look like it, and often no later step tells which: a
    run without episodes keeps it apart, and nobody can ever try there what was not tried. Where it looks like no other,
    it is a place of its own, and the next episode may begin there.

    >>> walk = Experience.from_episodes([("abab", [0, 0, 0])])
    >>> is_left_for_good(np.array([2, 1, 0, 1]), walk), is_left_for_good(np.array([0, 1, 0, 1]), walk)
    (True, False)
    """
    elsewhere = path != path[0]
    left = int(elsewhere.argmax())
    shown = experience.observations
    return bool(elsewhere[left:].all() and (shown[left:] == shown[0]).any())
