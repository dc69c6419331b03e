"""Colossal Cave: the two mazes of the first adventure game, mapped by playing it.

In one maze every room is described in its own words; in the other fourteen rooms read "you are in a maze of twisty
little passages, all alike" and eleven more are dead ends. Players of 1977 dropped things to tell them apart. efex may
only walk.

Run: python examples/colossal_cave.py --out out (needs pip install "efex[examples]")
"""

from pathlib import Path

import efex
from efex.worlds import GraphWorld
from systems.cave import ALIKE, DIFFERENT, Cave
from systems.options import options

PEERS = {"L*": 31_590, "KV": 25_122, "L#": 12_660, "hW": 164_948}
"""Steps until AALpy's learners had the maze of all alike exactly, median of seeds 0 to 2 (benchmarks/peers.py)."""


def all_different(seed: int, picture: Path | None) -> None:
    """Map the maze whose rooms can be told apart: the map is exactly the game's own."""
    cave = Cave(DIFFERENT)
    run = efex.explore(cave, steps=500, seed=seed, progress=False)
    assert run.graph.difference(cave.truth) is None
    assert run.graph.n_nodes == len(DIFFERENT)
    if picture is not None:
        run.plot(picture)


def all_alike(steps: int, seed: int, episode_steps: int | None, walks: int) -> list[str]:
    """Map the maze whose rooms look alike; return a row of the table."""
    cave = Cave(ALIKE, episode_steps=episode_steps)
    world = GraphWorld(cave.truth)
    run = efex.explore(cave, steps=steps, seed=seed, progress=False)
    right = efex.measures.precision(run, world, walks=walks)
    # What one node for everything that looks alike would be worth: the map has to say far more than the words do.
    assert right > 1.5 * efex.measures.precision(run.first_order, world, walks=walks)
    exact = "yes" if run.graph.equivalent_to(cave.truth) else "no"
    assert exact == "no" or (right > 0.99 and run.graph.merge_equivalent().n_nodes == len(ALIKE))
    starts = "no new starts" if episode_steps is None else f"a new start every {episode_steps}"
    return [f"efex, {starts}", f"{steps:,}", str(run.graph.n_nodes), f"{right:.2f}", exact]


def main() -> None:
    """Map both mazes, draw the first and print a table of the second."""
    chosen = options(__doc__)
    seeds = range(chosen.seed, chosen.seed + (1 if chosen.short else 10))
    for seed in seeds:
        all_different(seed, chosen.out / "cave_all_different.png" if seed == chosen.seed else None)
    print(f"all different: exactly the game's map after 500 steps, seeds {[*seeds]}")

    rows = [["all alike", "steps", "nodes", "precision", "exact"], ["---"] * 5]
    steps, walks, lengths = (1_000, 5, (100,)) if chosen.short else (10_000, 100, (100, None))
    rows += [all_alike(steps, chosen.seed, length, walks) for length in lengths]
    rows += [[f"AALpy, {name}", f"{steps:,}", str(len(ALIKE)), "1.00", "yes"] for name, steps in PEERS.items()]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    (chosen.out / "cave_all_alike.md").write_text(table + "\n")
    print(table)


if __name__ == "__main__":
    main()
