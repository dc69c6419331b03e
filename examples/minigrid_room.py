"""MiniGrid: an empty room, mapped through a window of three by three cells.

The room has 6 x 6 cells, which with four headings makes 144 poses; they show only 21 different views, and 60 of them
the same: floor all around. The agent turns left or right or goes forward and is told nothing else: that these are turns
and steps it learns.

Run: python examples/minigrid_room.py --out out (needs pip install "efex[examples]")
"""

import efex
from efex.worlds import GraphWorld
from systems.options import options
from systems.room import Room


def main() -> None:
    """Explore for longer and longer; print how good the map is, and draw the last one, which is exact."""
    chosen = options(__doc__)
    room = Room(episode_steps=100)
    truth = room.truth
    world = GraphWorld(truth)
    assert truth.merge_equivalent().n_nodes == truth.n_nodes == 144
    assert max(map(room.looks.count, room.looks)) == 60

    rows = [["steps", "nodes", "precision", "poses walked", "the views alone"], ["---"] * 5]
    walks = 5 if chosen.short else 100
    for steps in (200, 400) if chosen.short else (500, 1_000, 2_000):
        run = efex.explore(room, steps=steps, seed=chosen.seed, progress=False)
        right = efex.measures.precision(run, world, walks=walks)
        blind = efex.measures.precision(run.first_order, world, walks=walks)
        assert right > blind
        walked = efex.measures.weighted_coverage(run, world)
        rows.append([f"{steps:,}", str(run.graph.n_nodes), f"{right:.2f}", f"{walked:.2f}", f"{blind:.2f}"])
    assert chosen.short or run.graph.difference(truth) is None
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    (chosen.out / "room.md").write_text(table + "\n")
    print(table)
    run.plot(chosen.out / "room.png")


if __name__ == "__main__":
    main()
