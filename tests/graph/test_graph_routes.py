"""Routes against enumeration of all policies, breadth-first search, and cases worked out by hand."""

from collections import deque
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import efex
from efex.errors import InvalidArgumentError
from efex.graph import LatentGraph
from efex.graph.routes import routes

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@st.composite
def small_graphs(draw):
    """Up to four nodes and two actions; rows are untried, certain, or random, and some pairs are closed."""
    n, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    weights = st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=n, max_size=n)
    rows = np.array([[draw(weights) for _ in range(n)] for _ in range(n_actions)], float)
    totals = rows.sum(axis=2, keepdims=True)
    graph = LatentGraph.from_matrices(range(n), list(np.divide(rows, totals, where=totals > 0, out=0 * rows)))
    for node, action in product(range(n), range(n_actions)):
        if draw(st.integers(0, 9)) == 0:
            graph = closing(graph, node, action)
    return graph, set(draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=2)))


def closing(graph, node, action):
    """The graph with one pair closed whose edges stay: they must not be used."""
    closed = np.zeros((graph.n_nodes, graph.n_actions), bool) if graph.closed is None else graph.closed.copy()
    closed[node, action] = True
    columns = ("source", "action", "target", "probability", "count")
    parts = {name: getattr(graph, name) for name in columns}
    return LatentGraph(graph.observations, graph.n_actions, **parts, closed=closed)


def follow(graph, targets, policy):
    """The chance to arrive and the expected steps from every node, by plain linear algebra; -1 stays for ever."""
    n = graph.n_nodes
    matrix = np.zeros((n, n))
    for node in range(n):
        if node not in targets and policy[node] >= 0:
            matrix[node] = graph.transition(int(policy[node])).toarray()[node]
    reach = np.linalg.matrix_power((matrix > 0) | np.eye(n, dtype=bool), n) > 0
    hopeful = reach[:, sorted(targets)].any(axis=1)
    chance = np.zeros(n)
    arrive = matrix[:, sorted(targets)].sum(axis=1)
    inner = np.flatnonzero(hopeful & ~np.isin(np.arange(n), sorted(targets)))
    chance[inner] = np.linalg.solve(np.eye(len(inner)) - matrix[np.ix_(inner, inner)], arrive[inner])
    chance[sorted(targets)] = 1
    certain = chance > 1 - 1e-9
    steps = np.where(certain, 0.0, np.inf)
    sure = np.flatnonzero(certain & ~np.isin(np.arange(n), sorted(targets)))
    steps[sure] = np.linalg.solve(np.eye(len(sure)) - matrix[np.ix_(sure, sure)], np.ones(len(sure)))
    return chance, steps


def usable(graph):
    return graph.tried if graph.closed is None else graph.tried & ~graph.closed


@given(small_graphs())
def test_no_policy_is_quicker_or_likelier_to_arrive(case):
    graph, targets = case
    choices = [[-1, *np.flatnonzero(usable(graph)[node])] for node in range(graph.n_nodes)]
    outcomes = [follow(graph, targets, policy) for policy in product(*choices)]
    best_chance = np.max([chance for chance, _ in outcomes], axis=0)
    best_steps = np.min([steps for _, steps in outcomes], axis=0)

    steps, policy = routes(graph, targets)

    np.testing.assert_allclose(steps, best_steps, **CLOSE)
    chance, taken = follow(graph, targets, policy)
    np.testing.assert_allclose(taken, best_steps, **CLOSE)
    np.testing.assert_allclose(chance, best_chance, **CLOSE)
    assert all(policy[node] == -1 for node in targets)
    assert [p >= 0 for p in policy] == [best_chance[i] > 0 and i not in targets for i in range(graph.n_nodes)]


def breadth_first(graph, targets):
    """The number of steps to the targets in a graph without chance."""
    sources = [[] for _ in graph.observations]
    for edge in graph.edges():
        sources[edge.target].append(edge.source)
    distance, todo = dict.fromkeys(targets, 0), deque(targets)
    while todo:
        node = todo.popleft()
        for source in sources[node]:
            if source not in distance:
                distance[source] = distance[node] + 1
                todo.append(source)
    return [distance.get(node, np.inf) for node in range(graph.n_nodes)]


