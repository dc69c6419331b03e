"""What actions are called: one word or more each, where somebody gave them names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.symbols import plain

if TYPE_CHECKING:
    from efex.graph.latent import LatentGraph


def is_naming(names: Any, n_actions: int) -> TypeGuard[Sequence[str]]:
    """Return whether these are different texts, one for each action."""
    return (
        isinstance(names, Sequence)
        and not isinstance(names, str)
        and len(names) == n_actions
        and all(isinstance(name, str) and name.strip() for name in names)
        and len(set(names)) == n_actions
    )


def check_action_names(names: Any, n_actions: int, *, argument: str = "action_names") -> tuple[str, ...] | None:
    """Return the names as a tuple, None if there are none, or say what they must be."""
    if names is None:
        return None
    if not is_naming(names, n_actions):
        raise InvalidArgumentError(f"{argument} must be {n_actions} different names, not {names!r}")
    return tuple(map(plain, names))


def action_text(graph: LatentGraph, action: int) -> str:
    """Return the name of an action, its number where it has none."""
    return str(action) if graph.action_names is None else graph.action_names[action]


def action_number(graph: LatentGraph, action: int | str) -> int:
    """Return the number of an action that is given by its number or its name."""
    names = graph.action_names or ()
    if isinstance(action, str) and action in names:
        return names.index(action)
    known = f"0 to {graph.n_actions - 1}" + (f" or one of {', '.join(names)}" if names else "")
    if isinstance(action, str) or whole("action", action, at_least=0) >= graph.n_actions:
        raise InvalidArgumentError(f"action must be {known}, not {action!r}")
    return int(action)


def action_numbers(graph: LatentGraph, actions: Any) -> ArrayLike:
    """Return the numbers of the actions of a walk, some of which may be given by name; what holds no name is kept."""
    given = actions.tolist() if isinstance(actions, np.ndarray) and actions.dtype.kind in "UO" else actions
    if not isinstance(given, Sequence) or not any(isinstance(action, str) for action in given):
        return actions  # type: ignore[no-any-return]
    return [action_number(graph, action) if isinstance(action, str) else action for action in given]


def matching_numbers(names: Sequence[str] | None, theirs: Sequence[str] | None, *, n_actions: int) -> list[int]:
    """Return the environment's number of every action of the map: by its name, where both have the same names.

    >>> matching_numbers(("left", "press", "right"), ("left", "right", "press"), n_actions=3)
    [0, 2, 1]
    """
    if names is None or theirs is None or sorted(names) != sorted(theirs):
        return list(range(n_actions))
    return [list(theirs).index(name) for name in names]
