"""How much every transition is believed in before it was seen: so much per target, or so much per row."""

from __future__ import annotations

import math
from dataclasses import dataclass

from efex.errors import InvalidArgumentError

PAPER = 2e-3
"""The paper's α, per target state."""


@dataclass(frozen=True)
class PerRow:
    """A pseudocount shared by all targets of a row, so that it weighs the same however many states there are."""

    total: float


Pseudocount = float | PerRow

ROW = PerRow(0.1)
"""What a row's transitions weigh before it was walked: a tenth of one walk, however many states there are."""


def per_target(pseudocount: Pseudocount, n_states: int) -> float:
    """Return the pseudocount of one target state."""
    return pseudocount.total / n_states if isinstance(pseudocount, PerRow) else pseudocount


def positive(name: str, pseudocount: Pseudocount) -> None:
    """Raise InvalidArgumentError unless the pseudocount is a finite number above zero."""
    value = pseudocount.total if isinstance(pseudocount, PerRow) else pseudocount
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InvalidArgumentError(f"{name} must be a number above 0, per target or PerRow, not {pseudocount!r}")
