from __future__ import annotations

from dataclasses import replace
from itertools import product

import gymnasium
import numpy as np
import pytest
from graph_examples import grid, scrambled, split, stochastic_graphs
from hypothesis import given
from scipy.spatial.distance import cdist

import efex
from efex.graph import LatentGraph
from efex.graph.floor_plan import MOST
from efex.graph.layout import flat, laid_out_like, layout

COMPASS = ["go north", "go south", "go west", "go east"]
AROUND = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def lattice(moves, *, size=6, extra=(), names=None):
    """The cells of a square or a cube, and one action for every move, which walls stop; `extra` steps come on top."""
    cells = list(product(range(size), repeat=len(moves[0])))
    number = {cell: node for node, cell in enumerate(cells)}
    steps = [
        (node, action, number.get(tuple(np.add(cell, move).tolist()), node))
        for cell, node in number.items()
        for action, move in enumerate(moves)
    ]
    n_actions = 1 + max(action for _, action, _ in [*steps, *extra])
    return LatentGraph.from_walks([0] * len(cells), n_actions, [*steps, *extra], action_names=names)


def poses(size=4):
    """A room in which one turns left, turns right or goes ahead, and where every pose looks the same."""
    number = {pose: node for node, pose in enumerate(product(range(size), range(size), range(4)))}
    steps = []
    for (x, y, heading), node in number.items():
        ahead = x + (1, 0, -1, 0)[heading], y + (0, 1, 0, -1)[heading], heading
        steps += [(node, 0, number[x, y, (heading + 1) % 4]), (node, 1, number[x, y, (heading - 1) % 4])]
        steps.append((node, 2, number.get(ahead, node)))
    places = np.array([(x + 0.25 * (1, 0, -1, 0)[h], y + 0.25 * (0, 1, 0, -1)[h]) for x, y, h in number])
    return LatentGraph.from_walks([0] * len(number), 3, steps), places


def unlike(points, places):
    """By how much distances between points differ from those between places, at most."""
    return np.abs(cdist(points, points) - cdist(places, places)).max()


@pytest.mark.parametrize("world", ["grid2d", "grid3d", "icg", "dense-maze", "sparse-maze", "teleport-maze"])
@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_worlds_lie_where_they_are(world, slip):
    truth = efex.make(world, seed=3, slip=slip).truth
    assert unlike(truth.floor_plan(), truth.coordinates) < 1e-6


def test_a_recovered_map_is_the_plan_of_the_maze():
    world = efex.make("sparse-maze", unique_fraction=0.3, seed=2)
    run = efex.explore(world, steps=4_000, clones=10, progress=False)
    assert run.graph.equivalent_to(world.truth)
    assert unlike(run.graph.floor_plan(), run.true_positions()) < 1e-6
    assert np.allclose(laid_out_like(run.graph, run.true_positions()), _centred(run.true_positions()))


def _centred(points):
    return points - points.mean(axis=0)


def test_poses_lie_around_their_places_towards_where_they_look():
    graph, places = poses()
    assert unlike(graph.floor_plan(), places) < 1e-6
    assert unlike(layout(graph), places) < 1e-6


def test_actions_of_other_kinds_of_grids_are_as_long_as_one_another():
    hexagons = lattice([(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)])
    points = hexagons.floor_plan()
    away = np.linalg.norm(points[hexagons.target] - points[hexagons.source], axis=1)
    assert np.allclose(away[hexagons.source != hexagons.target], 1)
    kings = lattice([move for move in product((-1, 0, 1), repeat=2) if any(move)])
    points = kings.floor_plan()
    across, up = np.abs(points[kings.target] - points[kings.source])[kings.source != kings.target].T
    assert np.allclose(np.sort(np.unique(across.round(6))), [0, across.max()]), "sides run across and up"
    assert np.allclose(across.max(), up.max())


