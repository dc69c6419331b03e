"""What an environment calls its actions, if it says so in a way that can be taken."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium

from efex.graph.action_names import is_naming
from efex.symbols import plain


def names_of_actions(env: gymnasium.Env[Any, Any], n_actions: int) -> tuple[str, ...] | None:
    """Return the environment's `action_names`, None where it has none; warn of names that do not fit."""
    names = getattr(getattr(env, "unwrapped", env), "action_names", None)
    if names is None:
        return None
    if is_naming(names, n_actions):
        return tuple(map(plain, names))
    wanted = "one text" if n_actions == 1 else f"{n_actions} different texts"
    warnings.warn(
        f"the environment's action_names must be a list of {wanted}, one for each action, "
        f"not {_came(names, n_actions)}; actions are called by their numbers",
        stacklevel=4,
    )
    return None


def _came(names: Any, n_actions: int) -> str:
    """Return what there is instead of names that fit."""
    if not isinstance(names, Sequence) or isinstance(names, str):
        return f"the {type(names).__name__} {' '.join(reprlib.repr(names).split())}"
    if len(names) != n_actions:
        return f"{len(names)}: {reprlib.repr(names)}"
    twice = [name for name in names if names.count(name) > 1]
    return f"{reprlib.repr(twice[0])} more than once" if twice else reprlib.repr(names)
