"""What was seen and done: episodes end to end in flat, growable arrays, and the alphabet of symbols in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.symbols import PLAIN, Symbol, plain, to_symbol
from efex.triples import Triples


class Alphabet:
    """A growing one-to-one map between symbols and the codes 0, 1, 2, ... in order of first sight.

    >>> alphabet = Alphabet(["wall", "door"])
    >>> alphabet.encode("lamp"), alphabet.lookup(["door", "sea"]).tolist()
    (2, [1, -1])
    """

    def __init__(self, symbols: Iterable[Symbol] = ()) -> None:
        self._codes: dict[Symbol, int] = {}
        self._symbols: list[Symbol] = []
        for symbol in symbols:
            self.encode(symbol)

    def __len__(self) -> int:
        return len(self._symbols)

    def __getitem__(self, code: int) -> Symbol:
        return self._symbols[code]

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """All symbols, by code."""
        return tuple(self._symbols)

    def encode(self, symbol: Symbol) -> int:
        """Return the symbol's code, a new one when it was never seen."""
        key = _key(symbol)
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = len(self._symbols)
            self._symbols.append(plain(symbol))
        return code

    def lookup(self, symbols: Iterable[Symbol]) -> NDArray[np.int64]:
        """Return the codes of `symbols`, -1 for those never seen."""
        code = self._codes.get
        return np.array([code((type(s), s) if type(s) in PLAIN else _key(s), -1) for s in symbols], np.int64)


def _key(symbol: Symbol) -> Any:
    if isinstance(symbol, tuple):
        return tuple(_key(part) for part in symbol)
    if isinstance(symbol, np.generic):
        symbol = symbol.item()
    if isinstance(symbol, float) and math.isnan(symbol):
        # NaN is not equal to itself, but one and the same object is found again.
        symbol = math.nan
    symbol = plain(symbol)
    # True == 1 == 1.0 in Python; as observations they are three different things.
    return type(symbol), symbol


