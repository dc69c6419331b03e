"""Robots that turn left, turn right and go ahead, in rooms of coloured cells."""

import numpy as np

import efex
from efex.worlds import GraphWorld

HEADINGS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def robot(size=5, *, colours=6, seed=0, sees="ahead", backwards=False, fails=0.0, episode_steps=80):
    """Return the world of a robot that sees the colour of the cell ahead of it, or of the one it is in.

    It turns left or right, goes ahead and, maybe, back; an action may do nothing.
    """
    rng, ids = np.random.default_rng(seed), np.arange(size * size * 4).reshape(size, size, 4)
    colour = rng.integers(1, colours, (size, size))
    moves, looks = np.zeros((3 + backwards, ids.size, ids.size)), np.zeros(ids.size, int)
    for (x, y, heading), pose in np.ndenumerate(ids):
        moves[0, pose, ids[x, y, (heading + 1) % 4]] = moves[1, pose, ids[x, y, (heading - 1) % 4]] = 1
        ahead = np.array([x, y]) + HEADINGS[heading]
        for action, there in ((2, ahead), (3, 2 * np.array([x, y]) - ahead))[: 1 + backwards]:
            is_free = ((there >= 0) & (there < size)).all()
            moves[action, pose, ids[(*there, heading)] if is_free else pose] = 1
        shown = ahead if sees == "ahead" else np.array([x, y])
        looks[pose] = colour[tuple(shown)] if ((shown >= 0) & (shown < size)).all() else 0
    looks = np.unique(looks, return_inverse=True)[1].tolist()
    moves = (1 - fails) * moves + fails * np.eye(ids.size)
    return GraphWorld(
        efex.LatentGraph.from_matrices(looks, list(moves), starts=(0,)), seed=0, episode_steps=episode_steps
    )
