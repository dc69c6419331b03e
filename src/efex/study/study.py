"""Study: cases, and what to draw of them."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from efex.errors import EfexError, InvalidArgumentError
from efex.near import near
from efex.study.case import Case

if TYPE_CHECKING:
    from efex.study.results import Results


@dataclass(frozen=True)
class Study:
    """A set of cases and a function that writes figures and tables of their results into a folder.

    `report` returns the Markdown that shows them; it is given results alone, and runs nothing. `play` is the module's
    function that plays a case where `efex.study.play` does not measure what the study is about; as results are stored
    by case, its cases must be no other study's.
    """

    name: str
    title: str
    cases: tuple[Case, ...]
    report: Callable[[Results, Path], str]
    play: Callable[[Case], dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        ids = [case.id for case in self.cases]
        if len(set(ids)) < len(ids):
            twice = next(i for i in ids if ids.count(i) > 1)
            raise InvalidArgumentError(f"study {self.name!r} holds a case twice: {twice}")

    def only(self, texts: Iterable[str]) -> Study:
        """Return the study of those cases alone whose ids hold every one of the texts."""
        texts = list(texts)
        cases = tuple(case for case in self.cases if all(text in case.id for text in texts))
        if not cases:
            raise InvalidArgumentError(
                f"no case of study {self.name!r} holds {' and '.join(map(repr, texts))}; "
                f"they look like {self.cases[0].id!r}"
            )
        return replace(self, cases=cases)


@dataclass(frozen=True)
class FromFile:
    """A function of a Python file; workers, which cannot import the file, load it."""

    path: str
    name: str

    def __call__(self, case: Case) -> dict[str, Any]:
        """Return what the function makes of a case."""
        play = getattr(load_file(self.path), self.name, None)
        if play is None:
            raise InvalidArgumentError(f"{self.path} must define {self.name} by itself, not inside of something else")
        return cast("dict[str, Any]", play(case))


def load_study(name: str) -> Study:
    """Return the study of that name, or the one called `study` in a Python file."""
    from efex.study.catalogue import STUDIES

    if name in STUDIES:
        return STUDIES[name]()
    if not name.endswith(".py"):
        raise InvalidArgumentError(
            f"a study must be one of {', '.join(STUDIES)}, or a Python file, not {name!r}{near(name, STUDIES)}"
        )
    module = load_file(name)
    found = getattr(module, "study", None)
    if not isinstance(found, Study):
        raise InvalidArgumentError(f"{name} must define `study`, an efex.study.Study")
    if found.play is None or found.play.__module__ != module.__name__:
        return found
    return replace(found, play=FromFile(str(Path(name).resolve()), found.play.__qualname__))


def load_file(path: str) -> ModuleType:
    """Return the module that a Python file holds; where it raises, say in which line."""
    if not Path(path).is_file():
        raise InvalidArgumentError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(f"efex_study_{Path(path).stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[spec.name]
        raise InvalidArgumentError(_where_and_what(error, path, str(spec.origin))) from error
    return module


def _where_and_what(error: Exception, path: str, file: str) -> str:
    """Return the last line of the file that an error came by, and what it says."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    message = str(error) if isinstance(error, EfexError) else f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename == file:
        lines, message = [error.lineno], f"{type(error).__name__}: {error.msg}"
    return f"{path}, line {lines[-1]}: {message}" if lines else f"{path}: {message}"
