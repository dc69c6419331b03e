"""The ways that an arrow of a small map may take: its curves, and where its label may stand beside each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.graph.arrow_labels import Label
from efex.graph.marks import Points

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

CLASH, CROSSED = 200.0, 10.0
"""What it costs to be on a disc or on another label, and to be on the line of another arrow."""


class Ways(NamedTuple):
    """The curves that one arrow may take, the middles of its label beside each, and what each choice costs."""

    paths: Points
    middles: Points
    cost: Points


def ways_of(label: Label, points: Points, radius: Points, labels: Sequence[Label]) -> Ways:
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


def _curves(ends: Points, radius: Points, half: Points, *, both: bool) -> Ways:
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
    return Ways(paths, middles, (25.0 * np.abs(bends) + 50.0 * bends**2)[:, None] + aside)


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
    return middles, cost + 4.0 * within(paths[:, None], middles[:, :, None], half).any(axis=2)


def _loops(centre: Points, radius: float, half: Points, middle: Points) -> Ways:
    """Return the ways back to a node itself, cheapest where they point away from the picture's middle, and straight."""
    angle = np.arange(LOOP_ANGLES) * 2 * math.pi / LOOP_ANGLES + math.pi / 2
    foot = math.asin(min(LOOP_WIDTH / 2 / radius, 1.0))
    begin, end = (centre + radius * direction(angle + sign * foot) for sign in (1, -1))
    # A cubic curve goes three quarters as far out as its control points.
    lift = LOOP_LENGTH / 0.75 / math.cos(0.6)
    first, second = begin + lift * direction(angle + 0.6), end + lift * direction(angle - 0.6)
    share = np.linspace(0.0, 1.0, SAMPLES)
    weights = np.stack([(1 - share) ** 3, 3 * share * (1 - share) ** 2, 3 * share**2 * (1 - share), share**3], axis=1)
    paths = weights @ np.stack([begin, first, second, end], axis=1)
    out = direction(angle)
    outward = (centre - middle) / max(float(np.linalg.norm(centre - middle)), 4 * radius)
    cost = 2.0 * (1.0 - out @ outward) + 0.5 * (1.0 - np.cos(4 * angle))
    return Ways(paths, _beyond(paths, centre, out, half)[:, None], cost[:, None])


def _beyond(paths: Points, centre: Points, out: Points, half: Points) -> Points:
    """Return the middle of a label for every loop: as near as can be in its direction `out` of the node's centre."""
    reach = np.linalg.norm(paths - centre, axis=2).max() + AIR + np.linalg.norm(half)
    steps = np.arange(reach, 0.0, -1.0)
    touching = within(paths[:, None], centre + steps[:, None, None] * out[:, None, None], half + AIR).any(axis=2)
    nearest = steps[np.argmax(touching, axis=1)] + 1.0
    return np.asarray(centre + nearest[:, None] * out)


def direction(angle: Points) -> Points:
    """Return the unit vectors that point that way."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def within(points: Points, middles: Points, half: Points) -> NDArray[np.bool_]:
    """Return whether points lie in boxes around middles."""
    # One coordinate at a time, which is several times as fast as all() over an axis of two.
    across, up = (np.abs(points[..., i] - middles[..., i]) < half[..., i] for i in (0, 1))
    return np.asarray(across & up)
