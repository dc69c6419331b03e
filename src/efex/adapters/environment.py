"""AgentView: a Gymnasium environment reduced to what an agent may know of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from efex.adapters.naming import names_of_actions
from efex.adapters.watching import Watch
from efex.checks import function, takes, whole
from efex.errors import InvalidArgumentError
from efex.symbols import Symbol, to_symbol


class Moment(NamedTuple):
    """What one reset or step showed: the observation, its symbol, the available actions, how the episode stands."""

    observation: Any
    symbol: Symbol
    mask: NDArray[np.bool_] | None
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class AgentView:
    """Any Gymnasium environment with a Discrete action space, its observations turned into symbols.

    `observe` turns a raw observation into a symbol of the caller's choice. `episode_steps` cuts episodes that
    the environment does not end. Actions are counted from 0, whatever the first action of the space is.

    >>> import efex
    >>> view = AgentView(efex.make("chain", length=3), observe=lambda node: "end" if node != 1 else "middle")
    >>> view.reset().symbol, view.step(0).symbol
    ('middle', 'end')
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        observe: Callable[[Any], Any] | None = None,
        episode_steps: int | None = None,
    ) -> None:
        if isinstance(env, str | type):
            raise InvalidArgumentError(
                f"env must be an environment, not {env!r}; make it first, by efex.make, gymnasium.make or its class"
            )
        space = getattr(env, "action_space", None)
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise InvalidArgumentError(
                f"the environment must have a Discrete action space, not {space if space is not None else type(env)}; "
                "wrap it so that actions are 0, 1, 2, ..."
            )
        if episode_steps is not None:
            episode_steps = whole("episode_steps", episode_steps, at_least=1)
        self._env = env
        self._observe = function("observe", observe)
        self._first_action = int(space.start)
        self._episode_steps = episode_steps
        self._watch = Watch(observed=observe is not None)
        self._steps = 0
        self.n_actions = int(space.n)
        self.action_names = names_of_actions(env, self.n_actions)
        """What the environment calls its actions, None where it has no names that fit."""

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The observations that the environment declares, empty where it does not list them."""
        space = getattr(self._env, "observation_space", None)
        if self._observe is None and isinstance(space, gymnasium.spaces.Discrete):
            return tuple(range(int(space.start), int(space.start) + int(space.n)))
        return ()

    def symbol(self, observation: Any) -> Symbol:
        """Return a raw observation as the agent is shown it.

        >>> import efex
        >>> AgentView(efex.make("chain"), observe=lambda node: node // 10).symbol(42)
        4
        """
        if self._observe is None:
            symbol, who = to_symbol(something("the environment", observation)), "the environment"
            remedy = "pass observe= to turn each one into a symbol"
        else:
            symbol, who = to_symbol(self._observe(observation)), "observe"
            remedy = "let it return None or a word where there is no number"
        if _holds_nan(symbol):
            raise InvalidArgumentError(f"observations must not hold NaN, which {who} returned: {symbol!r}; {remedy}")
        return symbol

    def _shows(self, observation: Any) -> Symbol:
        symbol = self.symbol(observation)
        self._watch.see(symbol)
        return symbol

    def reset(self, *, seed: int | None = None) -> Moment:
        """Begin an episode."""
        observation, info = _values("reset", _reset(self._env, seed), ("observation", "info"))
        self._steps = 0
        return Moment(observation, self._shows(observation), self._mask(info), False, False, info)

    def step(self, action: int) -> Moment:
        """Take an action."""
        names = ("observation", "reward", "terminated", "truncated", "info")
        result = _values("step", self._env.step(self._first_action + action), names)
        observation, _, terminated, truncated, info = result
        for name, flag in (("terminated", terminated), ("truncated", truncated)):
            if not isinstance(flag, bool | np.bool_ | int):
                raise InvalidArgumentError(f"the environment's step() must say {name} by True or False, not {flag!r}")
        self._steps += 1
        cut = bool(truncated) or (self._episode_steps is not None and self._steps >= self._episode_steps)
        # Where an episode ends no action is asked for, and many environments then allow none.
        mask = None if terminated or cut else self._mask(info)
        return Moment(observation, self._shows(observation), mask, bool(terminated), cut, info)

    def _mask(self, info: dict[str, Any]) -> NDArray[np.bool_] | None:
        mask = info.get("action_mask")
        return None if mask is None else action_mask('info["action_mask"]', mask, self.n_actions)


def _reset(env: Any, seed: int | None) -> Any:
    """Return what the environment's reset answers; one that does not take what Gymnasium's takes is told so."""
    try:
        return env.reset(seed=seed)
    except TypeError as error:
        inner, given = env, {"seed": seed}
        while takes(inner.reset, **given) and isinstance(inner, gymnasium.Wrapper):
            # A wrapper passes both on.
            inner, given = inner.env, {"seed": seed, "options": None}
        if takes(inner.reset, **given):
            raise
        raise InvalidArgumentError(
            f"reset() of {type(inner).__name__} must accept the keywords seed and options, as Gymnasium's does, "
            f"and takes {', '.join(inspect.signature(inner.reset).parameters) or 'nothing'}; "
            "add them, with None for a default"
        ) from error


def action_mask(name: str, mask: Any, n_actions: int) -> NDArray[np.bool_]:
    """Return a mask as truth values, one for each action, of which at least one is available."""
    given = np.asarray(mask)
    if given.shape != (n_actions,) or not np.isin(given, (0, 1)).all():
        raise InvalidArgumentError(f"{name} must be True or False for each of {n_actions} actions; got {mask!r}")
    if not given.any():
        raise InvalidArgumentError(f"{name} must allow at least one of {n_actions} actions; got {mask!r}")
    return given.astype(bool)


def _values(method: str, result: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return what the environment answered if it is a tuple of as many values as Gymnasium asks for."""
    if not isinstance(result, tuple) or len(result) != len(names):
        came = f"{len(result)} values" if isinstance(result, tuple) else type(result).__name__
        raise InvalidArgumentError(f"the environment's {method}() must return ({', '.join(names)}), not {came}")
    if not isinstance(result[-1], Mapping):
        raise InvalidArgumentError(
            f"the environment's {method}() must return info as a dict, not {type(result[-1]).__name__}; {{}} will do"
        )
    return result


def something(who: str, observation: Any) -> Any:
    """Return the observation if there is one."""
    if observation is None:
        raise InvalidArgumentError(
            f'{who} returned None for an observation: is a return missing? If nothing is seen, "nothing" will do'
        )
    return observation


def _holds_nan(symbol: Symbol) -> bool:
    """Return whether a symbol is NaN, or a tuple that holds it."""
    return any(map(_holds_nan, symbol)) if isinstance(symbol, tuple) else symbol != symbol
