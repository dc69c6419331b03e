"""What a known map saves in a world that is built alike but looks different.

    python benchmarks/transfer.py --seeds 3000 3001 3002 --keep runs/navigate

prints a Markdown table: the steps after which the map of a repainted copy has precision 0.95, with the explored map
of the first world in hand, and from nothing. Both are measured at marks, the first one that reaches it is given.

    python benchmarks/transfer.py --part --seeds 3000 3001 3002 --keep runs/navigate

does the same for a world that shares the first half of the nodes: the others lead elsewhere and look different. It
prints the precision at every mark, with the map and from nothing.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from explored import explored, options_of

import efex
from efex.randomness import stream
from efex.run import Run
from efex.worlds import GraphWorld
from efex.worlds.aliasing import alias

GOAL = 0.95
TRANSFER_MARKS = range(25, 1_501, 25)
ALONE_MARKS = range(250, 10_001, 250)
PART_MARKS = (100, 200, 300, 400, 600, 800, 1_000, 1_500)


def repainted(run: Run, unique_fraction: float, *, seed: int) -> GraphWorld:
    """Return the world of the run with other observations, drawn as its own were."""
    colours = alias(run.truth.n_nodes, unique_fraction, rng=stream(seed, "repainting"))
    return GraphWorld(replace(run.truth, observations=tuple(colours.tolist())), seed=seed, episode_steps=100)


def sharing_half(run: Run, unique_fraction: float, *, seed: int) -> GraphWorld:
    """Return a world whose first nodes are those of the run's: the others lead elsewhere, and show other symbols."""
    truth, rng = run.truth, stream(seed, "other half")
    half = truth.n_nodes // 2
    place = np.concatenate([np.arange(half), half + rng.permutation(truth.n_nodes - half)])
    colours = alias(truth.n_nodes - half, unique_fraction, rng=rng) + 1 + max(truth.observations)
    observations = (*truth.observations[:half], *colours.tolist())
    target = np.where(truth.source < half, truth.target, place[truth.target])
    return GraphWorld(replace(truth, target=target, observations=observations), seed=seed, episode_steps=100)


def precision(run: Run, world: GraphWorld) -> float:
    """Return how much of the world the map knows."""
    return efex.measures.precision(run, world, walks=20, steps=2_000)


def is_good(run: Run, world: GraphWorld) -> bool:
    """Return whether the map has the precision asked for."""
    return precision(run, world) >= GOAL


def main() -> None:
    """Print the table."""
    parser = options_of(__doc__, unique_fraction=0.1)
    parser.add_argument("--world", default="sparse-maze")
    parser.add_argument("--part", action="store_true", help="a world that shares a half, instead of a repainted one")
    options = parser.parse_args()
    (halves if options.part else copies)(options)


def copies(options: argparse.Namespace) -> None:
    """Print how many steps a repainted copy takes."""
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


def halves(options: argparse.Namespace) -> None:
    """Print what is known of a world that shares a half, mark by mark."""
    print("| world | seed | nodes | |", " | ".join(f"{mark:,}" for mark in PART_MARKS), "|")
    print("|---" * (4 + len(PART_MARKS)) + "|")
    for seed in options.seeds:
        first = explored(options.world, seed, options)
        world = sharing_half(first, options.unique_fraction, seed=seed)
        told = [efex.transfer(world, first.graph, steps=n, seed=seed, progress=False) for n in PART_MARKS]
        alone = [efex.explore(world, steps=n, seed=seed, progress=False) for n in PART_MARKS]
        for who, runs in (("with the map", told), ("from nothing", alone)):
            cells = " | ".join(f"{precision(run, world):.2f}" for run in runs)
            print(f"| {options.world} | {seed} | {first.truth.n_nodes} | {who} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