@given(st.integers(1, 30), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_without_chance_routes_are_the_breadth_first_distances(n, n_actions, seed):
    random = np.random.default_rng(seed)
    pairs = np.argwhere(random.random((n, n_actions)) < 0.7)
    steps = np.column_stack([pairs, random.integers(n, size=len(pairs))])
    graph = LatentGraph.from_walks(range(n), n_actions, steps)
    targets = random.integers(n, size=2).tolist()
    assert routes(graph, targets).steps.tolist() == breadth_first(graph, targets)


@pytest.mark.parametrize("name", ["chain", "grid2d", "grid3d", "dense-maze", "sparse-maze"])
def test_a_world_without_slip_is_as_far_as_breadth_first_search_says(name):
    truth = efex.make(name, seed=1).truth
    target = truth.n_nodes // 2
    assert routes(truth, [target]).steps.tolist() == breadth_first(truth, [target])


def test_a_loop_is_left_after_as_many_tries_as_it_takes():
    graph = LatentGraph.from_matrices("ab", [[[0.9, 0.1], [0, 1]]])
    steps, policy = routes(graph, [1])
    np.testing.assert_allclose(steps, [10, 0], **CLOSE)
    assert policy.tolist() == [0, -1]


def test_an_exit_too_improbable_for_a_difference_is_still_an_exit():
    graph = LatentGraph.from_matrices("ab", [[[1 - 1e-10, 1e-10], [0, 1]]])
    np.testing.assert_allclose(routes(graph, [1]).steps, [1e10, 0], rtol=1e-6)


def test_a_dead_end_makes_arriving_uncertain_and_the_best_chance_is_taken():
    bold = [[0, 0.6, 0.4], [0, 1, 0], [0, 0, 1]]
    timid = [[0, 0.3, 0.7], [0, 1, 0], [0, 0, 1]]
    steps, policy = routes(LatentGraph.from_matrices("abc", [timid, bold]), [1])
    assert steps.tolist() == [np.inf, 0, np.inf]
    assert policy.tolist() == [1, -1, -1]


def test_the_long_way_is_taken_where_the_short_one_is_risky():
    short = [[0, 0.5, 0, 0.5], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    long = [[0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    steps, policy = routes(LatentGraph.from_matrices("abcd", [short, long]), [1])
    assert steps.tolist() == [2, 0, 1, np.inf]
    assert policy.tolist()[0] == 1


def test_waiting_for_luck_beats_a_long_detour_until_it_does_not():
    def line(n, luck):
        """A line of n nodes to the last; node 0 may also jump there with some luck, or stay."""
        walk, jump = np.eye(n, k=1), np.zeros((n, n))
        walk[-1, -1] = jump[-1, -1] = 1
        jump[0, [0, n - 1]] = 1 - luck, luck
        return LatentGraph.from_matrices(range(n), [walk, jump])

    assert routes(line(12, luck=0.1), [11]).policy[0] == 1  # 10 tries against 11 steps
    assert routes(line(10, luck=0.1), [9]).policy[0] == 0


def test_a_hopeless_slope_is_avoided_by_a_detour_of_any_length():
    n, detour = 40, 12
    size = n + (n - 1) * detour
    slope, safe = np.zeros((size, size)), np.zeros((size, size))
    for i in range(n - 1):
        slope[i, i + 1] += 0.1
        slope[i, max(i - 1, 0)] += 0.9
        stops = [i, *range(n + i * detour, n + (i + 1) * detour), i + 1]
        safe[stops[:-1], stops[1:]] = 1
    slope[n - 1, n - 1] = 1
    steps, policy = routes(LatentGraph.from_matrices(range(size), [slope, safe]), [n - 1])
    # Only at the very bottom nothing is lost by trying: 10 tries against 13 steps.
    assert policy[: n - 1].tolist() == [0] + [1] * (n - 2)
    np.testing.assert_allclose(steps[0], 10 + 13 * (n - 2), **CLOSE)


def test_what_takes_for_ever_counts_as_out_of_reach_and_is_still_tried():
    n = 60
    slope = 0.1 * np.eye(n, k=1) + 0.9 * np.eye(n, k=-1)
    slope[0, 0], slope[-1] = 0.9, np.eye(n)[-1]
    steps, policy = routes(LatentGraph.from_matrices(range(n), [slope]), [n - 1])
    assert np.isinf(steps[0])
    assert policy.tolist() == [0] * (n - 1) + [-1]


def test_untried_and_closed_pairs_are_no_way():
    graph = LatentGraph.from_walks("abc", 2, [(0, 0, 1), (1, 1, 2)])
    assert routes(graph, [2]).steps.tolist() == [2, 1, 0]
    assert routes(closing(graph, 1, 1), [2]).steps.tolist() == [np.inf, np.inf, 0]
    assert routes(closing(graph, 1, 1), [2]).policy.tolist() == [-1, -1, -1]


def test_an_edge_of_probability_zero_is_no_way():
    graph = LatentGraph.from_walks("ab", 1, [(0, 0, 0), (0, 0, 1)])
    columns = {name: getattr(graph, name) for name in ("source", "action", "target", "count")}
    never = LatentGraph(graph.observations, 1, probability=np.array([1.0, 0.0]), **columns)
    assert routes(never, [1]).steps.tolist() == [np.inf, 0]


@pytest.mark.parametrize("targets", [[], [3], [-1], [True], ["a"], [0.5]])
def test_targets_that_are_no_nodes_are_refused(targets):
    with pytest.raises(InvalidArgumentError, match="targets must be"):
        routes(LatentGraph.from_walks("abc", 1, [(0, 0, 1)]), targets)
