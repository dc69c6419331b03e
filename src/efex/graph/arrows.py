"""Small maps set out on paper: how every arrow runs, and where it names its actions, so that all can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

from efex.graph.action_names import action_text
from efex.graph.latent import LatentGraph
from efex.graph.marks import FAINTEST, HEAD, LINE, NAMES, Arrow, Points, disc_radius, shortened

FEW_NODES = 12
"""Graphs of at most so many nodes name the actions of their edges."""

FEW_ARROWS = 48
"""And only those of at most so many arrows, loops included."""

FEW_ACTIONS = 4
"""Where more actions share an arrow, it tells how many instead of which."""

CERTAIN = 0.995
"""Probabilities from here on are not written."""

NAME_LETTERS = 20
"""Names of actions are cut to so many letters, and longer labels are broken into lines."""

BENDS = (0.1, 0.16, 0.23, 0.31, 0.4, 0.5)
"""How far an arrow may swing out, in its lengths."""

ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
"""Where along an arrow its label may stand."""

LOOP_LENGTH, LOOP_WIDTH, LOOP_ANGLES = 17.0, 10.0, 24
"""How far a loop goes out, how wide its foot is, both in typographic points, and how many ways it may point."""

SAMPLES = 32
"""So many points stand for the curve of an arrow."""

AIR = 2.0
"""Room around a label, in typographic points."""

CLASH, HEADLESS, CROSSED = 200.0, 30.0, 10.0
"""What a label costs on a disc or on another label, on the head of another arrow, and on the line of another."""

TOGETHER, MET = 10.0, 5.0
"""What curves cost that run together all the way, and two that begin or end in one place."""

ROUNDS = 6
"""So often every arrow may look for a better way."""


class Page(NamedTuple):
    """A small map on paper: places and radii in typographic points, and the corners of what is drawn."""

    points: Points
    radius: Points
    arrows: list[Arrow]
    low: Points
    high: Points


class _Label(NamedTuple):
    source: int
    target: int
    probability: float
    text: str
    half: Points
    """Half the width and half the height."""


class _Ways(NamedTuple):
    """The curves that one arrow may take, the middles of its label beside each, and what each choice costs."""

    paths: Points
    middles: Points
    cost: Points


def set_out(graph: LatentGraph, points: Points, *, spacing: float, radius: float) -> Page | None:
    """Return a small graph set out on paper with discs of about that `radius`, or None if it is too large.

    Nodes are at `points`, most of them at least `spacing` from one another, which becomes room for a label.
    """
    labels = _labels(graph) if 0 < graph.n_nodes <= FEW_NODES else []
    if not 0 < len(labels) <= FEW_ARROWS:
        return None
    relative = disc_radius(graph, spacing=1.0)
    discs = relative * radius / float(np.median(relative))
    widest, room = 2 * float(discs.max()), _room(labels, graph.n_nodes)
    # However close some nodes are, the page does not grow beyond that of a line of nodes.
    step = (widest + room) / max(spacing, float(np.ptp(points, axis=0).max()) / FEW_NODES)
    placed = _apart(points * step, widest + 0.4 * room)
    ways = [_ways(label, placed, discs, labels) for label in labels]
    arrows = [
        Arrow(label.probability, label.text, way.paths[route], way.middles[route, spot])
        for label, way, (route, spot) in zip(labels, ways, _choose(ways, labels), strict=True)
    ]
    boxes = [arrow.middle + sign * label.half for arrow, label in zip(arrows, labels, strict=True) for sign in (-1, 1)]
    marks = np.concatenate([placed - discs[:, None], placed + discs[:, None], boxes, *(arrow.path for arrow in arrows)])
    return Page(placed, discs, arrows, marks.min(axis=0), marks.max(axis=0))


def _room(labels: Sequence[_Label], n_nodes: int) -> float:
    """Return how far apart discs should be: enough for the widest label, and more where many arrows meet."""
    between = [2 * float(label.half[0]) for label in labels if label.source != label.target]
    widest, meeting = max(between, default=0.0), len(between) / n_nodes
    return float(np.clip(max(widest + 16.0, 0.6 * widest + 20.0 * meeting + 12.0), 48.0, 120.0))


def _labels(graph: LatentGraph) -> list[_Label]:
    """Return what every arrow says: one for each pair of nodes that edges lead along, and for each node with loops."""
    shared: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for edge in graph.edges():
        if edge.probability >= FAINTEST:
            shared.setdefault((edge.source, edge.target), []).append((edge.action, edge.probability))
    labels = []
    for (source, target), taken in shared.items():
        text = _text(graph, taken)
        labels.append(_Label(source, target, max(p for _, p in taken), text, _half_size(text)))
    # Loops come last, as they can point where the others leave room.
    return sorted(labels, key=lambda label: label.source == label.target)


def _text(graph: LatentGraph, taken: list[tuple[int, float]]) -> str:
    """Return the names of the actions, each with its probability where it is not certain, in lines."""
    if len(taken) > FEW_ACTIONS:
        return f"{len(taken)} actions"
    lines: list[str] = []
    for action, probability in taken:
        chance = "" if probability >= CERTAIN else f" {round(probability, 2):g}"
        said = shortened(action_text(graph, action), NAME_LETTERS) + chance
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


def _apart(points: Points, least: float) -> Points:
    """Return the positions with nodes that lie almost on one another pushed apart."""
    if len(points) == 1 or pdist(points).min() >= least:
        return points
    # Nodes in one place have no direction to go apart in; each gets its own.
    placed = points + 0.01 * least * _direction(np.arange(len(points), dtype=np.float64))
    for _ in range(200):
        offset = placed[:, None] - placed[None]
        distance = np.linalg.norm(offset, axis=2) + np.diag(np.full(len(points), np.inf))
        push = np.maximum(1.01 * least - distance, 0.0) / (2 * distance)
        placed = placed + (push[:, :, None] * offset).sum(axis=1)
    return placed


def _ways(label: _Label, points: Points, radius: Points, labels: Sequence[_Label]) -> _Ways:
    """Return the ways of an arrow with their cost among the discs: far out, aside, or where they are in the way."""
    ends = [label.source, label.target]
    if label.source == label.target:
        ways = _loops(points[label.source], float(radius[label.source]), label.half, points.mean(axis=0))
    else:
        both = any((other.target, other.source) == (label.source, label.target) for other in labels)
        ways = _curves(points[ends], radius[ends], label.half, both=both)
    foreign = np.setdiff1d(np.arange(len(points)), ends)
    gaps = np.linalg.norm(ways.paths[:, :, None] - points[foreign], axis=3) - radius[foreign]
    through = np.any(gaps < 2 * AIR, axis=2)
    off = np.maximum(np.abs(ways.middles[:, :, None] - points) - label.half, 0.0)
    covers = (np.linalg.norm(off, axis=3) < radius + AIR).sum(axis=2)
    blocked = CLASH * through.mean(axis=1) + CROSSED * through.any(axis=1)
    return ways._replace(cost=ways.cost + blocked[:, None] + CLASH * covers)


def _curves(ends: Points, radius: Points, half: Points, *, both: bool) -> _Ways:
    """Return the ways between two nodes: swung out to the right if there is an arrow back, else to either side."""
    bends = np.array(BENDS if both else (0.0, *BENDS, *(-bend for bend in BENDS)))
    begin, end = ends
    right = (end - begin)[::-1] * [1.0, -1.0]
    control = (begin + end) / 2 + 2 * bends[:, None] * right
    share = np.linspace(0.0, 1.0, 400)[:, None]
    full = (1 - share) ** 2 * begin + 2 * share * (1 - share) * control[:, None] + share**2 * end
    free = (np.linalg.norm(full - begin, axis=2) > radius[0]) & (np.linalg.norm(full - end, axis=2) > radius[1] + 1.0)
    paths = np.stack([_thinned(curve[outside]) for curve, outside in zip(full, free, strict=True)])
    middles, aside = _beside(paths, np.where(bends < 0, -1.0, 1.0), half)
    return _Ways(paths, middles, (25.0 * np.abs(bends) + 50.0 * bends**2)[:, None] + aside)


def _thinned(curve: Points) -> Points:
    return curve[np.linspace(0, len(curve) - 1, SAMPLES).round().astype(np.int64)]


def _beside(paths: Points, outer: Points, half: Points) -> tuple[Points, Points]:
    """Return middles of labels along every path, outside (to the right where `outer` is 1), inside and upon it.

    They cost more the farther from the half of the way, inside, and where they cover the path.
    """
    at = np.rint(np.array(ALONG) * (SAMPLES - 1)).astype(np.int64)
    along = paths[:, at + 1] - paths[:, at - 1]
    right = along[:, :, ::-1] * [1.0, -1.0] / np.linalg.norm(along, axis=2, keepdims=True)
    reach = ((np.abs(right) * half).sum(axis=2) + AIR)[:, :, None] * right * outer[:, None, None]
    middles = np.concatenate([paths[:, at] + side * reach for side in (1.0, -1.0, 0.0)], axis=1)
    cost = np.concatenate([inside + 8.0 * np.abs(np.array(ALONG) - 0.5) for inside in (0.0, 2.0, 0.0)])
    return middles, cost + 4.0 * _within(paths[:, None], middles[:, :, None], half).any(axis=2)


def _loops(centre: Points, radius: float, half: Points, middle: Points) -> _Ways:
    """Return the ways back to a node itself, cheapest where they point away from the picture's middle, and straight."""
    angle = np.arange(LOOP_ANGLES) * 2 * math.pi / LOOP_ANGLES + math.pi / 2
    foot = math.asin(min(LOOP_WIDTH / 2 / radius, 1.0))
    begin, end = (centre + radius * _direction(angle + sign * foot) for sign in (1, -1))
    # A cubic curve goes three quarters as far out as its control points.
    lift = LOOP_LENGTH / 0.75 / math.cos(0.6)
    first, second = begin + lift * _direction(angle + 0.6), end + lift * _direction(angle - 0.6)
    share = np.linspace(0.0, 1.0, SAMPLES)
    weights = np.stack([(1 - share) ** 3, 3 * share * (1 - share) ** 2, 3 * share**2 * (1 - share), share**3], axis=1)
    paths = weights @ np.stack([begin, first, second, end], axis=1)
    out = _direction(angle)
    outward = (centre - middle) / max(float(np.linalg.norm(centre - middle)), 4 * radius)
    cost = 2.0 * (1.0 - out @ outward) + 0.5 * (1.0 - np.cos(4 * angle))
    return _Ways(paths, _beyond(paths, centre, out, half)[:, None], cost[:, None])