@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_there_are_as_many_dimensions_as_actions_have_axes(n_axes):
    moves = [tuple(sign * (axis == each) for each in range(n_axes)) for axis in range(n_axes) for sign in (1, -1)]
    graph = lattice(moves, size=4)
    assert graph.floor_plan().shape == (4**n_axes, n_axes)
    assert np.array_equal(layout(graph), flat(graph.floor_plan()))


def test_where_an_action_leads_to_another_storey_it_is_drawn_beside():
    ground = lattice(AROUND, size=5)
    steps = np.column_stack([ground.source, ground.action, ground.target])
    above = steps + np.array([25, 0, 25])
    house = LatentGraph.from_walks([0] * 50, 5, [*steps, *above, (7, 4, 32)])
    points = house.floor_plan()
    assert np.allclose(points[25:] - points[:25], (points[32] - points[7]))
    assert unlike(points[:25], ground.floor_plan()) < 1e-6
    assert np.linalg.norm(points[32] - points[7]) == pytest.approx(1)


def test_names_say_which_way_is_up():
    points = lattice(AROUND, names=COMPASS).floor_plan()
    row, column = np.divmod(np.arange(36), 6)
    assert np.allclose(points - points[0], np.column_stack([column, -row]))


def test_the_longest_extent_is_across_where_there_are_no_names():
    walls = lattice(AROUND)
    tall = [node for node in range(36) if node % 6 < 3]
    number = {node: new for new, node in enumerate(tall)}
    steps = [
        (number[s], a, number[t])
        for s, a, t in zip(walls.source.tolist(), walls.action.tolist(), walls.target.tolist(), strict=True)
        if s in number and t in number
    ]
    assert np.ptp(LatentGraph.from_walks(range(18), 4, steps).floor_plan(), axis=0) == pytest.approx([5, 2])


@pytest.mark.parametrize("seed", range(5))
def test_a_few_wrong_steps_bend_nothing(seed):
    rng, graph = np.random.default_rng(seed), lattice(AROUND, size=12)
    wrong = rng.choice(graph.n_edges, size=6, replace=False)
    target = graph.target.copy()
    target[wrong] = rng.integers(graph.n_nodes, size=6)
    assert unlike(replace(graph, target=target).floor_plan(), graph.floor_plan()) < 1e-3


