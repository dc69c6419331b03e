from __future__ import annotations

import pytest

from efex.errors import InvalidArgumentError
from efex.graph.first_order import first_order_graph


def test_steps_are_counted_by_symbol_and_never_across_episodes():
    graph = first_order_graph(["a", "b", "a", "c", "b", "a"], [0, 1, -1, 0, 1, -1], n_actions=2)
    assert graph.observations == ("a", "b", "c")
    assert [edge[:5] for edge in graph.edges()] == [(0, 0, 1, 1.0, 1), (2, 0, 1, 1.0, 1), (1, 1, 0, 1.0, 2)]
    assert graph.starts == (0, 2)


def test_aliased_places_become_one_node():
    graph = first_order_graph([1, 0, 1, 0], [0, 0, 0, -1], n_actions=1)
    assert graph.n_nodes == 2
    assert first_order_graph([1, True], [0, -1], n_actions=1).n_nodes == 2


def test_an_empty_experience_is_an_empty_graph():
    assert first_order_graph([], [], n_actions=3).n_nodes == 0


@pytest.mark.parametrize(("symbols", "actions"), [("ab", [0]), ("ab", [2, -1]), ("ab", [-2, -1])])
def test_bad_experience_is_named(symbols, actions):
    with pytest.raises(InvalidArgumentError, match="actions must be"):
        first_order_graph(symbols, actions, n_actions=2)
