"""Case: one exploration of one world by one agent, said in full and readable."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from efex.agents import AGENTS
from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.near import near

Settings = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Case:
    """Who explores what for how long, and when it is measured.

    `clones` is a multiple of the average number of nodes per observation, as the paper sets it, or "auto". `agent` is a
    name of `efex.agents`, "tour", which is given the truth, or "file.py:Class" for one of your own; `settings` are its
    arguments.
    """

    world: str
    agent: str
    steps: int
    seed: int
    options: Settings = ()
    settings: Settings = ()
    clones: float | Literal["auto"] = 2.0
    marks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _check_agent(self.agent)
        _check_clones(self.clones)
        steps = whole("the steps of a case", self.steps, at_least=1)
        said = {"steps": steps, "marks": _checked_marks(self.marks, steps)}
        said |= {name: tuple(sorted(getattr(self, name))) for name in ("options", "settings")}
        for name, value in said.items():
            object.__setattr__(self, name, value)

    @property
    def id(self) -> str:
        """One line that says it all, but for when it is measured."""
        world, agent = _with(self.world, self.options), _with(self.agent, self.settings)
        clones = "auto" if self.clones == "auto" else f"{self.clones:g}x"
        return f"{world} | {agent} clones={clones} | {self.steps} steps | seed {self.seed}"

    def setting(self, name: str, default: Any = None) -> Any:
        """Return an option of the world or a setting of the agent."""
        return dict(self.options + self.settings).get(name, default)

    def to_json(self) -> str:
        """Return the case as JSON."""
        fields = {
            "world": self.world,
            "agent": self.agent,
            "steps": self.steps,
            "seed": self.seed,
            "options": dict(self.options),
            "settings": dict(self.settings),
            "clones": self.clones,
            "marks": list(self.marks),
        }
        return json.dumps(fields, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Case:
        """Return the case that `to_json` wrote."""
        fields = json.loads(text)
        for name in ("options", "settings"):
            fields[name] = tuple(fields[name].items())
        return cls(**{**fields, "marks": tuple(fields["marks"])})


def _check_agent(agent: Any) -> None:
    names = (*AGENTS, "tour")
    if not isinstance(agent, str) or (agent not in names and ":" not in agent):
        known = ", ".join(names)
        raise InvalidArgumentError(
            f"the agent of a case must be one of {known}, or file.py:Class, not {agent!r}{near(agent, names)}"
        )


def _check_clones(clones: Any) -> None:
    is_number = isinstance(clones, Real) and not isinstance(clones, bool)
    if clones != "auto" and not (is_number and 0 < clones < math.inf):
        raise InvalidArgumentError(f'the clones of a case must be a number above 0 or "auto", not {clones!r}')


def _checked_marks(marks: Any, steps: int) -> tuple[int, ...]:
    if not isinstance(marks, Iterable):
        raise InvalidArgumentError(f"the marks of a case must be a tuple of steps, not {marks!r}")
    found = tuple(whole("a mark of a case", mark, at_least=1) for mark in marks)
    beyond = [mark for mark in found if mark > steps]
    if beyond:
        raise InvalidArgumentError(f"a mark of a case must be at most {steps}, the steps it takes, not {beyond[0]}")
    return found


def _with(name: str, settings: Settings) -> str:
    for key, value in settings:
        if not isinstance(value, str | int | float | bool | None):
            raise InvalidArgumentError(f"settings must be numbers or text, not {key}={value!r}")
    return " ".join([name, *(f"{key}={_short(value)}" for key, value in settings)])


def _short(value: Any) -> str:
    """Return a setting as text, different for different settings."""
    if isinstance(value, str):
        return value if not value.replace(".", "").isdigit() else repr(value)
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
