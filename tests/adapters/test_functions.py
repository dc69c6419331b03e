import gymnasium
import numpy as np
import pytest

import efex
from efex.adapters import from_functions
from efex.errors import EfexError, InvalidArgumentError
from efex.graph.directions import plan_content, plan_table
from efex.graph.export import read_json


class Ring:
    """Five cells in a circle; the first has a door."""

    def __init__(self, show=lambda cell: int(cell == 0), *, done=None):
        self.cell, self.resets, self.show, self.done = 0, 0, show, done

    def reset(self):
        self.cell, self.resets = 0, self.resets + 1
        return self.show(0)

    def step(self, way):
        self.cell = (self.cell + way) % 5
        seen = self.show(self.cell)
        return seen if self.done is None else (seen, self.cell == self.done)


def explored(env, steps=200, **options):
    return efex.explore(env, steps=steps, progress=False, **{"clones": 5} | options)


KINDS = {
    "numbers": (lambda cell: int(cell == 0), 0),
    "text": (lambda cell: "door" if cell == 0 else "wall", "wall"),
    "arrays": (lambda cell: np.array([cell == 0, 7]), (False, 7)),
    "floats": (lambda cell: np.float32(cell == 0), 0.0),
    "bytes": (lambda cell: b"d" if cell == 0 else b"w", b"w"),
    "lists": (lambda cell: [[cell == 0], None], ((False,), None)),
    "mappings": (lambda cell: {"b": np.eye(2)[int(cell == 0)], "a": "x"}, (("a", "x"), ("b", (1.0, 0.0)))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_observations_of_any_kind_give_the_same_map(kind):
    show, symbol = KINDS[kind]
    ring = Ring(show)
    run = explored(from_functions(ring.reset, ring.step, [-1, 1]), episode_steps=20)
    assert run.graph.merge_equivalent().n_nodes == 5
    assert sum(seen == symbol for seen in run.graph.merge_equivalent().observations) == 4
    assert run.decode([show(0), show(1)], [1]).min() >= 0


def test_an_observation_that_is_a_tuple_comes_with_done():
    ring = Ring(lambda cell: (cell == 0, "x"), done=9)
    run = explored(from_functions(ring.reset, ring.step, [-1, 1]), episode_steps=20)
    assert set(run.graph.observations) == {(True, "x"), (False, "x")}


def test_observe_chooses_what_is_seen():
    ring = Ring(lambda cell: {cell, "set"})
    run = explored(from_functions(ring.reset, ring.step, [-1, 1]), observe=lambda seen: 0 in seen, episode_steps=20)
    assert set(run.graph.observations) == {True, False}


def test_done_ends_an_episode_for_good():
    ring = Ring(done=2)
    run = explored(from_functions(ring.reset, ring.step, [-1, 1]))
    assert ring.resets == run.experience.n_episodes > 5
    # The last episode ended because the steps were used up, or at the end like the others.
    assert len(run.experience.terminated) >= ring.resets - 1


def test_a_gymnasium_environment_taken_apart_is_the_same_world():
    world = efex.make("grid2d", size=3, unique_fraction=0.5, seed=0)
    parts = from_functions(lambda: world.reset(seed=0), world.step, 4)
    run = explored(parts, steps=500)
    assert run.graph.merge_equivalent().n_nodes == world.truth.n_nodes
    assert run.true_nodes is not None


def test_what_cannot_be_reset_is_one_episode():
    ring = Ring()
    run = explored(from_functions(None, ring.step, [-1, 1]))
    assert (run.experience.n_episodes, run.experience.n_steps, ring.resets) == (1, 200, 0)
    assert run.graph.merge_equivalent().n_nodes == 5


def test_what_cannot_be_reset_goes_on_after_a_cut():
    cells = []
    ring = Ring(lambda cell: cells.append(cell) or cell)
    run = explored(from_functions(None, ring.step, [-1, 1]), clones=1, episode_steps=7, steps=70)
    starts, ends = run.experience.offsets[1:-1], run.experience.offsets[1:-1] - 1
    assert len(starts) == 9
    assert (run.experience.observations[starts] == run.experience.observations[ends]).all()
    assert len(cells) == 71


def test_what_can_be_reset_is_reset_once_if_it_never_ends():
    ring = Ring()
    run = explored(from_functions(ring.reset, ring.step, [-1, 1]))
    assert (ring.resets, run.experience.n_episodes) == (1, 1)


def test_what_ends_and_cannot_be_reset_is_said():
    ring = Ring(done=2)
    with pytest.raises(EfexError, match="reset="):
        explored(from_functions(None, ring.step, [-1, 1]))


@pytest.mark.parametrize("as_flags", [False, True])
def test_actions_that_are_not_available_are_never_taken(as_flags):
    taken = []
    ring = Ring(lambda cell: cell)

    def step(way):
        taken.append((ring.cell, way))
        return ring.step({"left": -1, "right": 1}[way])

    def mask():
        return [ring.cell != 0, True] if as_flags else ["left", "right"][ring.cell == 0 :]

    run = explored(from_functions(ring.reset, step, ["left", "right"], mask=mask), clones=1)
    assert (0, "left") not in taken
    assert (0, "right") in taken
    assert run.graph.untried.sum() == 0


def test_wrappers_of_gymnasium_take_it():
    ring = Ring()
    env = gymnasium.wrappers.TimeLimit(from_functions(ring.reset, ring.step, [-1, 1]), 10)
    assert explored(env, steps=50).experience.n_episodes == 5


def test_an_error_of_the_functions_says_what_was_asked_and_leaves_what_was_found(tmp_path):
    ring, left = Ring(), list(range(30))

    def step(way):
        left.pop()
        return ring.step({"back": -1, "forth": 1}[way])

    with pytest.raises(IndexError) as raised:
        explored(from_functions(ring.reset, step, ["back", "forth"]), folder=tmp_path)
    assert any(note.startswith(("raised by step('back'", "raised by step('forth'")) for note in raised.value.__notes__)
    assert efex.load(tmp_path).experience.n_steps in (29, 30)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, r"step\('go'\) returned None for an observation: is a return missing"),
        ((None, False), r"step\('go'\) returned None"),
        ((3, 4), r"step\('go'\) must return"),
        ((0, 0.0, False), "observation, done"),
        ((0, 0.0, False, {}), "terminated, truncated, info"),
        ((0, 0.0, 1, 0, {}), "step"),
        ((0, 0.0, False, False, None), "step"),
        ({1, 2}, "observe="),
        (object(), "observe="),
        (float("nan"), "NaN.*observe="),
        ({"a": np.array([1.0, np.nan])}, "NaN.*observe="),
    ],
)
def test_nonsense_is_answered_in_words(answer, says):
    with pytest.raises(InvalidArgumentError, match=says):
        explored(from_functions(lambda: 0, lambda action: answer, ["go"]))


