"""How many clones each observation gets: a number, a mapping, or grown with the evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.model.layout import CloneLayout
from efex.symbols import Symbol

Clones = int | Mapping[Symbol, int]
ClonePolicy = Clones | Literal["auto"]


class Allocation(ABC):
    """Decides the clone layout of an experience, now and after a fit."""

    @abstractmethod
    def first(self, experience: Experience) -> CloneLayout:
        """Return the layout for every symbol in the experience's alphabet before a fit has said anything."""

    def grown(self, layout: CloneLayout, path: NDArray[np.int64], experience: Experience) -> CloneLayout:
        """Return the layout for the next fit, given the states that this one's decoding used."""
        return layout

    def widened(self, layout: CloneLayout, wanted: Sequence[int], experience: Experience) -> CloneLayout:
        """Return the layout with as many clones as are `wanted`, as far as there may be."""
        return layout

    def extended(self, layout: CloneLayout, experience: Experience) -> CloneLayout:
        """Return the layout with clones for symbols that were not known when it was made."""
        return CloneLayout(layout.sizes + self.first(experience).sizes[layout.n_observations :])


@dataclass(frozen=True)
class Fixed(Allocation):
    """The clones that were asked for."""

    clones: Clones

    def __post_init__(self) -> None:
        sizes = self.clones.values() if isinstance(self.clones, Mapping) else (self.clones,)
        for size in sizes:
            whole("clones", size, at_least=1)

    def first(self, experience: Experience) -> CloneLayout:
        """Return the clones that were asked for."""
        return layout_for(experience, self.clones)


@dataclass(frozen=True)
class Growing(Allocation):
    """A few clones at first; an observation that uses more than half of its clones gets twice as many, up to a limit.

    So there are clones to spare for places that turn out to be two.
    """

    initial: int = 4
    most: Clones | None = None

    def __post_init__(self) -> None:
        if self.most is not None:
            Fixed(self.most)

    def first(self, experience: Experience) -> CloneLayout:
        """Return a few clones for every symbol."""
        return self._limited(layout_for(experience, self.initial), experience)

    def grown(self, layout: CloneLayout, path: NDArray[np.int64], experience: Experience) -> CloneLayout:
        """Return the layout in which every observation has clones to spare."""
        used = np.bincount(layout.observation[np.unique(path)], minlength=layout.n_observations)
        sizes = np.asarray(layout.sizes)
        larger = CloneLayout(tuple(np.where(2 * used > sizes, 2 * sizes, sizes).tolist()))
        return self._limited(larger, experience)

    def widened(self, layout: CloneLayout, wanted: Sequence[int], experience: Experience) -> CloneLayout:
        """Return the layout with as many clones as are wanted, up to the limit."""
        return self._limited(CloneLayout(tuple(map(max, layout.sizes, wanted))), experience) if wanted else layout

    def _limited(self, layout: CloneLayout, experience: Experience) -> CloneLayout:
        if self.most is None:
            return layout
        most = layout_for(experience, self.most).sizes[: layout.n_observations]
        return CloneLayout(tuple(map(min, layout.sizes, most)))


def layout_for(experience: Experience, clones: Clones) -> CloneLayout:
    """Return the layout that gives every symbol of the experience's alphabet its clones."""
    symbols = experience.alphabet.symbols
    if isinstance(clones, Mapping):
        missing = [symbol for symbol in symbols if symbol not in clones]
        if missing:
            raise InvalidArgumentError(f"clones must name every observation; {missing[0]!r} is missing")
        sizes = [clones[symbol] for symbol in symbols]
    else:
        sizes = [clones] * len(symbols)
    return CloneLayout(tuple(int(size) for size in sizes))


def allocation_for(clones: ClonePolicy) -> Allocation:
    """Return the allocation that `clones` asks for."""
    if isinstance(clones, str):
        if clones != "auto":
            raise InvalidArgumentError(f'clones must be "auto", a number or a mapping, not {clones!r}')
        return Growing()
    return Fixed(clones)
