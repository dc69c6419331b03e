"""Log: rows of (episode, action, observation) as they come, gathered into an experience."""

from __future__ import annotations

import math
import re
from array import array
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.errors import InvalidArgumentError
from efex.experience import Alphabet, Experience
from efex.symbols import Symbol

NUMBER = re.compile(r"[-+]?\d+(\.\d*)?")
TRUTHS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False, "none": False, "": False}
MOST_ACTIONS = 10_000
"""Numbers above this are names of something; a table of that many actions per node would be mostly empty."""


class Table(NamedTuple):
    """What a table of logged walks holds: the experience, and the names of its actions where they have names."""

    experience: Experience
    actions: tuple[str, ...] | None = None
    """The name of every action, in alphabetical order; None where actions are numbers."""


class Log:
    """Takes one row after another, and remembers codes alone: eight bytes a row."""

    def __init__(self, file: str, *, has_actions: bool) -> None:
        self._file, self._has_actions = file, has_actions
        self._symbols, self._names = Alphabet(), Alphabet()
        self._observations, self._actions, self._terminated = array("i"), array("i"), array("q")
        self._first_lines: list[int] = []
        self._finished: set[Symbol] = set()
        self._episode: Symbol = None
        self._action: Symbol = None
        self._line = 0

    def add(self, line: int, episode: Symbol, action: Symbol, observation: Symbol, terminated: Symbol = None) -> None:
        """Take in a row; an action of None is none, and only an episode's last row may be without or be terminated."""
        if observation is None:
            raise InvalidArgumentError(
                f"{self._file}, line {line}, has no observation; fill it in, with a word for nothing if need be"
            )
        if not self._observations or episode != self._episode:
            self._begin(line, episode)
        elif len(self._terminated) and self._terminated[-1] == len(self._observations) - 1:
            raise InvalidArgumentError(
                f"{self._file}, line {self._line}, says that episode {episode!r} terminated, and it goes on after it; "
                "only an episode's last row may say so"
            )
        elif self._has_actions:
            if self._action is None:
                raise InvalidArgumentError(
                    f"{self._file}, line {self._line}, has no action, and episode {episode!r} goes on after it; "
                    "only an episode's last row may be without"
                )
            self._actions[-1] = code = self._names.encode(self._action)
            if code == len(self._first_lines):
                self._first_lines.append(self._line)
        else:
            self._actions[-1] = 0
        if self._is_true(line, terminated):
            self._terminated.append(len(self._observations))
        self._observations.append(self._symbols.encode(observation))
        self._actions.append(-1)
        self._action, self._line = action, line

    def _is_true(self, line: int, terminated: Symbol) -> bool:
        told = TRUTHS.get(str(terminated).lower())
        if told is None:
            raise InvalidArgumentError(
                f"{self._file}, line {line}: terminated must be true, false or empty, not {terminated!r}"
            )
        return told

    def _begin(self, line: int, episode: Symbol) -> None:
        if self._observations:
            self._finished.add(self._episode)
        if episode in self._finished:
            raise InvalidArgumentError(
                f"{self._file}, line {line}, comes back to episode {episode!r} after another one; "
                "an episode's rows must stand together: sort the table by episode, keeping their order"
            )
        self._episode = episode

    def table(self) -> Table:
        """Return all rows as one experience, actions numbered."""
        if not self._observations:
            raise InvalidArgumentError(f"{self._file} holds no rows; each is an observation and the action taken there")
        taken = np.frombuffer(self._actions, np.intc)
        names, n_actions = None, 1
        if self._has_actions and len(self._names):
            numbers, names = self._numbered()
            n_actions = len(names) if names else int(numbers.max()) + 1
            taken = np.where(taken < 0, -1, numbers[taken])
        observations = np.frombuffer(self._observations, np.intc)
        experience = Experience.from_flat(
            observations, taken, n_actions=n_actions, alphabet=self._symbols, terminated=self._terminated
        )
        return Table(experience, names)

    def _numbered(self) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
        """Return the number of every action by its code, and the names in order if they are names."""
        found = self._names.symbols
        if all(isinstance(name, str) for name in found) and not all(map(NUMBER.fullmatch, found)):
            names = tuple(sorted(found))
            return np.array([names.index(name) for name in found]), names
        return np.array(list(map(self._number, self._first_lines, found))), None

    def _number(self, line: int, action: Any) -> int:
        number = -1.0 if isinstance(action, bool | bytes | tuple) else float(action)
        if not (math.isfinite(number) and number.is_integer() and 0 <= number < MOST_ACTIONS):
            raise InvalidArgumentError(
                f"{self._file}, line {line}: actions must be names, or whole numbers from 0 to below {MOST_ACTIONS}, "
                f"not {action!r}"
            )
        return int(number)
