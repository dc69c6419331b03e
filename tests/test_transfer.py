"""Transfer: a known graph in a world that looks different is coloured in, and given up where it does not fit."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest

import efex
from efex.agents.colourings import Colourings
from efex.agents.memory import remembered
from efex.agents.remembering import Remembering
from efex.agents.transfer import Transfer
from efex.arrays import read_arrays, write_arrays
from efex.errors import InvalidArgumentError, StorageError
from efex.experience import Alphabet
from efex.worlds import GraphWorld

MAZE = {"size": 11, "unique_fraction": 0.3, "seed": 2}


def repainted(truth, *, symbols, seed=0, **changes):
    colours = np.random.default_rng(seed).integers(symbols, size=truth.n_nodes)
    return GraphWorld(replace(truth, observations=tuple(colours.tolist()), **changes), episode_steps=100)


def test_a_repainted_maze_is_known_after_one_tour():
    known = efex.make("sparse-maze", **MAZE).truth
    world = repainted(known, symbols=8)
    run = efex.transfer(world, known, steps=4 * known.n_nodes, progress=False)
    assert run.graph.n_nodes == known.n_nodes
    assert run.graph.equivalent_to(world.truth)
    assert efex.measures.precision(run, world, walks=5, steps=200) >= 0.95


def test_a_map_that_was_explored_is_transferred():
    first = efex.explore(efex.make("sparse-maze", **MAZE | {"size": 7}), steps=500, progress=False)
    world = repainted(first.truth, symbols=8, seed=1)
    run = efex.transfer(world, first.graph, steps=100, progress=False)
    assert efex.measures.precision(run, world, walks=5, steps=200) >= 0.95


@pytest.mark.verify
def test_it_takes_a_third_of_the_steps_from_nothing():
    first = efex.explore(efex.make("sparse-maze", unique_fraction=0.1, seed=5), steps=10_000, progress=False)
    world = repainted(first.truth, symbols=13, seed=1)
    run = efex.transfer(world, first.graph, steps=150, progress=False)
    alone = efex.explore(world, steps=450, progress=False)
    assert efex.measures.precision(run, world, walks=20, steps=1_000) >= 0.95
    assert efex.measures.precision(alone, world, walks=20, steps=1_000) < 0.95


def test_where_episodes_begin_need_not_be_known():
    known = replace(efex.make("sparse-maze", **MAZE).truth, starts=())
    world = repainted(known, symbols=8, starts=tuple(range(known.n_nodes)))
    run = efex.transfer(world, known, steps=400, progress=False)
    assert efex.measures.precision(run, world, walks=5, steps=200) >= 0.95


def test_the_run_is_a_run_like_any_other(tmp_path):
    known = efex.make("sparse-maze", **MAZE).truth
    world = repainted(known, symbols=8)
    one, two = (efex.transfer(world, known, steps=150, seed=4, progress=False) for _ in range(2))
    assert one.experience.actions.tobytes() == two.experience.actions.tobytes()
    assert [one.graph.observations[node] for node in one.nodes] == one.experience.symbols
    assert one.experience.n_steps == 150
    assert one.summary()["nodes"] == one.graph.n_nodes
    assert (one.decode(one.experience.symbols[:50], one.experience.actions[:49]) >= 0).all()
    assert np.isfinite(one.log_likelihood(one.experience.symbols[:50], one.experience.actions[:49]))
    one.save(tmp_path / "run")
    again = efex.load(tmp_path / "run")
    assert again.nodes.tolist() == one.nodes.tolist()
    # Also the edges that were known and not walked in this world.
    assert one.graph.n_edges > len(np.unique(np.stack([one.nodes[:-1], one.experience.actions[:-1]]), axis=1).T)
    assert list(again.graph.edges()) == list(one.graph.edges())


def test_a_transferred_run_goes_on_with_all_it_knew(tmp_path):
    known = efex.make("sparse-maze", **MAZE).truth
    options = {"progress": False, "seed": 4}
    for steps in (60, 120):
        run = efex.explore(
            repainted(known, symbols=8), steps=steps, agent=Transfer(known), folder=tmp_path, resume=True, **options
        )
    whole = efex.transfer(repainted(known, symbols=8), known, steps=120, **options)
    assert list(run.graph.edges()) == list(whole.graph.edges())


@pytest.mark.parametrize(("column", "value"), [(0, 10_000), (2, -1), (1, 4), (3, 0)])
def test_known_edges_that_cannot_be_are_refused(tmp_path, column, value):
    known = efex.make("grid2d", size=3, seed=0).truth
    efex.transfer(repainted(known, symbols=4), known, steps=30, progress=False).save(tmp_path)
    state = read_arrays(tmp_path / "model.safetensors")
    state.arrays["carried"][0, column] = value
    write_arrays(tmp_path / "model.safetensors", state)
    with pytest.raises(StorageError, match="carried"):
        efex.load(tmp_path)


def test_a_world_that_is_built_otherwise_is_explored_from_what_was_seen():
    known = efex.make("sparse-maze", **MAZE).truth
    other = efex.make("grid2d", size=4, unique_fraction=0.5, seed=1)
    agent = Transfer(known)
    run = efex.explore(other, steps=800, agent=agent, progress=False)
    assert not agent.is_trusting
    assert run.experience.n_steps == 800
    assert run.recovery.carried is None
    assert efex.measures.precision(run, other, walks=5, steps=200) >= 0.95


def half_of(known, *, seed):
    """Return a world that shares the known one's first half: behind it ways lead elsewhere, and show other things."""
    half, rng = known.n_nodes // 2, np.random.default_rng(seed)
    target, place = known.target.copy(), np.arange(known.n_nodes)
    place[half:] = half + rng.permutation(known.n_nodes - half)
    beyond = known.source >= half
    target[beyond] = place[target[beyond]]
    symbols = (100 + rng.integers(0, 8, known.n_nodes - half)).tolist()
    observations = (*known.observations[:half], *symbols)
    return GraphWorld(replace(known, target=target, observations=observations), episode_steps=100)


