"""Names of actions: two sides that call them the same are matched by them."""

from efex.graph.action_names import matching_numbers


def test_other_names_leave_actions_to_their_numbers():
    assert matching_numbers(None, ("a", "b"), n_actions=2) == [0, 1]
    assert matching_numbers(("a", "b"), None, n_actions=2) == [0, 1]
    assert matching_numbers(("a", "b"), ("b", "c"), n_actions=2) == [0, 1]
    assert matching_numbers(("a", "b", "c"), ("c", "a", "b"), n_actions=3) == [1, 2, 0]
