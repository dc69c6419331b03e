"""Viterbi training: the counts of the likeliest path become the next counts, so transitions get exactly sparse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.kernels.blocks import count_path
from efex.model.cscg import Model
from efex.model.em import Training


def viterbi_training(model: Model, experience: Experience, *, iterations: int = 10) -> Training:
    """Return the model whose counts are those of its own likeliest path, iterated until the path stays, theory (8)."""
    objective: list[float] = []
    path = np.zeros(0, np.int64)
    for _ in range(iterations):
        decoding = model.decode(experience)
        objective.append(decoding.log_probability)
        if np.array_equal(decoding.path, path):
            break
        path = decoding.path
        model = from_path(model, experience, path)
    return Training(model, objective)


def from_path(model: Model, experience: Experience, path: NDArray[np.int64]) -> Model:
    """Return the model that counts the steps and starts of a state path."""
    walks, counts = model.blocks.bind(experience), np.zeros_like(model.counts)
    if not count_path(path, walks, model.blocks.start, model.layout.first, counts):
        raise InvalidArgumentError("a path can only be counted on blocks of its own experience; carry the model first")
    starts = np.bincount(path[walks.offsets[:-1]], minlength=model.layout.n_states)
    return replace(model, counts=counts, starts=starts.astype(np.float64))
