"""Names that are misspelt, and what was meant by them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def near(name: object, names: Iterable[str]) -> str:
    """Return the question whether a name like it was meant, empty where there is none.

    >>> near("chian", ["chain", "scaling"]), near("x", ["chain"])
    ("; did you mean 'chain'?", '')
    """
    found = get_close_matches(str(name), list(names), n=1)
    return f"; did you mean {found[0]!r}?" if found else ""
