"""Agent: the ask/tell interface. An agent records what it sees, chooses actions, and says what map it recovered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.errors import EfexError
from efex.experience import Alphabet, Experience
from efex.model.cscg import Model
from efex.symbols import Symbol

Mask = NDArray[np.bool_]


class Recovery(NamedTuple):
    """What an agent knows of the map: a model and the state at every observation.

    Where there is a belief, also max_a u(z, a) of every state, which (state, action) pairs cannot be tried, and
    Σ_a u(z, a): what one more try of everything at a state is expected to teach, in nats. Where some of the map was
    known before, also that, between states on the path: rows of (state, action, state, how many walks it counts as).
    Where an agent foresees what untried actions do, also that: rows of (state, action, state), on the path or not.
    """

    model: Model
    path: NDArray[np.int64]
    utility: NDArray[np.float64] | None = None
    closed: NDArray[np.bool_] | None = None
    information: NDArray[np.float64] | None = None
    carried: NDArray[np.int64] | None = None
    foreseen: NDArray[np.int64] | None = None


class Agent(ABC):
    """Ask/tell: `begin` and `act` take what is seen and return an action, `end` takes an episode's last observation.

    A subclass says what to do at its moments: `started`, `moved`, `choose`, `finished`, and `recover`.

    >>> import efex
    >>> agent = efex.agents.RandomAgent()
    >>> agent.prepare(2, rng=np.random.default_rng(0))
    >>> first, second = agent.begin("hall"), agent.act("door")
    >>> agent.end("hall")
    >>> agent.experience.symbols, agent.experience.actions.tolist() == [first, second, -1]
    (['hall', 'door', 'hall'], True)
    """

    action_names: tuple[str, ...] | None = None
    """What the environment calls its actions; `explore` says so before `prepare`, None where they have no names."""
    experience: Experience
    rng: np.random.Generator
    masks: dict[int, Mask]
    """The actions available at a position of the experience, where not all were."""
    pending: int | None
    """The action that was chosen and whose outcome was not told yet; None between episodes."""
    is_whole: bool
    """Whether the agent is done with what it was last told: not while it thinks, nor after that failed."""

    def prepare(self, n_actions: int, *, rng: np.random.Generator, symbols: Iterable[Symbol] = ()) -> None:
        """Get ready for an environment with these actions, and these observations if they are declared."""
        self.experience = Experience(n_actions, alphabet=Alphabet(symbols))
        self.rng = rng
        self.masks: dict[int, Mask] = {}
        self.pending: int | None = None
        self.is_whole = True

    def begin(self, observation: Symbol, mask: Mask | None = None) -> int:
        """Start an episode at `observation`; return the first action."""
        self.is_whole = False
        self.experience.begin(observation)
        self.started()
        return self._ask(mask)

    def act(self, observation: Symbol, mask: Mask | None = None) -> int:
        """Take in what the last action led to; return the next action."""
        self._tell(observation)
        return self._ask(mask)

    def end(self, observation: Symbol, *, terminated: bool = False) -> None:
        """Take in the episode's last observation; `terminated` says that the environment ended there for good."""
        self._tell(observation, terminated=terminated)
        self._finish()

    def leave(self) -> None:
        """End the episode at the observation told last: what was chosen there is never done.

        >>> import efex
        >>> agent = efex.agents.RandomAgent()
        >>> agent.prepare(2, rng=np.random.default_rng(0))
        >>> action = agent.begin("hall")
        >>> agent.leave()
        >>> agent.experience
        Experience(1 episodes, 0 steps, 1 symbols)
        """
        self.is_whole = False
        self._finish()

    def _finish(self) -> None:
        self.pending = None
        self.finished()
        self.is_whole = True

    def _tell(self, observation: Symbol, *, terminated: bool = False) -> None:
        if self.pending is None:
            raise EfexError("act and end must follow begin; begin an episode first")
        self.is_whole = False
        self.experience.append(self.pending, observation)
        if terminated:
            self.experience.terminate()
        self.moved()

    def _ask(self, mask: Mask | None) -> int:
        if mask is not None and mask.all():
            mask = None
        if mask is not None:
            self.masks[len(self.experience) - 1] = mask
        self.pending = self.choose(mask)
        self.is_whole = True
        return self.pending

    def started(self) -> None:  # noqa: B027, an agent need not do anything here
        """An episode has begun; its first observation is recorded."""

    def moved(self) -> None:  # noqa: B027
        """A step was taken; the action and its observation are recorded."""

    def finished(self) -> None:  # noqa: B027
        """An episode is over; its last observation is recorded."""

    @abstractmethod
    def choose(self, mask: Mask | None) -> int:
        """Return the next action, one that the mask allows."""

    @abstractmethod
    def recover(self) -> Recovery:
        """Return what is known of the map now."""

    def random_action(self, mask: Mask | None) -> int:
        """Return a uniformly random action, one that the mask allows.

        >>> import efex
        >>> agent = efex.agents.RandomAgent()
        >>> agent.prepare(3, rng=np.random.default_rng(0))
        >>> agent.random_action(np.array([False, True, False]))
        1
        """
        if mask is None:
            return int(self.rng.integers(self.experience.n_actions))
        return int(self.rng.choice(np.flatnonzero(mask)))

    @property
    def status(self) -> dict[str, float]:
        """A few numbers for a progress display, by name."""
        return {}
