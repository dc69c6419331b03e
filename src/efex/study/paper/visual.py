"""Pictures instead of statistics: the truth, what is seen of it, and the map as it grows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from efex.experience import Alphabet
from efex.graph.crowding import aside, places
from efex.graph.drawing import draw, plot_comparison
from efex.graph.export import from_content, to_content
from efex.graph.latent import LatentGraph
from efex.graph.layout import laid_out_like
from efex.study.case import Case, Settings
from efex.study.drawing import figure, save
from efex.study.moments import moments
from efex.study.paper import SEEDS
from efex.study.results import Results
from efex.study.study import Study

WORLDS: dict[str, Settings] = {
    "sparse-maze": (("unique_fraction", 0.1),),
    "grid2d": (("unique_fraction", 0.1), ("size", 9)),
}
MARKS = (200, 600, 1_500, 4_000, 10_000)
BESIDE = 0.25
"""How far apart, in steps of the world, nodes are drawn that stand for the same true node."""


def study() -> Study:
    """Return the study: one run of efex in every world."""
    cases = tuple(
        Case(world, "efex", MARKS[-1], SEEDS, options=options, marks=MARKS) for world, options in WORLDS.items()
    )
    return Study("visual", "Maps as they grow", cases, report, play_visual)


def play_visual(case: Case) -> dict[str, Any]:
    """Return the true graph, the graph of observations, and at every mark the map, its nodes where they truly are."""
    result: dict[str, Any] = {"steps": [], "graphs": [], "positions": []}
    for moment in moments(case):
        run = moment.record.run()
        places = run.true_positions()
        assert places is not None, "every world says where its nodes are"
        result["steps"].append(moment.taken)
        result["graphs"].append(to_content(run.graph))
        result["positions"].append(places.tolist())
    seen = {"truth": to_content(moment.world.truth), "first_order": to_content(run.first_order)}
    return result | seen | {"seconds": round(moment.seconds, 2)}


def report(results: Results, folder: Path) -> str:
    """Draw two figures of every run: truth and observations beside the last map, and the map at every mark."""
    return "\n".join(_figures(case, result, folder) for case, result in results.done)


def _figures(case: Case, result: dict[str, Any], folder: Path) -> str:
    truth = from_content(result["truth"])
    one = f"One run of {case.agent} in {case.world}, seed {case.seed}"
    beside = f"{one}: the truth, what is seen of it, and the map, turned like the truth."
    growing = f"{one}: the map as it grows, on the true positions; nodes are larger where there is more to learn."
    drawn = plot_comparison(folder / f"visual-{case.world}.png", _ends(truth, result)).name
    shown = f"![{beside}]({drawn})\n\n{beside}\n"
    return shown + "\n" + save(_growing(truth, result), folder, f"visual-{case.world}-growing", growing)


def _ends(truth: LatentGraph, result: dict[str, Any]) -> list[tuple[str, LatentGraph, NDArray[np.float64] | None]]:
    seen, last = from_content(result["first_order"]), from_content(result["graphs"][-1])
    steps, turned = result["steps"][-1], laid_out_like(last, np.array(result["positions"][-1]))
    return [
        (_title(truth), truth, None),
        (f"the graph of observations: {seen.n_nodes} nodes", seen, _circle(seen)),
        (f"the map after {steps:,} steps, laid out by itself: {last.n_nodes} nodes", last, turned),
    ]


def _title(truth: LatentGraph) -> str:
    return f"the truth: {truth.n_nodes} nodes, {len(truth.symbols)} observations"


def _growing(truth: LatentGraph, result: dict[str, Any]) -> Figure:
    """Return the truth and the map at every mark, all in one frame and with the same colours."""
    columns = 3
    made, rows = figure(math.ceil((len(result["steps"]) + 1) / columns), columns, width=4.8, height=4.4)
    panels, alphabet = [axes for row in rows for axes in row], Alphabet(truth.symbols)
    draw(panels[0], truth, title=_title(truth), alphabet=alphabet)
    across, up = panels[0].get_xlim(), panels[0].get_ylim()
    for axes, steps, content, positions in zip(panels[1:], result["steps"], result["graphs"], result["positions"]):
        graph = from_content(content)
        title, at = f"after {steps:,} steps: {graph.n_nodes} nodes", np.array(positions)
        beside = aside(at, places(at), distance=BESIDE)
        draw(axes, graph, coordinates=beside, title=title, alphabet=alphabet, spacing=0.8)
        axes.set(xlim=(across[0] - BESIDE, across[1] + BESIDE), ylim=(up[0] - BESIDE, up[1] + BESIDE))
    for axes in panels[len(result["steps"]) + 1 :]:
        axes.axis("off")
    return made


def _circle(graph: LatentGraph) -> NDArray[np.float64]:
    """Return the nodes on a circle, a step or two apart: nearly all are joined to all, and no layout could show it."""
    angle = 2 * np.pi * np.arange(graph.n_nodes) / graph.n_nodes
    return 0.3 * graph.n_nodes * np.column_stack([np.cos(angle), np.sin(angle)])
