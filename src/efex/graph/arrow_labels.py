"""What the arrows of a small map say: the names of their actions, and the room that takes up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from efex.graph.action_names import action_text
from efex.graph.latent import LatentGraph
from efex.graph.marks import FAINTEST, LINE, NAMES, Points, shortened
from efex.symbols import symbol_text

FEW_ACTIONS = 4
"""Where more actions share an arrow, it tells how many instead of which."""

CERTAIN = 0.995
"""Probabilities from here on are not written."""

NAME_LETTERS = 20
"""Names of actions are cut to so many letters, and longer labels are broken into lines."""


class Label(NamedTuple):
    """What one arrow says, and between which nodes; loops lead from a node to itself."""

    source: int
    target: int
    probability: float
    text: str
    half: Points
    """Half the width and half the height."""


def labels_of(graph: LatentGraph) -> list[Label]:
    """Return what every arrow says: one for each pair of nodes that edges lead along, and for each node with loops."""
    shared: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for edge in graph.edges():
        if edge.probability >= FAINTEST:
            shared.setdefault((edge.source, edge.target), []).append((edge.action, edge.probability))
    labels = []
    for (source, target), taken in shared.items():
        text = _text(graph, taken)
        labels.append(Label(source, target, max(p for _, p in taken), text, _half_size(text)))
    # Loops come last, as they can point where the others leave room.
    return sorted(labels, key=lambda label: label.source == label.target)


def _text(graph: LatentGraph, taken: list[tuple[int, float]]) -> str:
    """Return the names of the actions, each with its probability where it is not certain, in lines."""
    if len(taken) > FEW_ACTIONS:
        return f"{len(taken)} actions"
    lines: list[str] = []
    for action, probability in taken:
        chance = "" if probability >= CERTAIN else f" {round(probability, 2):g}"
        said = shortened(symbol_text(action_text(graph, action)), NAME_LETTERS) + chance
        if lines and len(lines[-1]) + len(said) + 2 <= NAME_LETTERS:
            lines[-1] += f", {said}"
        else:
            lines.append(said)
    return ",\n".join(lines)


def _half_size(text: str) -> Points:
    """Return half the width and half the height of a label in typographic points."""
    font, lines = FontProperties(size=NAMES), text.split("\n")
    width = max(text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines)
    return np.array([width, LINE * NAMES * len(lines)]) / 2
