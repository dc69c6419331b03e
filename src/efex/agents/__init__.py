"""Agents, all ask/tell: what to do next, and what map came of it."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from efex.agents.base import Agent, Mask, Recovery
from efex.agents.efex import Efex
from efex.agents.paper import EfexPaper
from efex.agents.random import RandomAgent
from efex.errors import InvalidArgumentError
from efex.model.allocation import ClonePolicy

__all__ = ["Agent", "ClonePolicy", "Efex", "EfexPaper", "Mask", "RandomAgent", "Recovery", "make_agent"]


AGENTS: dict[str, Callable[..., Agent]] = {"efex": Efex, "efex-paper": EfexPaper, "random": RandomAgent}


def make_agent(agent: str | Agent, *, clones: ClonePolicy) -> Agent:
    """Return the agent of that name with these clones, or the agent itself."""
    if isinstance(agent, Agent):
        if clones != "auto":
            raise InvalidArgumentError("clones must be given to the agent itself when agent is not a name")
        return agent
    if not isinstance(agent, str) or agent not in AGENTS:
        near = difflib.get_close_matches(str(agent), AGENTS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InvalidArgumentError(f"agent must be one of {', '.join(AGENTS)}, not {agent!r}{hint}")
    return AGENTS[agent](clones=clones)
