"""An environment made of plain functions: for whatever has no Gymnasium environment."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from efex.adapters.environment import action_mask, something
from efex.checks import function, takes, whole
from efex.errors import EfexError, InvalidArgumentError
from efex.graph.action_names import check_action_names

ANSWERS = "an observation, (observation, done) or (observation, reward, terminated, truncated, info)"


def from_functions(
    reset: Callable[[], Any] | None,
    step: Callable[[Any], Any],
    actions: int | Sequence[Any],
    *,
    mask: Callable[[], Any] | None = None,
) -> FunctionEnvironment:
    """Return the Gymnasium environment that these functions make up, for `efex.explore`.

    `reset()` begins an episode and returns its first observation. `step(action)` returns an observation, or
    (observation, done), or what a Gymnasium step returns. A tuple is always one of those: an observation that is a
    tuple itself is returned as (observation, False), or as a list. None is no observation but a `return` forgotten.
    `actions` says what step is given: a number of actions, 0, 1, 2, ..., or a list of values. Where all of them are
    texts, they are the names of the actions on the map too. `mask()`, if given, returns those of them that are
    available now, or a truth value for each.

    `reset=None` is for what cannot be reset: it never ends, the first action is taken once to see something, and an
    episode that is cut goes on where it is. Functions know nothing of a seed; what is random in them stays random.

    >>> import efex
    >>> place = [0]
    >>> def go(way):
    ...     place[0] = (place[0] + {"left": -1, "right": 1}[way]) % 5
    ...     return "door" if place[0] == 0 else "wall"
    >>> ring = from_functions(None, go, ["left", "right"])
    >>> run = efex.explore(ring, steps=300, progress=False)
    >>> run.graph.merge_equivalent().n_nodes, run.graph.action_names
    (5, ('left', 'right'))
    """
    return FunctionEnvironment(reset, step, actions, mask=mask)


class FunctionEnvironment(gymnasium.Env[Any, Any]):
    """Plain functions behind Gymnasium's interface; `actions` holds what each action passes to `step`.

    >>> env = FunctionEnvironment(lambda: "start", lambda way: f"went {way}", ["left", "right"])
    >>> env.reset()[0], env.step(1)[0]
    ('start', 'went right')
    """

    def __init__(
        self,
        reset: Callable[[], Any] | None,
        step: Callable[[Any], Any],
        actions: int | Sequence[Any],
        *,
        mask: Callable[[], Any] | None = None,
    ) -> None:
        if not callable(step):
            raise InvalidArgumentError(f"step must be a function, not {step!r}")
        self.actions = _actions(actions)
        if not takes(step, self.actions[0]):
            raise InvalidArgumentError(
                f"step must be a function of the action, step(action), not step{inspect.signature(step)}"
            )
        named = all(isinstance(action, str) for action in self.actions)
        self.action_names = check_action_names(self.actions if named else None, len(self.actions), argument="actions")
        self.action_space = gymnasium.spaces.Discrete(len(self.actions))
        # Observations of any kind; wrappers ask for a space, efex does not.
        self.observation_space = gymnasium.Space()
        self._reset, self._step, self._available = _alone("reset", reset), step, _alone("mask", mask)
        self._last: tuple[Any] | None = None
        self._ended = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the functions know nothing of a seed."""
        if self._reset is None:
            return self._go_on(), self._info({})
        result = _noting("reset()", self._reset)
        self._ended = False
        if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], Mapping):
            return result[0], self._info(result[1])
        if _is_with_end(result):
            raise InvalidArgumentError(
                f"reset() must return an observation, not {result!r}, which as the answer of step() would be "
                "(observation, done); return the observation alone, as a list where it is such a pair itself"
            )
        return something("reset()", result), self._info({})

    def _go_on(self) -> Any:
        """Return what is to be seen where nothing can be reset: what was seen last, or what the first action shows."""
        if self._last is None:
            allowed = self._info({}).get("action_mask", [True])
            self.step(int(np.argmax(allowed)))
        if self._ended or self._last is None:
            raise EfexError("step() said that the episode is done and there is no reset= to begin another; pass one")
        return self._last[0]

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take the action of this number: pass what it stands for to the function."""
        chosen = self.actions[int(action)]
        asked = f"step({chosen!r})"
        result = _noting(asked, self._step, chosen)
        observation, reward, terminated, truncated, info = _five(asked, result)
        self._last, self._ended = (observation,), terminated
        over = terminated or truncated
        return observation, reward, terminated, truncated, dict(info) if over else self._info(info)

    def _info(self, info: Mapping[str, Any]) -> dict[str, Any]:
        """Return `info` with the actions that are available."""
        if self._available is None:
            return dict(info)
        return {**info, "action_mask": self._mask(_noting("mask()", self._available))}

    def _mask(self, available: Any) -> NDArray[np.bool_]:
        given = list(available) if np.iterable(available) and not isinstance(available, str | bytes) else None
        if given is None:
            raise InvalidArgumentError(
                f"mask() must return the available actions, or True or False for each, not {available!r}"
            )
        n, has_truths = len(self.actions), any(isinstance(action, bool) for action in self.actions)
        if all(isinstance(flag, bool | np.bool_) for flag in given) and (len(given) in (0, n) or not has_truths):
            return action_mask("mask()", given or [False] * n, n)
        unknown = [action for action in given if action not in self.actions]
        if unknown:
            raise InvalidArgumentError(f"mask() must return some of {list(self.actions)}, not {unknown[0]!r}")
        return np.array([action in given for action in self.actions])


def _alone(name: str, asked: Any) -> Callable[[], Any] | None:
    """Return a function that takes nothing, or None."""
    if function(name, asked) is not None and not takes(asked):
        raise InvalidArgumentError(f"{name} must be a function without arguments, not {name}{inspect.signature(asked)}")
    return asked  # type: ignore[no-any-return]


def _actions(actions: Any) -> tuple[Any, ...]:
    if isinstance(actions, Sequence | np.ndarray) and not isinstance(actions, str | bytes) and len(actions):
        return tuple(actions)
    if np.ndim(actions) == 0 and not isinstance(actions, str | bytes):
        return tuple(range(whole("actions", actions, at_least=1)))
    raise InvalidArgumentError(f"actions must be a number of actions, or a list of at least one, not {actions!r}")


def _noting(asked: str, asking: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the function answers; an error of its own says what it was asked."""
    try:
        return asking(*arguments)
    except Exception as error:
        error.add_note(f"raised by {asked}, a function that efex.adapters.from_functions was given")
        raise


def _is_with_end(result: Any) -> bool:
    """Return whether this is (observation, done)."""
    return isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], bool | np.bool_)


def _five(asked: str, result: Any) -> tuple[Any, float, bool, bool, Mapping[str, Any]]:
    """Return the answer of a step as Gymnasium has it."""
    if not isinstance(result, tuple):
        return something(asked, result), 0.0, False, False, {}
    if _is_with_end(result):
        return something(asked, result[0]), 0.0, bool(result[1]), False, {}
    if len(result) == 5 and all(isinstance(flag, bool | np.bool_) for flag in result[2:4]):
        observation, reward, terminated, truncated, info = result
        if isinstance(info, Mapping):
            return observation, reward, bool(terminated), bool(truncated), info
    raise InvalidArgumentError(
        f"{asked} must return {ANSWERS}, not {result!r}; an observation that is a tuple goes into (observation, False)"
    )
