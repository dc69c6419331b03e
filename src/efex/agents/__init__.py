"""Agents, all ask/tell: what to do next, and what map came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from efex.agents.base import Agent, Mask, Recovery
from efex.agents.efex import Efex
from efex.agents.max import Max
from efex.agents.paper import EfexPaper
from efex.agents.random import RandomAgent, Walker
from efex.errors import InvalidArgumentError
from efex.model.allocation import ClonePolicy
from efex.near import near

__all__ = [
    "Agent",
    "ClonePolicy",
    "Efex",
    "EfexPaper",
    "Mask",
    "Max",
    "RandomAgent",
    "Recovery",
    "Walker",
    "make_agent",
]


def _bonus_dqn(**settings: Any) -> Agent:
    from efex.agents.deep import BonusDqn  # JAX is an extra

    return BonusDqn(**settings)


def _bootstrapped_dqn(**settings: Any) -> Agent:
    from efex.agents.deep import BootstrappedDqn

    return BootstrappedDqn(**settings)


AGENTS: dict[str, Callable[..., Agent]] = {
    "efex": Efex,
    "efex-paper": EfexPaper,
    "max": Max,
    "bonus-dqn": _bonus_dqn,
    "bootstrapped-dqn": _bootstrapped_dqn,
    "random": RandomAgent,
}


def make_agent(agent: str | Agent, *, clones: ClonePolicy) -> Agent:
    """Return the agent of that name with these clones, or the agent itself.

    >>> agent = make_agent("max", clones=2)
    >>> type(agent).__name__, make_agent(agent, clones="auto") is agent
    ('Max', True)
    """
    if isinstance(agent, Agent):
        if clones != "auto":
            raise InvalidArgumentError("clones must be given to the agent itself when agent is not a name")
        return agent
    if not isinstance(agent, str) or agent not in AGENTS:
        raise InvalidArgumentError(f"agent must be one of {', '.join(AGENTS)}, not {agent!r}{near(agent, AGENTS)}")
    return AGENTS[agent](clones=clones)
