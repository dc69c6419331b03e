"""Study: cases, and what to draw of them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from efex.errors import InvalidArgumentError
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


def load_study(name: str) -> Study:
    """Return the study of that name, or the one called `study` in a Python file."""
    from efex.study.catalogue import STUDIES

    if name in STUDIES:
        return STUDIES[name]()
    if not name.endswith(".py"):
        raise InvalidArgumentError(f"a study must be one of {', '.join(STUDIES)}, or a Python file, not {name!r}")
    found = getattr(load_file(name), "study", None)
    if not isinstance(found, Study):
        raise InvalidArgumentError(f"{name} must define `study`, an efex.study.Study")
    return found


def load_file(path: str) -> ModuleType:
    """Return the module that a Python file holds."""
    if not Path(path).is_file():
        raise InvalidArgumentError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(f"efex_study_{Path(path).stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