class Experience:
    """Episodes of observations and the actions between them; appending a step is O(1) amortised.

    `actions[t]` leads from `observations[t]` to `observations[t + 1]`; it is -1 at an episode's last observation.

    >>> walk = Experience.from_episodes([(["hall", "door", "hall"], [1, 0])])
    >>> walk.symbols, walk.observations.tolist(), walk.actions.tolist()
    (['hall', 'door', 'hall'], [0, 1, 0], [1, 0, -1])
    """

    def __init__(self, n_actions: int, *, alphabet: Alphabet | None = None) -> None:
        if n_actions < 1:
            raise InvalidArgumentError(f"n_actions must be at least 1, not {n_actions}")
        self.n_actions = n_actions
        self.alphabet = Alphabet() if alphabet is None else alphabet
        self._observations = np.empty(1024, np.int32)
        self._actions = np.empty(1024, np.int32)
        self._length = 0
        self._starts: list[int] = []
        self._terminated: list[int] = []
        self._triples: Triples | None = None

    @classmethod
    def from_episodes(
        cls,
        episodes: Iterable[tuple[Sequence[Any], ArrayLike | None]],
        *,
        n_actions: int | None = None,
        alphabet: Alphabet | None = None,
    ) -> Experience:
        """Return the experience of (observations, actions) pairs.

        There is one action between each two observations; one more, taken at the last, is ignored, as logs often have
        it. None means that there is only one action, taken throughout.

        >>> Experience.from_episodes([(["hall", "door", "hall"], [1, 0]), ("xyz", None)])
        Experience(2 episodes, 4 steps, 5 symbols)
        """
        walks = [(symbols, check_actions(actions, len(symbols))) for symbols, actions in episodes]
        highest = max((int(actions.max()) for _, actions in walks if actions.size), default=0)
        if n_actions is not None and highest >= n_actions:
            raise InvalidArgumentError(f"actions must be 0 to {n_actions - 1}, not {highest}")
        experience = cls(highest + 1 if n_actions is None else n_actions, alphabet=alphabet)
        for symbols, actions in walks:
            experience.begin(to_symbol(symbols[0]))
            for action, symbol in zip(actions.tolist(), symbols[1:]):
                experience.append(action, to_symbol(symbol))
        return experience

    @classmethod
    def from_flat(
        cls,
        observations: NDArray[np.integer[Any]],
        actions: NDArray[np.integer[Any]],
        *,
        n_actions: int,
        alphabet: Alphabet,
        terminated: Sequence[int] | NDArray[np.integer[Any]] = (),
    ) -> Experience:
        """Return the experience whose flat arrays are these: codes, and actions that are -1 where an episode ends.

        >>> codes, actions = np.array([0, 1, 0, 0]), np.array([0, -1, 0, -1])
        >>> walks = Experience.from_flat(codes, actions, n_actions=1, alphabet=Alphabet(["wall", "door"]))
        >>> walks.n_episodes, walks.symbols
        (2, ['wall', 'door', 'wall', 'wall'])
        """
        experience = cls(n_actions, alphabet=alphabet)
        experience._observations = np.array(observations, np.int32)
        experience._actions = np.array(actions, np.int32)
        experience._length = len(experience._observations)
        ends = np.flatnonzero(experience._actions < 0)
        experience._starts = [0, *(ends[:-1] + 1).tolist()] if len(ends) else []
        experience._terminated = [int(position) for position in terminated]
        return experience

    def begin(self, symbol: Symbol) -> int:
        """Start an episode at `symbol`; return the symbol's code.

        >>> walks = Experience(n_actions=1)
        >>> walks.begin("hall"), walks.begin("door"), walks.begin("hall")
        (0, 1, 0)
        >>> walks.n_episodes
        3
        """
        self._starts.append(self._length)
        return self._push(symbol)

    def append(self, action: int, symbol: Symbol) -> int:
        """Record that `action` led to `symbol`; return the symbol's code.

        >>> walk = Experience(n_actions=2)
        >>> walk.begin("hall"), walk.append(1, "door"), walk.append(0, "hall")
        (0, 1, 0)
        >>> walk.actions.tolist()
        [1, 0, -1]
        """
        if not self._starts:
            raise InvalidArgumentError("an episode must begin before a step can be appended")
        if not 0 <= action < self.n_actions:
            raise InvalidArgumentError(f"action must be 0 to {self.n_actions - 1}, not {action}")
        self._actions[self._length - 1] = action
        return self._push(symbol)

    def _push(self, symbol: Symbol) -> int:
        code = self.alphabet.encode(symbol)
        if self._length == len(self._observations):
            self._observations = np.resize(self._observations, 2 * self._length)
            self._actions = np.resize(self._actions, 2 * self._length)
        self._observations[self._length] = code
        self._actions[self._length] = -1
        self._length += 1
        return code

    def first(self, length: int) -> Experience:
        """Return the experience up to its first `length` observations.

        >>> Experience.from_episodes([("abc", None), ("de", None)]).first(4)
        Experience(2 episodes, 2 steps, 5 symbols)
        """
        length = whole("length", length, at_least=0)
        actions = self.actions[:length].copy()
        actions[-1:] = -1
        kept = [position for position in self._terminated if position < length]
        return Experience.from_flat(
            self.observations[:length],
            actions,
            n_actions=self.n_actions,
            alphabet=Alphabet(self.alphabet.symbols),
            terminated=kept,
        )

    def renamed(self, rename: Callable[[Symbol], Symbol]) -> Experience:
        """Return the same walks with every symbol renamed; two may become one.

        >>> lamps = Experience.from_episodes([(["red lamp", "green lamp", "door"], None)])
        >>> lamps.renamed(lambda symbol: symbol.split()[-1]).symbols
        ['lamp', 'lamp', 'door']
        """
        alphabet = Alphabet()
        codes = np.array([alphabet.encode(rename(symbol)) for symbol in self.alphabet.symbols], np.int32)
        return Experience.from_flat(
            codes[self.observations],
            self.actions,
            n_actions=self.n_actions,
            alphabet=alphabet,
            terminated=self._terminated,
        )

    def terminate(self) -> None:
        """Mark the last observation as one where the environment ended for good, not by a time limit.

        >>> walk = Experience.from_episodes([(["ice", "ice", "hole"], None)])
        >>> walk.terminate()
        >>> walk.terminated.tolist()
        [2]
        """
        if self._length == 0:
            raise InvalidArgumentError("terminate must follow an observation; there is none")
        if self._length - 1 not in self._terminated[-1:]:
            self._terminated.append(self._length - 1)

    @property
    def terminated(self) -> NDArray[np.int64]:
        """Positions at which an episode terminated."""
        return np.array(self._terminated, np.int64)

    @property
    def observations(self) -> NDArray[np.int32]:
        """The code of every observation, episodes end to end."""
        return self._observations[: self._length]

    @property
    def actions(self) -> NDArray[np.int32]:
        """The action taken at every observation, -1 at an episode's last."""
        return self._actions[: self._length]

    @property
    def triples(self) -> Triples:
        """The distinct (action, observation, next observation), found once for as long as nothing more is seen."""
        if self._triples is None or len(self._triples.step) != self._length:
            self._triples = Triples.of_steps(self.observations, self.actions)
        return self._triples

    @property
    def symbols(self) -> list[Symbol]:
        """The symbol of every observation."""
        return [self.alphabet[code] for code in self.observations.tolist()]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each episode begins, and the length of it all."""
        return np.array([*self._starts, self._length], np.int64)

    @property
    def n_episodes(self) -> int:
        """Number of episodes begun."""
        return len(self._starts)

    @property
    def n_steps(self) -> int:
        """Number of actions taken."""
        return self._length - len(self._starts)

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"Experience({self.n_episodes} episodes, {self.n_steps} steps, {len(self.alphabet)} symbols)"


def check_actions(actions: ArrayLike | None, n_observations: int) -> NDArray[np.int64]:
    """Return the actions between the observations of one walk; an action at its last observation is ignored."""
    if n_observations == 0:
        raise InvalidArgumentError("a walk must hold at least one observation; this one is empty")
    steps = n_observations - 1
    taken = np.zeros(steps, np.int64) if actions is None else np.asarray(actions)
    if taken.shape == (n_observations,):
        taken = taken[:-1]
    if taken.shape != (steps,) or (taken.size and not np.issubdtype(taken.dtype, np.integer)):
        raise InvalidArgumentError(
            f"actions must be {steps} whole numbers, one between each two of the {n_observations} observations; "
            f"got shape {taken.shape} of {taken.dtype}"
        )
    if taken.size and taken.min() < 0:
        raise InvalidArgumentError(f"actions must be at least 0, not {taken.min()}")
    return taken.astype(np.int64)
