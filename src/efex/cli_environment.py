"""Environments that a command line names: a world, a Gymnasium id, or a class of the user's."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium

from efex.errors import EfexError, InvalidArgumentError


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
            f"FrozenLake-v1, or MODULE:CLASS or FILE.py:CLASS, not {name!r}{near_name(name)}"
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
    """Return the environment that FILE.py:CLASS or MODULE:CLASS names."""
    place, _, attribute = name.rpartition(":")
    module = _imported(name, place)
    if not hasattr(module, attribute):
        there = [own for own, value in vars(module).items() if _is_environment(value) and value is not gymnasium.Env]
        raise InvalidArgumentError(
            f"environment {name!r} must name what is in {place}, which defines "
            f"{', '.join(there) or 'no gymnasium.Env'}, not {attribute!r}"
        )
    factory = getattr(module, attribute)
    if isinstance(factory, gymnasium.Env):
        if options:
            raise InvalidArgumentError(f"--set must not be given for {name!r}, which is made already; name its class")
        return factory
    makes = _is_environment(factory) or (callable(factory) and not isinstance(factory, type))
    env = _made(name, factory, options) if makes else factory
    if not isinstance(env, gymnasium.Env):
        what = f"the class {env.__name__}" if isinstance(env, type) else type(env).__name__
        raise InvalidArgumentError(
            f"environment {name!r} must be MODULE:CLASS of a gymnasium.Env, or a function that makes one, not {what}; "
            "efex.adapters.from_functions makes one of anything"
        )
    return env


def _is_environment(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, gymnasium.Env)


def _imported(name: str, place: str) -> ModuleType:
    """Return a module, found from here, or what a Python file holds, whose imports are found from where it is."""
    from efex.study.study import load_file

    is_file = place.endswith(".py")
    sys.path.insert(0, str(Path(place).parent) if is_file else "")
    try:
        return load_file(place) if is_file else importlib.import_module(place)
    except Exception as error:
        raise InvalidArgumentError(
            f"environment {name!r} must be MODULE:CLASS or FILE.py:CLASS that can be imported: {_said(error)}"
        ) from error


def _made(name: str, factory: Any, options: dict[str, Any], *arguments: str) -> Any:
    given = "".join(f" --set {option}={value}" for option, value in options.items())
    try:
        return factory(*arguments, **options)
    except TypeError as error:
        how = f"with{given}" if given else "without --set NAME=VALUE"
        raise InvalidArgumentError(f"environment {name!r} could not be made {how}: {error}") from error
    except (EfexError, gymnasium.error.Error):
        raise
    except Exception as error:
        how = f" with{given}" if given else ""
        raise InvalidArgumentError(f"environment {name!r} could not be made{how}: {_said(error)}") from error


def _said(error: Exception) -> str:
    """Return what an error says; one of somebody else's code is looked for there."""
    if isinstance(error, EfexError | ImportError):
        return str(error)
    return f"{type(error).__name__}: {error}; --debug shows where"
