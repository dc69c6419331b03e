"""A robot's log becomes a map: learned from a CSV file, checked against the flat it came from, and planned on.

The robot feels only the floor under it: wood, tile, carpet or its charger; many cells feel the same.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import efex
from efex.experience import Alphabet
from efex.graph.drawing import draw, positions

FLAT = ["wwtcc", "w#t#c", "wwtcC", "t#w#t", "ttwcc"]
FLOORS = {"w": "wood", "t": "tile", "c": "carpet", "C": "charger"}
MOVES = {"east": (0, 1), "north": (-1, 0), "south": (1, 0), "west": (0, -1)}
CELLS = {(r, c): FLOORS[mark] for r, row in enumerate(FLAT) for c, mark in enumerate(row) if mark != "#"}
HOME = (0, 0)


def move(cell, name):
    ahead = (cell[0] + MOVES[name][0], cell[1] + MOVES[name][1])
    return ahead if ahead in CELLS else cell  # a wall


def truth():
    """Return the flat as a graph, which the learner never sees."""
    number = {cell: node for node, cell in enumerate(CELLS)}
    moves = [np.eye(len(CELLS))[[number[move(cell, name)] for cell in CELLS]] for name in MOVES]
    places = [(column, -row) for row, column in CELLS]
    return efex.LatentGraph.from_matrices(list(CELLS.values()), moves, starts=[number[HOME]], coordinates=places)


def write_log(path, *, days, steps=100, seed=0):
    """Write the log of a robot that goes about at random and is put back home every day."""
    rng = np.random.default_rng(seed)
    with path.open("w", newline="", encoding="utf-8") as stream:
        log = csv.writer(stream)
        log.writerow(["episode", "action", "observation"])
        for day in range(days):
            cell = HOME
            for name in rng.choice(list(MOVES), steps):
                log.writerow([f"day {day}", name, CELLS[cell]])
                cell = move(cell, name)
            log.writerow([f"day {day}", "", CELLS[cell]])
    return path


def draw_maps(path, flat, graph, plan):
    figure, colours = Figure(figsize=(10, 5), layout="constrained"), Alphabet(flat.symbols)
    left, right = figure.subplots(1, 2)
    draw(left, flat, alphabet=colours, title=f"the flat: {flat.n_nodes} cells, {len(flat.symbols)} floors")
    draw(right, graph, alphabet=colours, title=f"learned from the log: {graph.n_nodes} nodes; a way to the charger")
    right.plot(*positions(graph, None)[list(plan.nodes)].T, color="black", linewidth=3)
    figure.savefig(path, dpi=120)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--short", action="store_true", help="a shorter log")
    options.add_argument("--out", type=Path, default=Path("runs/logged-walk"))
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    log = write_log(given.out / "walk.csv", days=40 if given.short else 100)
    learned = efex.learn(log, restarts=3, held_out=0.1)
    print(learned.report)
    assert learned.graph.n_nodes == len(CELLS)
    assert learned.graph.difference(truth()) is None
    plan = learned.graph.plan(learned.graph.starts[0], observation="charger")
    assert plan.expected_steps == 6
    print("to the charger:", *(learned.graph.action_names[action] for action in plan.actions))
    draw_maps(given.out / "map.png", truth(), learned.graph, plan)


if __name__ == "__main__":
    main()
