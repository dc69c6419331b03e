"""What the default agent recovers of three real systems whose nodes look much alike, beside the truth of each.

    NUMBA_NUM_THREADS=1 python benchmarks/systems.py --seeds 3000 3001 3002 --steps 10000 10000 5000

prints a Markdown table, a row when its run is done. `cave` is Colossal Cave's maze of all alike and `room` MiniGrid's
empty room behind a window of 3 x 3 cells, both begun anew every 100 steps; `mail` is an SMTP server, which is never
reset. The agent is told nothing: how many nodes there are it finds out (clones="auto"). Exact is a map that no sequence
of actions tells from the truth, probabilities included. Seconds are those of exploring alone, not of measuring.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium

import efex
from efex.graph import LatentGraph
from efex.worlds import GraphWorld

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from systems.cave import ALIKE, Cave
from systems.mail import MailServer
from systems.room import Room

System = tuple[gymnasium.Env[Any, Any], LatentGraph, Any]
"""An environment, its truth, and that as a world to measure in: a GraphWorld, wrapped or not."""


def cave() -> System:
    """Return the maze and the game's own map."""
    made = Cave(ALIKE, episode_steps=100)
    return made, made.truth, GraphWorld(made.truth)


def room() -> System:
    """Return the room and its poses."""
    made = Room(episode_steps=100)
    return made, made.truth, GraphWorld(made.truth)


def mail() -> System:
    """Return the server and its machine, found by exhaustive search."""
    made = MailServer()
    truth = made.probe()
    # A world shows whole numbers, the server the digits of its replies.
    world = GraphWorld(replace(truth, observations=tuple(int(str(reply)) for reply in truth.observations)))
    return made, truth, gymnasium.wrappers.TransformObservation(world, str, made.observation_space)


SYSTEMS: dict[str, Callable[[], System]] = {"cave": cave, "room": room, "mail": mail}
COLUMNS = ("system", "seed", "steps", "true nodes", "nodes", "precision", "exact", "seconds")


def explored(name: str, *, steps: int, seed: int, walks: int) -> list[str]:
    """Explore a system; return a row of the table."""
    env, truth, world = SYSTEMS[name]()
    begin = time.perf_counter()
    run = efex.explore(env, steps=steps, seed=seed, clones="auto", progress=False)
    seconds = time.perf_counter() - begin
    env.close()
    right = efex.measures.precision(run, world, walks=walks)
    exact = "yes" if run.graph.difference(truth) is None else "no"
    nodes = [str(truth.n_nodes), str(run.graph.n_nodes)]
    return [name, str(seed), f"{steps:,}", *nodes, f"{right:.3f}", exact, f"{seconds:.0f}"]


def main() -> None:
    """Explore every system with every seed; print how good the maps are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[3000, 3001, 3002])
    parser.add_argument("--steps", nargs="+", type=int, default=[10_000], help="of every system, or one number for all")
    parser.add_argument("--walks", type=int, default=100, help="of 10,000 steps each, to measure precision by")
    chosen = parser.parse_args()
    steps = chosen.steps * len(chosen.systems) if len(chosen.steps) == 1 else chosen.steps
    if len(steps) != len(chosen.systems):
        parser.error(f"--steps must be one number or {len(chosen.systems)}, one per system, not {len(steps)}")
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for name, length in zip(chosen.systems, steps, strict=True):
        for seed in chosen.seeds:
            row = explored(name, steps=length, seed=seed, walks=chosen.walks)
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
