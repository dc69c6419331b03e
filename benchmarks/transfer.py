"""What a known map saves in a world that is built alike but looks different.

    python benchmarks/transfer.py --seeds 3000 3001 3002 --keep runs/navigate

prints a Markdown table: the steps after which the map of a repainted copy has precision 0.95, with the explored map
of the first world in hand, and from nothing. Both are measured at marks, the first one that reaches it is given.
"""

from __future__ import annotations

from dataclasses import replace

from explored import explored, options_of

import efex
from efex.randomness import stream
from efex.run import Run
from efex.worlds import GraphWorld
from efex.worlds.aliasing import alias

GOAL = 0.95
TRANSFER_MARKS = range(25, 1_501, 25)
ALONE_MARKS = range(250, 10_001, 250)


def repainted(run: Run, unique_fraction: float, *, seed: int) -> GraphWorld:
    """Return the world of the run with other observations, drawn as its own were."""
    colours = alias(run.truth.n_nodes, unique_fraction, rng=stream(seed, "repainting"))
    return GraphWorld(replace(run.truth, observations=tuple(colours.tolist())), seed=seed, episode_steps=100)


def is_good(run: Run, world: GraphWorld) -> bool:
    """Return whether the map has the precision asked for."""
    return efex.measures.precision(run, world, walks=20, steps=2_000) >= GOAL


def main() -> None:
    """Print the table."""
    parser = options_of(__doc__, unique_fraction=0.1)
    parser.add_argument("--world", default="sparse-maze")
    options = parser.parse_args()
    print("| world | seed | nodes | with the map | from nothing | share |")
    print("|---|---|---|---|---|---|")
    for seed in options.seeds:
        first = explored(options.world, seed, options)
        world = repainted(first, options.unique_fraction, seed=seed)
        runs = ((n, efex.transfer(world, first.graph, steps=n, seed=seed, progress=False)) for n in TRANSFER_MARKS)
        told = next((steps for steps, run in runs if is_good(run, world)), None)
        runs = ((n, efex.explore(world, steps=n, seed=seed, progress=False)) for n in ALONE_MARKS)
        alone = next((steps for steps, run in runs if is_good(run, world)), None)
        share = f"{told / alone:.3f}" if told and alone else "-"
        print(f"| {options.world} | {seed} | {first.truth.n_nodes} | {told} | {alone} | {share} |", flush=True)


if __name__ == "__main__":
    main()
