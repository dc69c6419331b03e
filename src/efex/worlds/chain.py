"""The chain: a corridor whose two actions mean left and right, or right and left, at random per node."""

from dataclasses import replace

import numpy as np

from efex.checks import flag, whole
from efex.randomness import stream
from efex.worlds.topology import Topology, from_picture, leads_to, moves

HOME = 1
SPARE_STEPS = 9


def chain(seed: int, *, length: int = 50, trap: bool = False) -> Topology:
    """Return a chain of `length` nodes whose home is node 1 and whose episodes last `length` + 9 steps.

    At each end the outward action stays. With `trap`, both actions at node 0 stay or go to node 1 with
    probability 0.5 each.
    """
    length = whole("length", length, at_least=2)
    straight = from_picture(np.ones(length, bool))
    flipped = stream(seed, "structure").integers(2, size=length).astype(bool)
    (left, right), _ = moves(straight.picture)
    targets = np.where(flipped, [right, left], [left, right])
    astray = np.zeros(length)
    if flag("trap", trap):
        targets[:, 0] = 0
        astray[0] = 0.5
    return replace(
        straight,
        base=tuple(leads_to(target, astray, elsewhere=1) for target in targets),
        home=HOME,
        episode_steps=length + SPARE_STEPS,
        aliased=False,
    )