def test_falling_from_the_cliff_does_not_fold_it():
    table = gymnasium.make("CliffWalking-v1").unwrapped.P
    steps = [(state, action, table[state][action][0][1]) for state in range(37) for action in range(4)]
    walked = [step for step in steps if step[0] != 47]
    places = np.array([(state % 12, -(state // 12)) for state in range(48)])
    graph = LatentGraph.from_walks(range(48), 4, walked, action_names=["up", "right", "down", "left"])
    points = graph.floor_plan()
    assert np.allclose((points - points[0])[:37], places[:37], atol=1e-3)


def test_nodes_of_the_same_place_lie_beside_one_another():
    graph = split(grid(6, symbols=5), 14)
    points = graph.floor_plan()
    assert np.linalg.norm(points[14] - points[36]) == pytest.approx(0.6, abs=0.01)
    assert unlike(np.delete(points, [14, 36], axis=0), np.delete(grid(6, symbols=5).floor_plan(), 14, axis=0)) < 1e-6


@pytest.mark.parametrize("rare", [(30, 43), (30, 41), (30, 54), (30, 90), (30, 33)])
def test_an_action_taken_once_neither_shears_nor_squeezes_a_plan(rare):
    plain = lattice(AROUND, size=12)
    graph = lattice(AROUND, size=12, extra=[(rare[0], 4, rare[1])])
    assert unlike(graph.floor_plan(), plain.floor_plan()) < 1e-6


def test_more_than_one_name_for_a_turn_is_a_turn():
    graph, places = poses()
    steps = np.column_stack([graph.source, graph.action, graph.target])
    again = steps[steps[:, 1] < 2] + np.array([0, 3, 0])
    named = LatentGraph.from_walks([0] * graph.n_nodes, 5, [*steps, *again])
    assert unlike(named.floor_plan(), places) < 1e-6


def test_a_large_graph_is_looked_at_where_most_of_it_is():
    steps = lattice(AROUND, size=50)
    walked = np.column_stack([steps.source + 1, steps.action, steps.target + 1])
    assert LatentGraph.from_walks([0] * 2_501, 4, walked).floor_plan() is not None


def test_large_maps_with_wrong_steps_are_laid_out_soon():
    rng, graph = np.random.default_rng(0), lattice(AROUND, size=70)
    target = np.where(rng.random(graph.n_edges) < 0.05, rng.integers(graph.n_nodes, size=graph.n_edges), graph.target)
    same = (graph.source == target) | (target == graph.target)
    steps = np.column_stack([graph.source, graph.action, target])
    assert same.mean() > 0.9
    assert LatentGraph.from_walks([0] * graph.n_nodes, 4, steps).floor_plan() is not None


def test_nodes_of_one_place_do_not_hide_one_another_on_a_line():
    path = lattice([(1,), (-1,)], size=30)
    for _ in range(2):
        path = split(path, 14)
    points = path.floor_plan()
    assert np.diff(np.sort(points[:, 0])).min() > 0.1
    crowded = path
    for _ in range(6):
        crowded = split(crowded, 14)
    assert crowded.floor_plan() is None


def folded():
    """A grid every node of which was split in two."""
    graph = grid(4, symbols=3)
    for node in range(16):
        graph = split(graph, node)
    return graph


@pytest.mark.parametrize(
    "graph",
    [
        efex.make("chain").truth,
        scrambled(grid(6, symbols=4)),
        LatentGraph.from_walks("ring", 1, [(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 0)]),
        LatentGraph.from_walks(range(9), 2, []),
        LatentGraph.from_walks([], 2, []),
        lattice([(1,), (-1,)], extra=[(0, MOST, 1)]),
        folded(),
        lattice(np.concatenate([np.eye(4), -np.eye(4)]).astype(int).tolist(), size=3),
    ],
    ids=["chain", "scrambled", "ring", "nothing tried", "empty", "too many actions", "folded", "four axes"],
)
def test_where_actions_lead_no_same_way_there_is_no_plan(graph):
    assert graph.floor_plan() is None


@pytest.mark.parametrize("whole", [lattice(AROUND), poses()[0], efex.make("icg").truth], ids=["grid", "room", "icg"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9])
def test_any_part_of_a_map_has_a_plan_or_none(whole, share):
    rng = np.random.default_rng(round(100 * share))
    steps = np.column_stack([whole.source, whole.action, whole.target])
    for _ in range(10):
        walked = steps[rng.random(len(steps)) < share]
        part = LatentGraph.from_walks(whole.observations, whole.n_actions, walked)
        plan = part.floor_plan()
        assert plan is None or np.isfinite(plan).all()
        assert layout(part).shape == (whole.n_nodes, 2)


@given(stochastic_graphs(max_nodes=12))
def test_any_graph_has_a_plan_or_none(graph):
    plan = graph.floor_plan()
    assert plan is None or (plan.shape[0] == graph.n_nodes and np.isfinite(plan).all())


@pytest.mark.parametrize("seed", range(10))
def test_machines_have_no_plan(seed):
    rng = np.random.default_rng(seed)
    steps = [(node, action, int(rng.integers(15))) for node in range(15) for action in range(6)]
    assert LatentGraph.from_walks(range(15), 6, steps).floor_plan() is None


def test_large_graphs_are_plans_too_and_large_machines_are_given_up_soon():
    places = np.column_stack(np.divmod(np.arange(3_600), 60))
    assert unlike(lattice(AROUND, size=60).floor_plan()[:300], places[:300]) < 1e-6
    rng, n = np.random.default_rng(0), 20_000
    steps = np.column_stack([np.repeat(np.arange(n), 8), np.tile(np.arange(8), n), rng.integers(n, size=8 * n)])
    assert LatentGraph.from_walks([0] * n, 8, steps).floor_plan() is None, "all of it would take gigabytes"