def _beyond(paths: Points, centre: Points, out: Points, half: Points) -> Points:
    """Return the middle of a label for every loop: as near as can be in its direction `out` of the node's centre."""
    reach = np.linalg.norm(paths - centre, axis=2).max() + AIR + np.linalg.norm(half)
    steps = np.arange(reach, 0.0, -1.0)
    touching = _within(paths[:, None], centre + steps[:, None, None] * out[:, None, None], half + AIR).any(axis=2)
    nearest = steps[np.argmax(touching, axis=1)] + 1.0
    return np.asarray(centre + nearest[:, None] * out)


def _direction(angle: Points) -> Points:
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _choose(ways: Sequence[_Ways], labels: Sequence[_Label]) -> list[tuple[int, int]]:
    """Return the (curve, middle) of every arrow: the cheapest among those of the others, in rounds until it settles."""
    halves = np.stack([label.half for label in labels])
    paths, middles = np.zeros((len(ways), SAMPLES, 2)), np.zeros((len(ways), 2))
    chosen = [(-1, -1)] * len(ways)
    for number in range(ROUNDS):
        before = list(chosen)
        for i, way in enumerate(ways):
            others = [j for j in range(len(ways) if number else i) if j != i]
            crowd = _crowding(way, halves[i], paths[others], middles[others], halves[others])
            chosen[i] = route, spot = _cheapest(way.cost + crowd)
            paths[i], middles[i] = way.paths[route], way.middles[route, spot]
        if chosen == before:
            break
    return chosen


