"""When an exploration stops before its last step: when the map is complete, or when the caller says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from efex.agents import Agent, Efex
from efex.errors import InvalidArgumentError

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

    Every available action was tried at every place, and for the last 1,000 steps, or the last quarter of all steps if
    that is more, refits left the map as it was and no edge was walked that was not on it. This is no proof: a part that
    hides behind two places taken for one may take longer to be noticed.
    """
    assert isinstance(agent, Efex)
    n_steps = agent.experience.n_steps
    settled = agent.cadence.settled_for(n_steps) >= max(LEAST_SETTLED, SETTLED_SHARE * n_steps)
    return settled and agent.belief.is_complete
