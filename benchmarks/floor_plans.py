"""How right floor plans are and what they cost: worlds, wrong steps, machines that have none, and large maps.

python benchmarks/floor_plans.py
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

import efex
from efex.graph import LatentGraph

WORLDS = ("grid2d", "grid3d", "icg", "dense-maze", "sparse-maze", "teleport-maze", "chain")
SHARES = (0.005, 0.02, 0.05, 0.08)
MACHINES = ((2, 6), (3, 9), (8, 15), (4, 30))
"""Actions and states of random machines."""


def grid_steps(size: int) -> NDArray[np.int64]:
    """Return what four actions do on a square grid with walls around."""
    row, column = np.divmod(np.arange(size * size), size)
    steps = []
    for action, (down, right) in enumerate(((0, 1), (0, -1), (1, 0), (-1, 0))):
        target = np.clip(row + down, 0, size - 1) * size + np.clip(column + right, 0, size - 1)
        steps.append(np.column_stack([np.arange(size * size), np.full(size * size, action), target]))
    return np.concatenate(steps)


def spoiled(size: int, share: float, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the steps of a grid of which a share leads anywhere, and which ones."""
    steps = grid_steps(size)
    wrong = rng.random(len(steps)) < share
    steps[wrong, 2] = rng.integers(size * size, size=wrong.sum())
    return steps, wrong


def machine(n_actions: int, n_states: int, rng: np.random.Generator) -> LatentGraph:
    """Return a machine whose actions lead anywhere from every state."""
    source, action = (each.ravel() for each in np.divmod(np.arange(n_states * n_actions), n_actions))
    steps = np.column_stack([source, action, rng.integers(n_states, size=len(source))])
    return LatentGraph.from_walks(range(n_states), n_actions, steps)


def timed(graph: LatentGraph) -> tuple[NDArray[np.float64] | None, float]:
    """Return the plan of a graph and the seconds it took."""
    begin = time.perf_counter()
    return graph.floor_plan(), time.perf_counter() - begin


def show(title: str, *cells: object) -> None:
    """Print a row of the table."""
    print("| " + " | ".join(map(str, (title, *cells))) + " |", flush=True)


def main() -> None:
    """Print the table."""
    show("what", "plan", "seconds")
    show("---", "---", "---")
    for name in WORLDS:
        truth = efex.make(name, seed=1).truth
        plan, seconds = timed(truth)
        off = "none" if plan is None else f"distances off by {unlike(plan, truth.coordinates):.0e} of a step at most"
        show(f"{name}, {truth.n_nodes} nodes", off, f"{seconds:.3f}")
    rng = np.random.default_rng(0)
    for share in SHARES:
        found, worst = 0, 0.0
        for _ in range(10):
            steps, wrong = spoiled(20, share, rng)
            plan, _ = timed(LatentGraph.from_walks([0] * 400, 4, steps))
            if plan is not None:
                source, _, target = steps[~wrong & (steps[:, 0] != steps[:, 2])].T
                found, worst = (
                    found + 1,
                    max(worst, float(abs(np.linalg.norm(plan[target] - plan[source], axis=1) - 1).max())),
                )
        show(f"20 x 20, {share:.1%} of the steps wrong", f"{found} of 10, right steps off by {worst:.0e} at most", "")
    for n_actions, n_states in MACHINES:
        plans = sum(machine(n_actions, n_states, rng).floor_plan() is not None for _ in range(20))
        show(f"random machines, {n_actions} actions, {n_states} states", f"{plans} of 20", "")
    for size, share in ((100, 0.0), (200, 0.0), (120, 0.08)):
        plan, seconds = timed(LatentGraph.from_walks([0] * size**2, 4, spoiled(size, share, rng)[0]))
        show(f"{size} x {size}, {share:.0%} wrong", "none" if plan is None else "yes", f"{seconds:.2f}")
    plan, seconds = timed(machine(8, 20_000, rng))
    show("a random machine of 20,000 states, 8 actions", "none" if plan is None else "yes", f"{seconds:.2f}")


def unlike(points: NDArray[np.float64], places: NDArray[np.float64]) -> float:
    """Return by how much distances between points differ from those between places, at most."""
    return float(np.abs(cdist(points, points) - cdist(places, places)).max())


if __name__ == "__main__":
    main()
