"""Phases: what a protocol's machine does, where nodes that differ only in the last reply are one phase."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from efex.graph import LatentGraph

Moves = dict[tuple[int, int], list[str]]
"""What is said and answered, "COMMAND reply", between a phase and the next; conversations begin in phase 0."""


def phases(graph: LatentGraph, names: Sequence[str]) -> Moves:
    """Return what the machine does after every command of these names: of several outcomes, the likeliest."""
    target, likely = np.full((graph.n_nodes, graph.n_actions), -1), np.argsort(graph.probability, kind="stable")
    target[graph.source[likely], graph.action[likely]] = graph.target[likely]
    order = sorted(range(graph.n_nodes), key=lambda node: node not in graph.starts)
    rows = list(dict.fromkeys(tuple(target[node]) for node in order))
    moves: Moves = {}
    for (here, row), (action, name) in ((a, b) for a in enumerate(rows) for b in enumerate(names)):
        if (node := row[action]) >= 0:
            moves.setdefault((here, rows.index(tuple(target[node]))), []).append(f"{name} {graph.observations[node]}")
    return moves


def foretold(moves: Moves, commands: Sequence[str], replies: Sequence[str]) -> float:
    """Return the share of the replies to some commands, said one after the other, that the phases foretell."""
    expected = {(here, *words.split()): there for (here, there), said in moves.items() for words in said}
    answers = {(here, name): reply for here, name, reply in expected}
    phase, right = 0, 0
    for name, reply in zip(commands, replies, strict=True):
        answer = answers.get((phase, name), "nothing")
        right += answer == reply
        phase = expected.get((phase, name, answer), phase)
    return right / len(replies)