def test_what_is_shared_is_known_again_and_the_rest_explored(tmp_path):
    known = efex.make("grid2d", size=8, unique_fraction=0.3, seed=1).truth
    world, agent = half_of(known, seed=3), Transfer(known)
    run = efex.explore(world, steps=150, agent=agent, folder=tmp_path, progress=False)
    assert isinstance(agent.otherwise, Remembering)
    assert len(run.recovery.path) == len(run.experience) == 152
    assert run.expected.n_nodes >= run.graph.n_nodes
    assert run.expected.n_edges > run.graph.n_edges
    assert list(run.expected.observations[: run.graph.n_nodes]) == list(run.graph.observations)
    again = efex.load(tmp_path)
    assert np.array_equal(again.expected.target, run.expected.target)
    plain = efex.explore(world, steps=150, progress=False)
    with_memory, alone = (efex.measures.precision(each, world, walks=10, steps=500) for each in (run, plain))
    assert with_memory > alone + 0.1


def test_a_memory_walks_every_edge_and_knows_where_it_is():
    known = efex.make("sparse-maze", **MAZE).truth
    walks, nodes = remembered(known, Alphabet())
    t = np.flatnonzero(walks.actions >= 0)
    steps = np.stack([nodes[t], walks.actions[t], nodes[t + 1]], axis=1)
    edges, times = np.unique(steps, axis=0, return_counts=True)
    assert {tuple(edge) for edge in edges.tolist()} == {
        (edge.source, edge.action, edge.target) for edge in known.edges()
    }
    assert times.min() >= 2
    assert walks.symbols == [known.observations[node] for node in nodes.tolist()]


def test_a_door_that_is_closed_now_is_no_edge_of_the_map():
    known = efex.make("grid2d", size=4, unique_fraction=0.5, seed=1).truth
    door = (known.source == 5) & (known.action == 3)
    assert known.target[door].tolist() == [6]
    world = repainted(replace(known, target=np.where(door, 5, known.target)), symbols=8, seed=5)
    run = efex.transfer(world, known, steps=300, progress=False)
    assert run.graph.equivalent_to(world.truth)


class Masked(gymnasium.Wrapper):
    """Offers at every node what a table says."""

    def __init__(self, world, available):
        super().__init__(world)
        self.available = available

    def reset(self, **options):
        seen, info = self.env.reset(**options)
        return seen, self._with_mask(info)

    def step(self, action):
        *seen, info = self.env.step(action)
        return *seen, self._with_mask(info)

    def _with_mask(self, info):
        return {**info, "action_mask": self.available[self.env.unwrapped.node].astype(np.int8)}