@pytest.mark.parametrize(
    ("first", "says"),
    [
        (None, r"reset\(\) returned None for an observation: is a return missing"),
        (("hall", True), r"reset\(\) must return an observation, not \('hall', True\)"),
    ],
)
def test_nonsense_at_the_beginning_is_answered_in_words(first, says):
    with pytest.raises(InvalidArgumentError, match=says):
        explored(from_functions(lambda: first, lambda action: 0, ["go"]))


class Careless(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, at_reset, at_step):
        self.at_reset, self.at_step = at_reset, at_step

    def reset(self, *, seed=None, options=None):
        return self.at_reset

    def step(self, action):
        return self.at_step


@pytest.mark.parametrize(
    ("at_reset", "at_step", "says"),
    [
        (0, None, r"reset\(\) must return \(observation, info\)"),
        ((0, {}), (0, 0.0, False, {}), "not 4 values"),
        ((0, None), None, "info as a dict"),
        ((0, {}), (0, 0.0, False, False, []), "info as a dict"),
        ((0, {}), (0, 0.0, np.array([True, False]), False, {}), "terminated"),
        ((0, {}), (0, 0.0, False, "no", {}), "truncated"),
        ((0, {}), (float("nan"), 0.0, False, False, {}), "NaN"),
        ((None, {}), None, "the environment returned None for an observation: is a return missing"),
    ],
)
def test_a_careless_environment_is_answered_in_words(at_reset, at_step, says):
    with pytest.raises(InvalidArgumentError, match=says):
        explored(Careless(at_reset, at_step))


