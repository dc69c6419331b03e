"""What a caller gets wrong is answered in words that name the argument, whatever came."""

import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

import efex
from efex import Experience
from efex.adapters import from_functions, read_table, write_table
from efex.errors import EfexError
from efex.graph.export import read_json

GRAPH = efex.make("grid2d", size=3, unique_fraction=0.5).truth
WALK = Experience.from_episodes([([0, 1, 0, 1], None)])
NAN = float("nan")


def world():
    return efex.make("grid2d", size=3, unique_fraction=0.5)


def navigator():
    navigator = efex.Navigator(GRAPH)
    navigator.observe(GRAPH.observations[0])
    return navigator


def explored(**options):
    return efex.explore(world(), **{"steps": 20, "progress": False} | options)


@pytest.mark.parametrize(
    ("argument", "attempt"),
    [
        ("graph", lambda: efex.Navigator("maze")),
        ("graph", lambda: efex.Navigator(efex.LatentGraph.from_walks([], 2, np.zeros((0, 3))))),
        ("steps", lambda: efex.LatentGraph.from_walks("ab", 1, [(5, 0, 0)])),
        ("steps", lambda: efex.LatentGraph.from_walks("ab", 1, [(0, 1, 0)])),
        ("times", lambda: efex.LatentGraph.from_walks("ab", 1, [(0, 0, 1)], times=[1, 2])),
        ("times", lambda: efex.LatentGraph.from_walks("ab", 1, [(0, 0, 1)], times=[0])),
        ("matrices", lambda: efex.LatentGraph.from_matrices(["a"], [])),
        ("terminate", lambda: Experience(1).terminate()),
        ("length", lambda: WALK.first(-1)),
        ("truth", lambda: efex.measures.best_map_accuracy(np.zeros(0, int), np.zeros(0, int))),
        ("sure", lambda: efex.Navigator(GRAPH, sure=NAN)),
        ("seed", lambda: efex.Navigator(GRAPH, seed=-1)),
        ("observations", lambda: navigator().observe(object())),
        ("action", lambda: navigator().observe(0, after="left")),
        ("action", lambda: navigator().observe(0, after=9)),
        ("action", lambda: navigator().observe(0, after=-1)),
        ("action", lambda: navigator().observe(0, after=True)),
        ("node", lambda: navigator().go_to("kitchen")),
        ("node", lambda: navigator().go_to(1.5)),
        ("mask", lambda: navigator().go_to(8, mask=[True])),
        ("mask", lambda: navigator().go_to(8, mask=[False] * 4)),
        ("mask", lambda: navigator().go_to(8, mask=[NAN] * 4)),
        ("node", lambda: navigator().block("a", 0)),
        ("node", lambda: navigator().block(99, 0)),
        ("action", lambda: navigator().block(0, "left")),
        ("env", lambda: navigator().travel("world", 3)),
        ("env", lambda: navigator().travel(efex.make("grid3d", size=3), 3)),
        ("observe", lambda: navigator().travel(world(), 3, observe=3)),
        ("limit", lambda: navigator().travel(world(), 3, limit=NAN)),
        ("source", lambda: GRAPH.plan(NAN, to=1)),
        ("to", lambda: GRAPH.plan(0, to=[None])),
        ("to", lambda: GRAPH.plan(0, to="12")),
        ("node", lambda: GRAPH.tag([0], a=1)),
        ("node", lambda: GRAPH.tag(-1, a=1)),
        ("action", lambda: GRAPH.block(0, None)),
        ("action", lambda: GRAPH.transition("left")),
        ("action", lambda: GRAPH.transition(1.5)),
        ("discount", lambda: GRAPH.to_pomdp(discount=NAN)),
        ("tolerance", lambda: GRAPH.merge_equivalent(tolerance="small")),
        ("min_count", lambda: GRAPH.prune(min_count="3")),
        ("min_probability", lambda: GRAPH.prune(min_probability=None)),
        ("min_count", lambda: GRAPH.prune(min_count=True)),
        ("other must be a LatentGraph, not NoneType; run.graph", lambda: GRAPH.difference(None)),
        ("other must be a LatentGraph, not GraphWorld; give its .truth", lambda: GRAPH.difference(world())),
        (r"other must be .*; give its \.unwrapped\.truth", lambda: GRAPH.difference(TimeLimit(world(), 5))),
        ("other must be a LatentGraph, not Run; give its .graph", lambda: GRAPH.equivalent_to(explored())),
        ("actions must be 1, one between", lambda: GRAPH.decode([0, 1], [0, 1])),
        ("actions must be 1, one between", lambda: explored().decode([0, 1], [0, 1])),
        ("actions must be 1, one between", lambda: explored().log_likelihood([0, 1], [0, 1])),
        (
            "agent must be .*, not the class EfexPaper; make it first",
            lambda: explored(agent=efex.agents.EfexPaper),
        ),
        ("node must be .*, not 'sold'; did you mean observation='sold'", lambda: navigator().travel(world(), "sold")),
        ("to must be .*; did you mean tag='home'", lambda: GRAPH.tag(1, home=True).plan(0, to="home")),
        ("path", lambda: GRAPH.write(5)),
        ("numbers", lambda: GRAPH.plot("map.png", numbers="yes")),
        ("numbers", lambda: explored().plot("map.png", numbers=None)),
        ("prior", lambda: efex.agents.Efex(prior=True)),
        ("prior", lambda: efex.agents.Efex(prior=np.array([0.1, 0.2]))),
        ("prompt", lambda: efex.agents.Efex(start="warm", prompt=-1)),
        ("path", lambda: read_json(None)),
        ("observe", lambda: efex.transfer(world(), GRAPH, steps=10, observe=5)),
        ("known", lambda: efex.transfer(world(), None, steps=10)),
        ("until", lambda: explored(until=5)),
        ("resume", lambda: explored(resume="yes", folder="none")),
        ("replay", lambda: explored(replay="no")),
        ("progress", lambda: explored(progress="yes")),
        ("observe", lambda: explored(observe=5)),
        ("folder", lambda: explored(folder=5)),
        ("folder", lambda: explored(folder="")),
        ("folder", lambda: explored(folder=b"bytes")),
        ("folder", lambda: explored(folder="a\0b")),
        ("folder", lambda: explored(folder=__file__)),
        ("folder", lambda: efex.load(None)),
        ("folder", lambda: efex.load(__file__)),
        ("folder", lambda: efex.load("x" * 300)),
        ("folder", lambda: explored(folder="x" * 300)),
        ("tolerance", lambda: efex.learn(WALK, tolerance=NAN)),
        ("tolerance", lambda: efex.learn(WALK, tolerance="small")),
        ("progress", lambda: efex.learn(WALK, progress="yes")),
        ("held_out", lambda: efex.learn(WALK, held_out=None)),
        ("path", lambda: read_table(5)),
        ("file", lambda: read_table("x" * 300 + ".csv")),
        ("path", lambda: write_table(WALK, 5)),
        ("experience", lambda: write_table(5, "walk.csv")),
        ("actions", lambda: write_table(WALK, "walk.csv", actions=[[1]])),
        ("actions", lambda: write_table(WALK, "walk.csv", actions=5)),
        ("actions", lambda: from_functions(None, print, ["left", "left"])),
        ("actions", lambda: from_functions(None, print, {"left", "right"})),
        ("action_names", lambda: efex.LatentGraph.from_walks("a", 2, [[0, 0, 0]], action_names=["go"])),
    ],
)
def test_an_argument_that_cannot_be_is_named(argument, attempt):
    with pytest.raises(EfexError, match=rf"\b{argument}"):
        attempt()


def test_a_block_that_is_refused_leaves_the_navigator_as_it_was():
    going = navigator()
    with pytest.raises(EfexError):
        going.block(99, 0)
    assert not going.blocked
    assert going.go_to(8) is not None
