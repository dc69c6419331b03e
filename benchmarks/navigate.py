"""How well a Navigator finds its way on recovered maps: dropped at a random node, it goes to another.

    python benchmarks/navigate.py --seeds 3000 3001 3002 --trips 100 --keep runs/navigate

prints a Markdown table. A trip succeeds when the Navigator says that it has arrived, within 20 times the shortest
way and 200 steps more, and stands at the true node that the target mostly stands for. The ratio is that of the
steps taken to the shortest way, averaged over the trips that succeed. In the last columns one step of the shortest
way is closed, one without which the target can be reached: it then leads nowhere.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from explored import explored, options_of

import efex
from efex.graph import LatentGraph
from efex.graph.reduction import redirect
from efex.graph.routes import routes
from efex.run import Run
from efex.worlds import GraphWorld

WORLDS = ("grid2d", "grid3d", "icg", "dense-maze", "sparse-maze", "teleport-maze")


class Trip(NamedTuple):
    """How one trip went."""

    shortest: float
    steps: int
    succeeded: bool
    seconds: float


def true_node_of(run: Run) -> np.ndarray:
    """Return the true node that every node of the map mostly stands for."""
    together = np.zeros((run.graph.n_nodes, run.truth.n_nodes), np.int64)
    np.add.at(together, (run.nodes, run.true_nodes), 1)
    return together.argmax(axis=1)


def travel(graph: LatentGraph, truth: LatentGraph, start: int, target: int, goal: int, *, seed: int) -> Trip:
    """Return how a trip from the true node `start` to the node `target` of the map, truly `goal`, went."""
    shortest = float(routes(truth, {goal}).steps[start])
    world = GraphWorld(replace(truth, starts=(start,)), episode_steps=None, seed=seed)
    navigator = efex.Navigator(graph, seed=seed)
    begin = time.perf_counter()
    steps = navigator.travel(world, target, limit=int(20 * shortest + 200), seed=seed)
    seconds = time.perf_counter() - begin
    return Trip(shortest, -1 if steps is None else steps, steps is not None and world.node == goal, seconds)


def closed_on_the_way(truth: LatentGraph, start: int, goal: int, rng: np.random.Generator) -> LatentGraph | None:
    """Return the truth with one step of the shortest way closed, None if there is no way around any."""
    way, node, policy = [], start, routes(truth, {goal}).policy
    while node != goal and len(way) < truth.n_nodes:
        way.append((node, int(policy[node])))
        row = (truth.source == node) & (truth.action == policy[node])
        node = int(truth.target[row][truth.probability[row].argmax()])
    for at in rng.permutation(len(way)):
        node, action = way[at]
        changed = redirect(truth, node, action, node)
        if np.isfinite(routes(changed, {goal}).steps[start]):
            return changed
    return None


def trips(run: Run, *, n: int, seed: int) -> tuple[list[Trip], list[Trip]]:
    """Return `n` trips between random nodes, and the same ones with a step closed on the way, where that can be."""
    rng, stands_for = np.random.default_rng(seed), true_node_of(run)
    plain, closed = [], []
    while len(plain) < n:
        start, target = int(rng.integers(run.truth.n_nodes)), int(rng.integers(run.graph.n_nodes))
        goal = int(stands_for[target])
        if start == goal:
            continue
        plain.append(travel(run.graph, run.truth, start, target, goal, seed=seed + len(plain)))
        changed = closed_on_the_way(run.truth, start, goal, rng)
        if changed is not None:
            closed.append(travel(run.graph, changed, start, target, goal, seed=seed + len(plain)))
    return plain, closed


def figures(played: list[Trip]) -> list[str]:
    """Return success rate, mean ratio, and ratio of the sums."""
    arrived = [trip for trip in played if trip.succeeded]
    if not arrived:
        return [f"0 of {len(played)}", "-", "-"]
    ratio = np.mean([trip.steps / trip.shortest for trip in arrived])
    total = sum(trip.steps for trip in arrived) / sum(trip.shortest for trip in arrived)
    return [f"{len(arrived) / len(played):.3f} of {len(played)}", f"{ratio:.3f}", f"{total:.3f}"]


def main() -> None:
    """Print the table."""
    parser = options_of(__doc__, unique_fraction=0.3)
    parser.add_argument("--worlds", nargs="+", default=WORLDS, choices=WORLDS)
    parser.add_argument("--trips", type=int, default=100)
    options = parser.parse_args()
    print("| world | nodes | on the map | arrived | ratio | of sums | arrived, closed | ratio | of sums | ms a step |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in options.worlds:
        runs = [explored(name, seed, options) for seed in options.seeds]
        played = [trips(run, n=options.trips, seed=seed) for run, seed in zip(runs, options.seeds)]
        plain, closed = [[trip for part in parts for trip in part] for parts in zip(*played)]
        sizes = [
            ", ".join(str(size) for size in column)
            for column in zip(*((r.truth.n_nodes, r.graph.n_nodes) for r in runs))
        ]
        taken = [trip for trip in plain + closed if trip.steps > 0]
        cost = 1000 * sum(trip.seconds for trip in taken) / max(sum(trip.steps for trip in taken), 1)
        print("| " + " | ".join([name, *sizes, *figures(plain), *figures(closed), f"{cost:.1f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
