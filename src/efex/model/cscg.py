"""Model: a clone-structured HMM as expected counts on blocks plus a pseudocount for everything else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from efex.errors import ImpossibleObservationError, InvalidArgumentError
from efex.experience import Experience
from efex.kernels import blocks as kernel
from efex.kernels import cpu
from efex.model.blocks import Blocks
from efex.model.layout import CloneLayout


class Decoding(NamedTuple):
    """The likeliest state at every observation, and the log-probability of that path in nats."""

    path: NDArray[np.int64]
    log_probability: float


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Counts C and pseudocount κ; P(j | i, a) = (C[a,i,j] + κ) / (n[a,i] + κ n_states), theory (6).

    Entries outside the blocks have C = 0, so they are all the same number per (action, state): the background.
    """

    blocks: Blocks
    n_actions: int
    counts: NDArray[np.floating]
    starts: NDArray[np.float64]
    pseudocount: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.pseudocount) and self.pseudocount >= 0):
            raise InvalidArgumentError(f"pseudocount must be a number of at least 0, not {self.pseudocount}")
        if not np.isfinite(self.counts.sum() + self.starts.sum()):
            raise InvalidArgumentError("model counts must be finite; these hold NaN or infinity")
        if len(self.counts) != self.blocks.n_entries or len(self.starts) != self.layout.n_states:
            raise InvalidArgumentError("model counts must fit the blocks and the layout")

    @classmethod
    def random(
        cls,
        experience: Experience,
        layout: CloneLayout,
        *,
        pseudocount: float,
        rng: np.random.Generator,
        dtype: DTypeLike = np.float32,
    ) -> Model:
        """Return a model with uniformly random counts on every triple that occurs in `experience`."""
        blocks = Blocks.of_experience(experience, layout)
        counts = rng.random(blocks.n_entries, np.float32).astype(dtype)
        return cls(blocks, experience.n_actions, counts, rng.random(layout.n_states), pseudocount)

    @classmethod
    def empty(cls, experience: Experience, layout: CloneLayout, *, pseudocount: float) -> Model:
        """Return the model that has counted nothing."""
        blocks = Blocks.of_experience(experience, layout)
        counts = np.zeros(blocks.n_entries, np.float32)
        return cls(blocks, experience.n_actions, counts, np.zeros(layout.n_states), pseudocount)

    @property
    def layout(self) -> CloneLayout:
        """Which states show which observation."""
        return self.blocks.layout

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """n[a, i]: the counts out of every (action, state)."""
        return row_totals(self.blocks, self.n_actions, self.counts)

    @cached_property
    def weights(self) -> cpu.Weights:
        """The mean transition probabilities, as the kernels take them."""
        return mean_weights(self.blocks, self.totals, self.counts, self.starts, self.pseudocount)

    def carried(self, experience: Experience, layout: CloneLayout) -> Model:
        """Return the same counts on the blocks of `experience` and a layout that may have grown."""
        blocks = Blocks.of_experience(experience, layout)
        _, moved = self.layout.resized(layout.sizes)
        starts = np.zeros(layout.n_states)
        starts[moved] = self.starts
        return replace(self, blocks=blocks, counts=self.blocks.carry(self.counts, blocks), starts=starts)

    def jittered(self, rng: np.random.Generator) -> Model:
        """Return the model with up to one pseudocount added at random to every stored count.

        Clones that nothing has used yet are alike, and EM keeps alike what starts alike.
        """
        noise = self.pseudocount * rng.random(len(self.counts), np.float32)
        return replace(self, counts=self.counts + noise.astype(self.counts.dtype))

    def uniform_start(self) -> Model:
        """Return the model with every first state equally likely."""
        return replace(self, starts=np.ones(self.layout.n_states))

    def log_likelihood(self, experience: Experience) -> float:
        """Return log P(observations | actions), summed over episodes, in nats."""
        walks = self.blocks.bind(experience)
        _, log_likelihood, failed = cpu.filter_walks(walks, self.weights, cpu.positions(walks, self.weights))
        raise_failed(failed, walks.offsets)
        return float(log_likelihood.sum())

    def filter(self, experience: Experience) -> list[NDArray[np.floating]]:
        """Return, at every observation, P(clone | the episode so far) over the observation's clones."""
        walks = self.blocks.bind(experience)
        at = cpu.positions(walks, self.weights)
        messages, _, failed = cpu.filter_walks(walks, self.weights, at)
        raise_failed(failed, walks.offsets)
        return np.split(messages, at[1:-1])

    def smooth(self, experience: Experience) -> list[NDArray[np.floating]]:
        """Return, at every observation, P(clone | the whole episode) over the observation's clones."""
        walks = self.blocks.bind(experience)
        at = cpu.positions(walks, self.weights)
        forward, backward, _, _, failed = cpu.smooth_walks(walks, self.weights, at)
        raise_failed(failed, walks.offsets)
        both = np.split(forward.astype(np.float64) * backward, at[1:-1])
        return [product / product.sum() for product in both]

    def decode(self, experience: Experience) -> Decoding:
        """Return the likeliest state path of every episode."""
        walks = self.blocks.bind(experience)
        path, score, failed = cpu.decode_walks(walks, self.weights, cpu.positions(walks, self.weights))
        raise_failed(failed, walks.offsets)
        return Decoding(path, float(score.sum()))

    def probabilities(self, action: int, state: int) -> NDArray[np.float64]:
        """Return P(next state | state, action) over all states."""
        w, b, first = self.weights, self.blocks, self.layout.first
        row = np.full(self.layout.n_states, float(w.background[action, state]))
        x = self.layout.observation[state]
        for k in np.flatnonzero((b.action == action) & (b.source == x)):
            width = first[b.target[k] + 1] - first[b.target[k]]
            begin = b.start[k] + (state - first[x]) * width
            row[self.layout.block(b.target[k])] = w.values[begin : begin + width]
        return row

    def sample(
        self, actions: NDArray[np.integer], *, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return a random (observations, states) walk that takes `actions`, one observation longer than them."""
        states = [_draw(self.weights.initial, rng)]
        for action in np.asarray(actions).tolist():
            states.append(_draw(self.probabilities(action, states[-1]), rng))
        path = np.array(states, np.int64)
        return self.layout.observation[path], path


def row_totals(blocks: Blocks, n_actions: int, counts: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return n[a, i]: the counts out of every (action, state)."""
    b, totals = blocks, np.zeros((n_actions, blocks.layout.n_states))
    kernel.row_totals(counts, b.layout.first, b.start, b.action, b.source, b.target, b.groups, totals)
    return totals


def mean_weights(
    blocks: Blocks,
    totals: NDArray[np.float64],
    counts: NDArray[np.floating],
    starts: NDArray[np.float64],
    pseudocount: float,
    *,
    out: NDArray[np.floating] | None = None,
) -> cpu.Weights:
    """Return the mean transition and start probabilities, theory (6); `out` may lend its memory."""
    b, first = blocks, blocks.layout.first
    mass = totals + pseudocount * blocks.layout.n_states
    scale = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
    values = np.empty_like(counts) if out is None else out
    kernel.mean_values(counts, first, b.start, b.action, b.source, b.target, b.groups, pseudocount, scale, values)
    background = (pseudocount * scale).astype(values.dtype)
    return cpu.Weights(first, b.start, values, background, start_probabilities(starts, pseudocount))


def start_probabilities(starts: NDArray[np.float64], pseudocount: float) -> NDArray[np.float64]:
    """Return the mean probability of every state to be an episode's first."""
    mass: NDArray[np.float64] = starts + pseudocount
    return mass / float(mass.sum())


def _draw(probabilities: NDArray[np.floating], rng: np.random.Generator) -> int:
    cumulative = np.cumsum(probabilities, dtype=np.float64)
    if not cumulative[-1] > 0:
        raise InvalidArgumentError("a state with no known transitions cannot be sampled from")
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))


def raise_failed(failed: NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
    """Raise ImpossibleObservationError for the first episode that failed, if any did."""
    bad = np.flatnonzero(failed != cpu.OK)
    if len(bad):
        episode = int(bad[0])
        raise ImpossibleObservationError(episode, int(failed[episode] - offsets[episode]))
