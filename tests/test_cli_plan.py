"""`efex plan` on a small world that was explored and saved, and on a graph of one's own."""

import json
import shutil

import numpy as np
import pytest

import efex
from efex.graph.export import read_json
from efex.graph.routes import routes


@pytest.fixture
def plan_command(command):
    """Runs the command and gives its exit code, output and complaint."""

    def run(*arguments):
        done = command("plan", *arguments)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run folder of a grid of 9 places that all look different, explored to the last."""
    folder = tmp_path_factory.mktemp("plan") / "run"
    efex.explore(efex.make("grid2d", size=3, seed=0), steps=150, seed=0, clones=1, progress=False, folder=folder)
    return folder


@pytest.fixture(scope="module")
def edited(folder):
    """The same map with tags and a blocked pair, as a file."""
    graph = efex.load(folder).graph
    source, target = int(graph.source[0]), int(graph.target[0])
    graph = graph.tag(target, room="kitchen", warm=True).tag(source, room="hall").block(source, int(graph.action[0]))
    return graph.write(folder.parent / "edited.json")


def test_a_plan_is_printed_as_a_table(folder, plan_command):
    graph = efex.load(folder).graph
    far = int(np.argmax(routes(graph, [0]).steps))
    plan = graph.plan(0, to=far)
    assert plan.expected_steps > 1
    code, out, complaint = plan_command(folder, "--from", 0, "--to", far)
    assert code == 0, complaint
    headline, columns, *rows = out.splitlines()
    assert headline == f"actions {' '.join(map(str, plan.actions))}; expected steps {plan.expected_steps:.4g}"
    assert columns.split() == ["step", "action", "node", "shows"]
    assert rows[0].split() == ["0", "0", str(graph.observations[0])]
    expected = [
        [str(step), str(action), str(node), str(graph.observations[node])]
        for step, (action, node) in enumerate(zip(plan.actions, plan.nodes[1:], strict=True), start=1)
    ]
    assert [row.split() for row in rows[1:]] == expected


def test_a_plan_is_printed_for_machines(folder, plan_command):
    graph = efex.load(folder).graph
    shown = graph.observations
    _, out, _ = plan_command(folder, "--from", f"observation={shown[0]}", "--to", f"observation={shown[5]}", "--json")
    content = json.loads(out)
    plan = graph.plan(0, observation=shown[5])
    assert content["actions"] == list(plan.actions)
    assert content["nodes"] == list(plan.nodes)
    assert content["observations"] == [shown[node] for node in plan.nodes]
    assert content["expected_steps"] == plan.expected_steps
    assert content["targets"] == [5]
    assert content["policy"] == plan.policy.tolist()


def test_a_graph_with_tags_is_planned_on(edited, plan_command):
    graph = read_json(edited)
    hall, kitchen = graph.plan(0, tag=("room", "hall")).targets[0], graph.plan(0, tag="warm").targets[0]
    for asked in ("room=kitchen", "warm=true", "warm"):
        content = json.loads(plan_command(edited, "--from", "room=hall", "--to", asked, "--json")[1])
        assert (content["source"], content["targets"]) == (hall, [kitchen])
    assert plan_command(edited, "--from", hall, "--to", "room")[1].startswith(f"node {hall} is a target already")


def test_a_number_is_a_node_only_as_numbers_are_written(plan_command, tmp_path):
    walk = efex.Experience.from_episodes([(["00", "01", "10", "11", "1"] * 8, None)])
    learned = efex.learn(walk, clones=1).graph
    file = learned.write(tmp_path / "ring.json")
    shown = learned.observations
    for asked, node in (("01", shown.index("01")), ("1", 1), ("observation=1", shown.index("1"))):
        content = json.loads(plan_command(file, "--from", asked, "--to", "00", "--json")[1])
        assert content["source"] == node
    assert "not 10; the observation is observation=10" in plan_command(file, "--from", "10", "--to", "00")[2]
    assert "not '02'" in plan_command(file, "--from", "02", "--to", "00")[2]


@pytest.mark.parametrize(
    ("start", "to", "says"),
    [
        ("0", "99", "efex: --to must be a node 0 to 8, not 99"),
        ("9", "1", "efex: --from must be a node 0 to 8, not 9"),
        ("0", "blue", "efex: --to must be a node's number, an observation or a tag of the map, not 'blue'"),
        ("blue", "0", "efex: --from must be a node's number, an observation or a tag of the map, not 'blue'"),
        ("0", "room=attic", "not 'room=attic'"),
        ("room", "0", "efex: --from must be one node, but 'room' are 2"),
    ],
)
def test_a_place_that_is_none_is_one_line(edited, plan_command, start, to, says):
    code, out, complaint = plan_command(edited, "--from", start, "--to", to)
    assert (code, out) == (2, "")
    assert says in complaint
    assert len(complaint.splitlines()) == 1


def test_a_missing_folder_or_place_is_one_line(folder, plan_command, tmp_path):
    for arguments, says in (
        ((tmp_path / "none", "--from", 0, "--to", 1), "no run folder"),
        (("x" * 300, "--from", 0, "--to", 1), "no run folder"),
        ((tmp_path, "--from", 0, "--to", 1), "there is no run in"),
        ((folder, "--from", 0), "--to"),
    ):
        code, _, complaint = plan_command(*arguments)
        assert code == 2
        assert says in complaint
        assert len(complaint.splitlines()) == 1


def test_a_run_that_was_killed_is_told_of_in_the_words_of_the_command_line(folder, plan_command, tmp_path):
    shutil.copy(folder / "checkpoint.safetensors", tmp_path)
    code, _, complaint = plan_command(tmp_path, "--from", 0, "--to", 1)
    assert code == 2
    assert complaint.endswith("; go on with efex explore ENVIRONMENT --out FOLDER --resume\n")


def test_a_table_is_not_taken_for_a_graph(tmp_path, plan_command):
    walk = tmp_path / "walk.csv"
    walk.write_text("episode,action,observation\n0,0,a\n0,0,b\n")
    code, _, complaint = plan_command(walk, "--from", 0, "--to", 1)
    assert code != 0
    assert "is not a graph that efex wrote as .json" in " ".join(complaint.split())
    assert "JSONDecodeError" not in complaint
