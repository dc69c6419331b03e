"""The words of a command line: errors that speak of a function's arguments, said of the options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

PHRASES = {
    'None, "complete" or a function of the agent': '"complete"',
    "; pass a function of the agent": "",
    "; give that, another folder, or": "; give that, another --out, or",
    "; give another folder, or": "; give another --out, or",
    "a number or a mapping;": "a number;",
    "efex.explore(..., folder=, resume=True)": "efex explore ENVIRONMENT --out FOLDER --resume",
}
"""What a function takes and a command line cannot give, and what is left of it."""

KINDS = {"valid integer": "a whole number", "valid number": "a number", "valid float": "a number"}
"""What an option must be, by what parsers call it."""


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Return an error's message with options in place of the arguments that have one.

    >>> options = {"held_out": "--held-out", "resume": "--resume"}
    >>> in_options("held_out must be a share; use held_out=0", options)
    '--held-out must be a share; use --held-out 0'
    >>> in_options("resume=True must be right; give resume=False", options)
    '--resume must be right; give no --resume'
    >>> in_options("no case holds 'x'; they look like 'walk held_out=3'", options)
    "no case holds 'x'; they look like 'walk held_out=3'"
    """
    for phrase, left in PHRASES.items():
        message = message.replace(phrase, left)
    names = "|".join(map(re.escape, options))
    # Many arguments are plain words as well: only where one is the subject is it meant.
    subject = rf"^(?:{names})(?= (?:must|counts)\b)|(?<=: )(?:{names})(?= must\b)|(?<=\bits )(?:{names})(?= was\b)"
    message = re.sub(subject, lambda found: options[found[0]], message)
    given = rf"""(?<!['"\w])(?<!--set )({names})=("[^"]*"|\w+(?:\.\w+)?)?"""
    # What is quoted is not said of an argument; the id of a case, say.
    parts = re.split(r"('[^']*')", message)
    parts[::2] = [re.sub(given, lambda found: _given(options[found[1]], found[2]), part) for part in parts[::2]]
    return "".join(parts)


def wrong_value(error: Any, arguments: Sequence[str]) -> str:
    """Return what to say of arguments that cannot be parsed; of a value of the wrong kind, also what came."""
    said = str(error.format_message())
    options = getattr(getattr(error, "param", None), "opts", [])
    came = [
        argument.partition("=")[2] if "=" in argument else following
        for argument, following in zip(arguments, [*arguments[1:], ""])
        if argument.partition("=")[0] in options
    ]
    kind = next((kind for word, kind in KINDS.items() if word in said), None)
    return said if kind is None or not came else f"{options[0]} must be {kind}, not {came[-1]!r}"


def _given(option: str, value: str | None) -> str:
    if value == "False":
        return f"no {option}"
    return option if value in (None, "True") else f"{option} {value}".replace('"', "")
