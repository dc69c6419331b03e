"""Environments that a command line names: a world, a Gymnasium id, or a class of the user's."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

import gymnasium

from efex.errors import InvalidArgumentError


def named_environment(name: str, *, seed: int, options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    """Return the environment of that name, made with the options; the seed is a world's."""
    if "seed" in options:
        raise InvalidArgumentError("the seed must be given by --seed, not by --set")
    if ":" in name:
        return _own(name, options)
    if re.search(r"-v\d+$", name):
        registered: gymnasium.Env[Any, Any] = _made(name, gymnasium.make, options, name)
        return registered
    from efex.worlds import make, world_names
    from efex.worlds.registry import near_name

    if name not in world_names():
        raise InvalidArgumentError(
            f"environment must be one of the worlds ({', '.join(world_names())}), a Gymnasium id such as "
            f"FrozenLake-v1, or MODULE:CLASS, not {name!r}.{near_name(name)}"
        )
    return make(name, seed=seed, **options)


def setting(text: str) -> tuple[str, Any]:
    """Return an option of an environment, NAME=VALUE, as its name and value: a number or a truth where it is one.

    >>> setting("size=15"), setting("trap=true"), setting("colour=red")
    (('size', 15), ('trap', True), ('colour', 'red'))
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidArgumentError(f"--set must be NAME=VALUE, not {text!r}")
    known: dict[str, Any] = {"true": True, "false": False, "none": None}
    if value.lower() in known:
        return name, known[value.lower()]
    for convert in (int, float):
        try:
            return name, convert(value)
        except ValueError:
            pass
    return name, value


def _own(name: str, options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    module, _, attribute = name.partition(":")
    sys.path.insert(0, "")
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidArgumentError(
            f"environment {name!r} must name MODULE:CLASS that can be imported: {error}"
        ) from error
    if isinstance(factory, gymnasium.Env):
        if options:
            raise InvalidArgumentError(f"--set must not be given for {name!r}, which is made already; name its class")
        return factory
    env = _made(name, factory, options) if callable(factory) else factory
    if not isinstance(env, gymnasium.Env):
        raise InvalidArgumentError(
            f"environment {name!r} must be MODULE:CLASS of a gymnasium.Env, or what makes one; got {type(env).__name__}"
        )
    return env


def _made(name: str, factory: Any, options: dict[str, Any], *arguments: str) -> Any:
    try:
        return factory(*arguments, **options)
    except (ImportError, AttributeError, TypeError) as error:
        given = "".join(f" --set {option}={value}" for option, value in options.items())
        raise InvalidArgumentError(
            f"environment {name!r} could not be made {f'with{given}' if given else 'without --set'}: {error}"
        ) from error