def masked(available):
    return from_functions(lambda: 0, lambda action: 0, ["stay", "go"], mask=lambda: available)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: from_functions(None, None, 2), "step must be a function"),
        (lambda: from_functions(3, print, 2), "reset must be a function"),
        (lambda: from_functions(None, print, 2, mask=[True, True]), "mask must be a function"),
        (
            lambda: from_functions(None, lambda: 0, 2),
            r"step must be .*, step\(action\), not step\(\)",
        ),
        (
            lambda: from_functions(lambda seed: 0, print, 2),
            r"reset must be .* without arguments, not reset\(seed",
        ),
        (lambda: from_functions(None, print, 2, mask=lambda here: []), "mask must be a function without arguments"),
        (lambda: from_functions(None, print, 0), "actions"),
        (lambda: from_functions(None, print, 2.5), "actions"),
        (lambda: from_functions(None, print, []), "actions"),
        (lambda: from_functions(None, print, "nesw"), "actions"),
        (lambda: explored(from_functions(lambda: 0, lambda a: 0, ["a"], mask=lambda: ["b"])), "'b'"),
        (lambda: explored(from_functions(lambda: 0, lambda a: 0, ["a"], mask=lambda: None)), "mask"),
        (
            lambda: explored(from_functions(lambda: 0, lambda a: 0, ["a"], mask=list)),
            r"mask\(\) must allow at least one",
        ),
        (lambda: explored(masked([True])), r"mask\(\) must be True or False for each of 2 actions; got \[True\]"),
        (lambda: explored(masked([True] * 3)), r"mask\(\) must be True or False for each of 2 actions"),
        (lambda: explored(masked([False, False])), r"mask\(\) must allow at least one of 2 actions"),
    ],
)
def test_bad_arguments_are_answered_in_words(make, says):
    with pytest.raises(InvalidArgumentError, match=says):
        make()


def test_truths_may_be_actions_too():
    env = from_functions(lambda: 0, lambda action: int(action), [False, True], mask=lambda: [True])
    assert set(explored(env, steps=20, episode_steps=5).experience.actions.tolist()) == {-1, 1}


def test_names_of_actions_are_on_the_map_wherever_it_goes(tmp_path):
    ring, ways, names = Ring(), {"go left": -1, "go right": 1}, ("go left", "go right")
    env = from_functions(ring.reset, lambda way: ring.step(ways[way]), names)
    run = explored(env, episode_steps=20, folder=tmp_path)
    assert run.settings["actions"] == run.summary()["actions"] == list(names)
    again = efex.load(tmp_path)
    for graph in (run.graph, again.graph, run.graph.merge_equivalent(), run.graph.prune(), run.graph.tag(0, home=True)):
        assert graph.action_names == names
    assert {name for *_, name in run.graph.to_networkx().edges(data="action_name")} == set(names)
    assert read_json(tmp_path / "graph.json").action_names == names
    assert '[label="go left", action="0"' in run.graph.write(tmp_path / "map.dot").read_text()
    assert "# action 1 is 'go right'" in run.graph.to_pomdp()
    assert run.graph.block(0, "go right").closed[0].tolist() == [False, True]
    with pytest.raises(InvalidArgumentError, match="0 to 1 or one of go left, go right, not 'go'"):
        run.graph.block(0, "go")
    seen, way = [1, 0, 0, 0, 1], ["go left", "go left", "go right", "go right"]
    numbers = [names.index(each) for each in way]
    for given in (way, np.array(way), np.array(way, object), [*way[:-1], numbers[-1], -1]):
        assert run.decode(seen, given).tolist() == run.decode(seen, numbers).tolist()
        assert run.graph.decode(seen, given).tolist() == run.graph.decode(seen, numbers).tolist()
        assert run.log_likelihood(seen, given) == run.log_likelihood(seen, numbers)
    with pytest.raises(InvalidArgumentError, match="0 to 1 or one of go left, go right, not 'go'"):
        run.decode(seen, ["go", *way[1:]])
    plan = run.graph.plan(int(run.graph.source[0]), to=int(run.graph.target[0]))
    shown = plan_table(run.graph, plan)
    assert shown.splitlines()[0].startswith(f"action {names[plan.actions[0]]};")
    assert names[plan.actions[0]] in shown.splitlines()[-1]
    assert plan_content(run.graph, plan)["action_names"] == [names[plan.actions[0]]]


def test_values_that_are_not_text_are_no_names():
    ring = Ring()
    assert explored(from_functions(ring.reset, ring.step, [-1, 1]), steps=20).graph.action_names is None


def test_an_environment_of_ones_own_may_name_its_actions_too():
    env = efex.make("grid2d", size=3)
    env.action_names = ["north", "south", "west", "east"]
    assert explored(gymnasium.wrappers.TimeLimit(env, 9), steps=20, clones=1).graph.action_names[0] == "north"
