"""Held-out walks: the part of an experience that a model is not shown, to see what it predicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from efex.errors import InvalidArgumentError
from efex.experience import Alphabet, Experience
from efex.graph import LatentGraph, inference


def hold_out(experience: Experience, share: float, *, rng: np.random.Generator) -> tuple[Experience, Experience]:
    """Return the walks to learn from and the walks held out: whole episodes drawn at random, at least one of each.

    Of a single episode it is the last part that is held out.

    >>> import numpy as np
    >>> walks = Experience.from_episodes([([0, 1, 0], None)] * 10)
    >>> hold_out(walks, 0.2, rng=np.random.default_rng(0))
    (Experience(8 episodes, 16 steps, 2 symbols), Experience(2 episodes, 4 steps, 2 symbols))
    """
    if not isinstance(share, int | float) or not 0 < share < 1:
        raise InvalidArgumentError(f"held_out must be a share of at least 0 and below 1, not {share!r}")
    held = np.zeros(len(experience), bool)
    if experience.n_episodes > 1:
        number = min(max(round(share * experience.n_episodes), 1), experience.n_episodes - 1)
        drawn = np.zeros(experience.n_episodes, bool)
        drawn[rng.permutation(experience.n_episodes)[:number]] = True
        held = np.repeat(drawn, np.diff(experience.offsets))
    else:
        held[len(held) - max(round(share * len(held)), 2) :] = True
    kept, out = _part(experience, ~held), _part(experience, held)
    if min(kept.n_steps, out.n_steps) < 1:
        raise InvalidArgumentError(
            f"held_out={share} leaves nothing to learn from or nothing to test on "
            f"(steps: {experience.n_steps}, episodes: {experience.n_episodes}); use held_out=0"
        )
    return kept, out


def _part(experience: Experience, chosen: NDArray[np.bool_]) -> Experience:
    """Return the chosen positions, walks cut where the next one is not chosen, with no symbol that is not in them."""
    position = np.flatnonzero(chosen)
    actions = experience.actions[position]
    actions[np.append(np.diff(position) > 1, True)[: len(position)]] = -1
    old = experience.observations[position]
    alphabet = Alphabet(experience.alphabet[code] for code in dict.fromkeys(old.tolist()))
    codes = alphabet.lookup(experience.alphabet.symbols)[old]
    ended = np.searchsorted(position, experience.terminated[chosen[experience.terminated]])
    return Experience.from_flat(
        codes, actions, n_actions=experience.n_actions, alphabet=alphabet, terminated=ended.tolist()
    )


def nats_per_step(graph: LatentGraph, walks: Experience, *, pseudocount: float | None = None) -> float:
    """Return how well a graph predicts walks: the log-probability of what a step shows, in nats, mean over steps.

    Each walk starts at any of the nodes that show its first observation, and what came before in it is known. A symbol
    never seen before costs log 1e-6, as in `LatentGraph.log_likelihood`.
    """
    first = np.zeros(len(walks), bool)
    first[walks.offsets[:-1]] = True
    whole, begun = (
        inference.log_likelihood(graph, part, pseudocount=pseudocount) for part in (walks, _part(walks, first))
    )
    return (whole - begun) / max(walks.n_steps, 1)
