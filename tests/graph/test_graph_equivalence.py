from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from graph_examples import enumerated_probability, grid, split, stochastic_graphs
from hypothesis import assume, given
from hypothesis import strategies as st

from efex.errors import InvalidArgumentError
from efex.graph import LatentGraph, Witness
from efex.graph.refinement import partition

EXACT = {"rel": 1e-9, "abs": 1e-12}


def pair(first: list[float], second: list[float]) -> tuple[LatentGraph, LatentGraph]:
    """Return two graphs that differ in the row of their only choice, among two symbols."""
    return tuple(  # type: ignore[return-value]
        LatentGraph.from_matrices("abc", [[[0, *row], [1, 0, 0], [1, 0, 0]]], starts=[0]) for row in (first, second)
    )


@given(stochastic_graphs(), st.randoms(use_true_random=False))
def test_a_relabelled_graph_is_the_same(graph, random):
    order = random.sample(range(graph.n_nodes), graph.n_nodes)
    assert graph.difference(graph.relabel(order)) is None


@given(stochastic_graphs(single_start=False), st.randoms(use_true_random=False))
def test_a_relabelled_graph_without_starts_is_the_same(graph, random):
    order = random.sample(range(graph.n_nodes), graph.n_nodes)
    assert graph.equivalent_to(graph.relabel(order))
    assert graph.equivalent_to(graph.merge_equivalent())


@given(stochastic_graphs(), st.integers(0, 5), st.floats(0.1, 0.9))
def test_merging_undoes_splitting(graph, node, share):
    merged = graph.merge_equivalent()
    parted = split(graph, node % graph.n_nodes, share=share)
    assert graph.equivalent_to(parted)
    again = parted.merge_equivalent()
    assert again.n_nodes == merged.n_nodes
    assert again.equivalent_to(graph)


def test_merging_undoes_splitting_of_a_grid():
    graph = grid(7, symbols=6, slip=0.2)
    assert graph.merge_equivalent().n_nodes == 49
    parted = graph
    for node in (3, 17, 3, 48, 49):
        parted = split(parted, node, share=0.3)
    parted = parted.relabel(np.random.default_rng(0).permutation(parted.n_nodes))
    merged = parted.merge_equivalent()
    assert merged.n_nodes == 49
    assert merged.equivalent_to(graph)
    assert merged.equivalent_to(replace(graph, starts=()), start=(merged.starts[0], 0))


@given(stochastic_graphs(), st.integers(0, 5))
def test_a_changed_observation_yields_a_true_witness(graph, node):
    shown = list(graph.observations)
    shown[node % graph.n_nodes] = {"a": "b", "b": "a"}[shown[node % graph.n_nodes]]
    check_witness(graph, replace(graph, observations=tuple(shown)))


@given(stochastic_graphs(), stochastic_graphs())
def test_two_random_graphs_yield_a_true_witness(graph, other):
    assume(graph.n_actions == other.n_actions)
    check_witness(graph, other)


@given(stochastic_graphs(), st.integers(0, 100), st.floats(0.05, 0.95))
def test_a_changed_probability_yields_a_true_witness(graph, edge, shift):
    row = np.flatnonzero(graph.tried)
    assume(row.size)
    node, action = divmod(int(row[edge % row.size]), graph.n_actions)
    here = (graph.source == node) & (graph.action == action)
    assume(here.sum() > 1)
    probability = graph.probability.copy()
    probability[here] *= 1 - shift
    probability[np.flatnonzero(here)[0]] += shift
    check_witness(graph, replace(graph, probability=probability))


def check_witness(graph: LatentGraph, other: LatentGraph) -> None:
    witness = graph.difference(other)
    same = same_traces(graph, other)
    if witness is None:
        assert same
        return
    found = [enumerated_probability(each, each.starts[0], witness) for each in (graph, other)]
    assert witness.probabilities == pytest.approx(found, **EXACT)
    assert (abs(found[0] - found[1]) < 1e-12) == same


def same_traces(graph: LatentGraph, other: LatentGraph) -> bool:
    """Return whether all words of up to n + m steps are equally probable, by brute force over belief pairs."""

    def start(each: LatentGraph) -> np.ndarray:
        return np.eye(each.n_nodes)[each.starts[0]]

    if graph.observations[graph.starts[0]] != other.observations[other.starts[0]]:
        return False
    basis: list[np.ndarray] = []
    queue = [(start(graph), start(other))]
    while queue:
        left, right = queue.pop(0)
        if abs(left.sum() - right.sum()) > 1e-12:
            return False
        both = np.concatenate([left, right])
        if np.linalg.matrix_rank(np.array([*basis, both]), tol=1e-12) == len(basis):
            continue
        basis.append(both)
        for action in range(graph.n_actions):
            for symbol in "ab":
                shown = [np.array([o == symbol for o in each.observations]) for each in (graph, other)]
                queue.append(
                    ((left @ graph.transition(action)) * shown[0], (right @ other.transition(action)) * shown[1])
                )
    return True