def _cheapest(cost: Points) -> tuple[int, int]:
    route, spot = divmod(int(np.argmin(cost)), cost.shape[1])
    return route, spot


def _crowding(way: _Ways, half: Points, paths: Points, middles: Points, halves: Points) -> Points:
    """Return what every choice costs among the curves and labels of the other arrows."""
    if len(paths) == 0:
        return np.zeros_like(way.cost)
    close = cdist(way.paths.reshape(-1, 2), paths.reshape(-1, 2)).reshape(*way.paths.shape[:2], *paths.shape[:2])
    together = np.any(close < HEAD, axis=(2, 3)).mean(axis=1)
    met = np.sum(close[:, [0, -1]][:, :, :, [0, -1]] < HEAD, axis=(1, 2, 3))
    under = _within(way.paths[:, None], middles[:, None], halves[:, None] + 2 * AIR)
    over = _within(paths, way.middles[:, :, None, None], half + 2 * AIR)
    on = _within(middles, way.middles[:, :, None], half + halves + AIR)
    curve = TOGETHER * together + MET * met + _hidden(under)
    return np.asarray(curve[:, None] + _hidden(over) + CLASH * on.sum(axis=2))


def _hidden(covered: NDArray[np.bool_]) -> Points:
    """Return what it costs that these points of curves are under labels, the last of which are heads."""
    return np.asarray((CROSSED * covered.any(axis=-1) + HEADLESS * covered[..., -1]).sum(axis=-1))


def _within(points: Points, middles: Points, half: Points) -> NDArray[np.bool_]:
    """Return whether points lie in boxes around middles."""
    # One coordinate at a time, which is several times as fast as all() over an axis of two.
    across, up = (np.abs(points[..., i] - middles[..., i]) < half[..., i] for i in (0, 1))
    return np.asarray(across & up)
