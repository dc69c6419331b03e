"""What the closed form saves: the information gain against the estimate from sampled models that MAX uses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from efex.bench.measuring import Line, best_time
from efex.model.pseudocount import PAPER
from efex.utility import information_gain

ROWS, STATES = 200, 441


def lines() -> Iterator[Line]:
    """Yield the cost of sampled estimates, as multiples of the closed form's, with the error they have."""
    rng = np.random.default_rng(0)
    rows = _rows(rng)
    exact = information_gain(rows)
    closed = best_time(lambda: information_gain(rows))
    last = np.inf
    for models in (3, 32, 320, 3_200):
        errors = np.concatenate([sampled_gain(row, models, rng) / gain - 1 for row, gain in zip(rows, exact)])
        seconds = ROWS * best_time(lambda n=models: sampled_gain(rows[0], n, rng), repeats=3)  # type: ignore[misc]
        error, bias = float(np.sqrt(np.mean(errors**2))), float(errors.mean())
        check = f"off by {error:.1%} (bias {bias:+.1%})"
        what, cost = f"utility from {models:,} sampled models", seconds / closed
        yield Line(what, cost, "closed forms", None, check, error < last)
        last = error
    # What is left is bias, which falls as one over the number of models.
    yield Line("the same to within 1 %, extrapolated", cost * error / 0.01, "closed forms", None, check, error < 0.05)


def sampled_gain(row: NDArray[np.float64], models: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the Jensen-Shannon divergence of so many rows drawn from the belief: an estimate of the gain."""
    drawn = rng.dirichlet(row, size=models)
    return np.atleast_1d(_entropy(drawn.mean(axis=0)) - _entropy(drawn).mean())


def _entropy(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(-(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1))


def _rows(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return concentrations as exploration meets them: one to three targets, seen one to twenty times."""
    rows = np.full((ROWS, STATES), PAPER)
    for row in rows:
        targets = rng.integers(0, STATES, rng.integers(1, 4))
        np.add.at(row, rng.choice(targets, rng.integers(1, 21)), 1.0)
    return rows