def test_the_witness_is_a_shortest_walk_where_actions_are_certain():
    graph = grid(6, symbols=4)
    shown = list(graph.observations)
    shown[35] = 9
    witness = graph.difference(replace(graph, observations=tuple(shown)))
    assert witness is not None
    assert len(witness.actions) == 10
    assert sorted(witness.probabilities) == [0.0, 1.0]


def test_the_witness_under_slip_is_a_likely_one():
    graph = grid(6, symbols=4, slip=0.1)
    shown = list(graph.observations)
    shown[35] = 9
    witness = graph.difference(replace(graph, observations=tuple(shown)))
    assert witness is not None
    assert max(witness.probabilities) > 0.9**12


def test_the_witness_can_be_simulated():
    graph = grid(3, symbols=2, seed=1, slip=0.4)
    other = grid(3, symbols=2, seed=1, slip=0.1)
    witness = graph.difference(other)
    assert witness is not None
    for each, probability in zip((graph, other), witness.probabilities, strict=True):
        assert simulated(each, witness, walks=20_000) == pytest.approx(probability, abs=0.02)
    assert abs(np.subtract(*witness.probabilities)) > 0.05


def simulated(graph: LatentGraph, witness: Witness, *, walks: int) -> float:
    """Return the share of random walks from the start that show what the witness shows."""
    rng = np.random.default_rng(0)
    shown = np.array(graph.observations)
    nodes = np.full(walks, graph.starts[0])
    as_said = shown[nodes] == witness.observations[0]
    for action, symbol in zip(witness.actions, witness.observations[1:], strict=True):
        reach = np.cumsum(graph.transition(action).toarray(), axis=1)[nodes]
        nodes = (rng.random((walks, 1)) * reach[:, -1:] > reach).sum(axis=1)
        as_said &= shown[nodes] == symbol
    return float(as_said.mean())


def test_an_untried_pair_differs_from_a_tried_one():
    loop = [[1.0]]
    tried, untried = (LatentGraph.from_matrices("a", [loop, m]) for m in (loop, [[0.0]]))
    assert tried.difference(untried) == Witness((1,), ("a", "a"), (1.0, 0.0))
    assert not tried.equivalent_to(untried, tolerance=0.9)


def test_a_symbol_that_only_one_graph_shows_is_the_witness():
    one, two = (LatentGraph.from_matrices(shown, [np.eye(len(shown))]) for shown in ("ab", "abc"))
    assert one.difference(two) == Witness((), ("c",), (0.0, 1.0))
    assert two.difference(one) == Witness((), ("c",), (1.0, 0.0))
    empty = LatentGraph.from_walks([], 1, [])
    assert empty.difference(one) == Witness((), ("a",), (0.0, 1.0))
    assert empty.difference(empty) is None


def test_symbols_of_different_types_differ():
    one, true = (LatentGraph.from_matrices([shown], [[[1.0]]]) for shown in (1, True))
    assert one.difference(true) is not None


def test_only_what_the_starts_reach_counts():
    graph = grid(4, symbols=3)
    lonely = LatentGraph.from_matrices(
        [*graph.observations, "x"],
        [
            np.block([[graph.transition(a).toarray(), np.zeros((16, 1))], [np.zeros((1, 16)), np.ones((1, 1))]])
            for a in range(4)
        ],
        starts=[0],
    )
    assert graph.equivalent_to(lonely)
    assert not graph.equivalent_to(lonely, start=(0, 16))
    assert not replace(graph, starts=()).equivalent_to(replace(lonely, starts=()))


def test_several_starts_compare_all_that_is_reached():
    graph = grid(4, symbols=3)
    assert replace(graph, starts=(0, 5)).equivalent_to(replace(graph, starts=(3,)))
    assert not graph.equivalent_to(replace(graph, starts=(3,)))