@pytest.mark.parametrize("seed", [0, 4])
def test_what_a_world_does_not_offer_is_no_way_and_no_edge(seed):
    known = efex.make("grid2d", size=6, unique_fraction=0.3, seed=seed).truth
    available = np.ones((known.n_nodes, known.n_actions), bool)
    available[np.arange(known.n_nodes), np.random.default_rng(seed).integers(0, 4, known.n_nodes)] = False
    world = repainted(known, symbols=9, seed=seed)
    run = efex.transfer(Masked(world, available), known, steps=500, seed=seed, progress=False)
    offered = world.truth
    for node, action in np.argwhere(~available).tolist():
        offered = offered.block(node, action)
    assert run.graph.n_nodes == 35  # nothing leads to one of the corners any more
    assert run.graph.equivalent_to(offered)
    assert not (run.graph.closed & run.graph.tried).any()


def test_what_was_offered_last_counts_whatever_hypothesis_is_best():
    ring = efex.LatentGraph.from_matrices("abc", [np.eye(3)[[1, 2, 0]], np.eye(3)])
    colourings = Colourings(ring)
    colourings.begin(7)
    turn_only, everything = np.array([True, False]), None
    for offered, code in ((turn_only, 8), (turn_only, 9), (everything, 7), (everything, 8)):
        colourings.offer(offered)
        assert colourings.step(0, code)
    # Waiting was not offered at the first two nodes; back at the first one it was.
    first = int(colourings.path[0])
    assert np.argwhere(colourings.shut[0]).tolist() == [[(first + 1) % 3, 1]]


DOORS = {"left": (0, 0, 1, 2, 3, 4), "right": (1, 2, 3, 4, 5, 5), "press": (0, 1, 0, 3, 2, 5)}
"""Where every action leads from each of six rooms."""


def machine(names, shows):
    """Return the rooms as an environment that numbers its actions in the order of these names."""
    rooms = [0]

    def reset():
        rooms[0] = 0
        return shows[0]

    def step(action):
        rooms[0] = DOORS[action][rooms[0]]
        return shows[rooms[0]]

    return efex.adapters.from_functions(reset, step, list(names))


@pytest.mark.parametrize("names", [("left", "right", "press"), ("press", "left", "right"), ("right", "press", "left")])
@pytest.mark.parametrize("agent", [False, True])
def test_actions_of_the_same_names_are_matched_by_them(names, agent):
    """A map that was learned from a log has its actions in another order than the environment."""
    options = {"episode_steps": 20, "progress": False}
    known = efex.explore(machine(tuple(DOORS), "abcdef"), steps=300, **options).graph
    env = machine(names, "uvuvwx")
    if agent:
        run = efex.explore(env, steps=60, agent=Transfer(known), **options)
    else:
        run = efex.transfer(env, known, steps=60, **options)
    truth = efex.LatentGraph.from_matrices("uvuvwx", [np.eye(6)[list(DOORS[name])] for name in names], starts=[0])
    assert run.graph.action_names == names
    assert run.graph.equivalent_to(truth)


def test_a_graph_is_numbered_anew_for_every_environment():
    known = efex.explore(machine(tuple(DOORS), "abcdef"), steps=300, progress=False).graph
    agent = Transfer(known)
    for names in (("press", "left", "right"), None):
        agent.action_names = names
        agent.prepare(3, rng=np.random.default_rng(0))
        assert agent.known.action_names == (names or known.action_names)


def test_coming_back_tells_where_one_is():
    ring = efex.LatentGraph.from_matrices("abc", [np.eye(3)[[1, 2, 0]], np.eye(3)])
    colourings = Colourings(ring)
    colourings.begin(7)
    for code in (8, 9, 7, 8):
        assert colourings.step(0, code)
    first = int(colourings.path[0])
    assert colourings.path.tolist() == [first, (first + 1) % 3, (first + 2) % 3, first, (first + 1) % 3]
    assert sorted(colourings.colours[0].tolist()) == [7, 8, 9]
    assert colourings.strays[0] == 0


def test_the_graph_must_fit_the_environment():
    with pytest.raises(InvalidArgumentError, match="known"):
        Transfer("maze")
    world = efex.make("grid3d", size=3)
    with pytest.raises(InvalidArgumentError, match="actions"):
        efex.transfer(world, efex.make("grid2d", size=3).truth, steps=10, progress=False)
