import numpy as np
import pytest

from efex.errors import EfexError, InvalidArgumentError
from efex.graph.latent import LatentGraph
from efex.worlds import GraphWorld, make


def graph(observations=(0, 1), *, starts=(0,)):
    return LatentGraph.from_matrices(observations, [np.array([[0.25, 0.75], [1.0, 0.0]])], starts=starts)


def test_any_graph_is_a_world():
    world = GraphWorld(graph(), episode_steps=5)
    assert world.reset() == (0, {"node": 0})
    assert [world.step(0)[3] for _ in range(5)] == [False] * 4 + [True]


def test_a_draw_is_looked_up_in_its_row():
    follow = GraphWorld(graph())._tables.follow
    assert [follow(0, 0, uniform=u) for u in (0.0, 0.2499, 0.25, 0.9999999)] == [0, 0, 1, 1]
    assert follow(1, 0, uniform=np.nextafter(1, 0)) == 0


def test_no_step_before_reset_nor_after_the_end():
    world = make("grid2d", size=3, episode_steps=1)
    with pytest.raises(EfexError, match="call reset"):
        world.step(0)
    with pytest.raises(EfexError, match="call reset"):
        _ = world.node
    world.reset()
    assert world.step(0)[3]
    with pytest.raises(EfexError, match="ended after 1 step:"):
        world.step(0)
    world.reset()
    world.step(0)


@pytest.mark.parametrize("action", [-1, 4, 1.0, "0", None])
def test_an_action_outside_the_space(action):
    world = make("grid2d", size=3)
    world.reset()
    with pytest.raises(InvalidArgumentError, match="action must be a whole number from 0 to 3"):
        world.step(action)
    assert world.node == 0


def test_a_bad_reset_seed():
    with pytest.raises(InvalidArgumentError, match="seed must be"):
        make("grid2d", size=3).reset(seed=-1)


def test_a_reset_seed_equal_to_the_worlds_changes_nothing():
    one, other = (make("grid2d", seed=3, slip=0.3, random_start=True) for _ in range(2))
    assert one.reset() == other.reset(seed=3)
    assert [one.step(a % 4) for a in range(50)] == [other.step(a % 4) for a in range(50)]


def test_walks_leave_the_world_where_it_is():
    world = make("grid2d", size=5, slip=0.3)
    world.reset(seed=0)
    before, state = world.node, world.np_random.bit_generator.state
    world.walks(3, 10, seed=0)
    assert (world.node, world.np_random.bit_generator.state) == (before, state)


def test_walks_of_no_steps_begin_uniformly():
    world = make("grid2d", size=3)
    observations, actions, nodes = world.walks(9000, 0, seed=0)
    assert observations.shape == nodes.shape == (9000, 1)
    assert actions.shape == (9000, 0)
    assert np.abs(np.bincount(nodes[:, 0], minlength=9) - 1000).max() < 150


@pytest.mark.parametrize("sizes", [(0, 5), (3, -1), (2.5, 3)])
def test_walks_of_bad_sizes(sizes):
    with pytest.raises(InvalidArgumentError, match="must be a whole number"):
        make("grid2d", size=3).walks(*sizes, seed=0)


def test_text_and_pixels():
    world = make("grid2d", size=2, render_mode="ansi")
    world.reset()
    assert world.render() == "@ \n  "
    world.step(3)
    assert world.render() == " @\n  "
    pixels = make("sparse-maze", size=11, render_mode="rgb_array")
    pixels.reset()
    image = pixels.render()
    assert image.shape[0] == image.shape[1]
    assert image.shape[0] % 11 == 0
    assert not image[0, 0].any()
    silent = make("grid2d", size=2)
    silent.reset()
    assert silent.render() is None


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (graph(starts=()), "starts"),
        (graph(("a", "b")), "whole numbers"),
        (graph((-1, 0)), "whole numbers"),
        (LatentGraph.from_walks((0, 1), 1, [(0, 0, 1)], starts=(0,)), "where action 0 leads from node 1"),
    ],
)
def test_a_truth_that_is_no_world(truth, message):
    with pytest.raises(InvalidArgumentError, match=message):
        GraphWorld(truth)


def test_a_picture_of_another_world():
    with pytest.raises(InvalidArgumentError, match="picture must have an accessible cell per node, 2, not 6"):
        GraphWorld(graph(), picture=np.ones((2, 3), bool))