def test_bisimulation_is_finer_than_traces():
    """Whether chance decides one step earlier shows in no experiment, only in the graph."""
    early = LatentGraph.from_matrices(
        "abbcd", [[[0, 0.5, 0.5, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]], starts=[0]
    )
    late = LatentGraph.from_matrices("abcd", [[[0, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 1, 0], [0, 0, 0, 1]]], starts=[0])
    witness = early.difference(late)
    assert witness is not None
    assert witness.probabilities[0] == pytest.approx(witness.probabilities[1], **EXACT)


def test_tolerance_takes_near_masses_as_equal():
    first, second = pair([0.7, 0.3], [0.65, 0.35])
    assert first.equivalent_to(second, tolerance=0.06)
    witness = first.difference(second, tolerance=0.04)
    assert witness is not None
    assert sorted(witness.probabilities) in (pytest.approx([0.65, 0.7]), pytest.approx([0.3, 0.35]))


def test_edges_of_probability_zero_change_nothing():
    graph = grid(3, symbols=2)
    idle = replace(
        graph,
        source=np.append(graph.source, 0),
        action=np.append(graph.action, 0),
        target=np.append(graph.target, 8),
        probability=np.append(graph.probability, 0.0),
        count=np.append(graph.count, 0.0),
    )
    assert graph.equivalent_to(idle)
    assert idle.difference(grid(3, symbols=2, seed=5)) is not None
    assert idle.prune().n_edges == graph.n_edges


def test_rounding_does_not_part_equal_nodes():
    thirds = [1 / 3, 1 - 1 / 3]
    nudged = [1 / 3 + 1e-12, 1 - 1 / 3 - 1e-12]
    first, second = pair(thirds, nudged)
    assert first.equivalent_to(second)


def test_merging_with_a_tolerance_weighs_rows_by_visits():
    steps = [(0, 0, 2)] * 60 + [(0, 0, 3)] * 40 + [(1, 0, 2)] * 11 + [(1, 0, 3)] * 9
    graph = LatentGraph.from_walks("aabc", 1, steps, starts=[0, 1], utility=[0.1, 0.4, 0.0, 0.0])
    assert graph.merge_equivalent().n_nodes == 4
    merged = graph.merge_equivalent(tolerance=0.06)
    assert merged.observations == ("a", "b", "c")
    assert [edge.count for edge in merged.edges()] == [71, 49]
    assert [edge.probability for edge in merged.edges()] == pytest.approx([71 / 120, 49 / 120], **EXACT)
    assert merged.starts == (0,)
    assert merged.utility.tolist() == [0.4, 0.0, 0.0]


def test_merging_averages_coordinates():
    graph = replace(split(grid(3, symbols=9), 4), starts=(0,))
    moved = graph.coordinates.copy()
    moved[9] += 1
    merged = replace(graph, coordinates=moved).merge_equivalent()
    assert merged.coordinates[4].tolist() == [1.5, 1.5]


def test_ten_thousand_nodes_take_seconds():
    size = 100
    row, column = np.divmod(np.arange(size * size), size)
    steps = np.concatenate(
        [
            np.column_stack([
                np.arange(size * size), np.full(size * size, action),
                np.clip(row + down, 0, size - 1) * size + np.clip(column + right, 0, size - 1),
            ])
            for action, (down, right) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1)))
        ]
    )  # fmt: skip
    shown = np.random.default_rng(0).integers(50, size=size * size).tolist()
    graph = LatentGraph.from_walks(shown, 4, steps, starts=[0])
    begin = time.perf_counter()
    assert len(np.unique(partition(graph))) == size * size
    assert graph.equivalent_to(graph.relabel(np.arange(size * size)[::-1]))
    assert time.perf_counter() - begin < 5


def test_pruning_drops_weak_edges_and_lonely_nodes():
    steps = [(0, 0, 1)] * 98 + [(0, 0, 2)] * 2 + [(1, 0, 0)] * 3 + [(3, 0, 3)]
    graph = LatentGraph.from_walks("abcd", 1, steps, starts=[0], utility=[0, 1, 2, 3])
    assert graph.prune().n_nodes == 4
    likely = graph.prune(min_probability=0.05)
    assert likely.observations == ("a", "b", "d")
    assert [edge[:5] for edge in likely.edges()] == [(0, 0, 1, 1.0, 98), (1, 0, 0, 1.0, 3), (2, 0, 2, 1.0, 1)]
    assert likely.utility.tolist() == [0, 1, 3]
    frequent = graph.prune(min_count=3)
    assert frequent.observations == ("a", "b")
    start = graph.prune(min_count=1000)
    assert (start.observations, start.starts, start.n_edges) == (("a",), (0,), 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda g: g.difference(LatentGraph.from_matrices("a", [[[1.0]]])),
        lambda g: g.difference(g, start=(0, 99)),
        lambda g: g.difference(g, start=(-1, 0)),
        lambda g: g.difference(g, tolerance=-0.1),
        lambda g: g.merge_equivalent(tolerance=float("nan")),
        lambda g: g.prune(min_probability=-1),
        lambda g: g.prune(min_count=float("nan")),
    ],
)
def test_bad_input_is_named(call):
    with pytest.raises(InvalidArgumentError, match="must"):
        call(grid(2, symbols=2))
