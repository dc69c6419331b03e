"""The systems of the examples are what they claim to be: the real game, a real server, the real room."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import efex
from efex.graph import LatentGraph

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from systems.cave import ALIKE, DIFFERENT, VERBS, Cave
from systems.mail import LOGIN, WHOLE, MailServer
from systems.phases import foretold, phases
from systems.room import Room


def walks_its_truth(env, steps=500):
    """Whether a random walk goes where the truth says and sees what it says."""
    truth, rng = env.truth, np.random.default_rng(0)
    shown, info = env.reset(seed=0)
    assert info["node"] == truth.starts[0]
    for action in rng.integers(truth.n_actions, size=steps).tolist():
        before = info["node"]
        shown, _, _, _, info = env.step(action)
        assert truth.transition(action)[before, info["node"]] == 1
        assert shown == truth.observations[info["node"]]
    return True


@pytest.mark.parametrize(("rooms", "looks"), [(ALIKE, [14, 11, 1]), (DIFFERENT, [1] * 12)])
def test_a_maze_of_the_cave_is_walked_by_the_game(rooms, looks):
    cave = Cave(rooms)
    assert sorted(Counter(cave.looks).values(), reverse=True) == looks
    assert cave.truth.merge_equivalent().n_nodes == len(rooms)
    assert walks_its_truth(cave)
    assert not cave.game.is_dead


def test_the_cave_begins_where_players_enter_it_and_ends_episodes():
    cave = Cave(ALIKE, episode_steps=2)
    assert "ALL ALIKE" in cave.texts[cave.reset()[0]]
    assert [cave.step(VERBS.index("up"))[3] for _ in range(2)] == [False, True]


def test_the_room_is_144_poses_of_which_60_look_the_same():
    room = Room()
    assert (room.truth.n_nodes, len(room.truth.symbols)) == (144, 21)
    assert max(Counter(room.looks).values()) == 60
    assert room.truth.merge_equivalent().n_nodes == 144
    assert walks_its_truth(room, steps=200)


def test_environments_keep_to_gymnasium():
    check_env(Cave(), skip_render_check=True)
    check_env(Room(), skip_render_check=True)


@pytest.fixture
def server():
    made = MailServer()
    yield made
    made.close()


def say(server, *names):
    return server.ask([server.names.index(name) for name in names])


def test_the_server_remembers_who_greeted_and_what_was_said(server):
    assert say(server, "MAIL", "RCPT", "DATA") == ("220", "503", "503", "503")
    assert say(server, "HELO", "MAIL", "RCPT", "DATA", "DATA") == ("220", "250", "250", "250", "250", "503")
    assert say(server, "EHLO", "MAIL", "QUIT", "MAIL") == ("220", "250", "250", "220", "503")


def test_the_servers_machine_is_found_by_probing(server):
    machine = server.probe()
    assert machine.tried.all()
    assert machine.merge_equivalent().n_nodes == machine.n_nodes == 9
    node, matrices = machine.starts[0], [machine.transition(action) for action in range(machine.n_actions)]
    commands = np.random.default_rng(0).integers(machine.n_actions, size=200).tolist()
    for command, reply in zip(commands, server.ask(commands)[1:], strict=True):
        node = int(matrices[command][[node]].indices[0])
        assert machine.observations[node] == reply


def test_a_login_lasts_until_the_session_ends():
    server = MailServer(LOGIN)
    assert say(server, "HELO", "AUTH", "EHLO", "AUTH", "AUTH")[1:] == ("250", "500", "250", "235", "503")
    replies = say(server, "EHLO", "AUTH", "HELO", "EHLO", "AUTH", "QUIT", "EHLO", "AUTH")
    assert replies[-4:] == ("503", "220", "250", "235")
    server.close()


def door():
    """Return a door that says yes, or no if it is so already: open at nodes 0 and 2, shut at 1 and 3."""
    opened, shut = np.eye(4)[[2, 0, 2, 0]], np.eye(4)[[1, 3, 1, 3]]
    return LatentGraph.from_matrices(["yes", "yes", "no", "no"], [opened, shut], starts=[1])


def test_nodes_that_differ_in_the_last_reply_alone_are_one_phase():
    moves = phases(door(), ["open", "shut"])
    assert moves == {(0, 1): ["open yes"], (0, 0): ["shut no"], (1, 1): ["open no"], (1, 0): ["shut yes"]}
    said, answers = ["open", "open", "shut", "open"], ["yes", "no", "yes", "yes"]
    assert foretold(moves, said, answers) == 1
    assert foretold(moves, said, ["yes", "yes", "yes", "no"]) == 0.5
    forgetful = {(0, 0): ["open yes", "shut no"]}
    assert foretold(forgetful, said, answers) == 0.5
    assert foretold({(0, 0): ["shut no"]}, said, answers) == 0


def test_a_mail_may_be_written_line_by_line():
    """Fifteen states that answer with six codes; whoever asks which one it is has them all in 3,000 steps."""
    server = MailServer(WHOLE)
    data = [WHOLE.index(name) for name in ("HELO", "MAIL", "RCPT", "DATA", "NOOP", "DOT", "DOT", "QUIT", "NOOP")]
    assert server.ask(data) == ("220", "250", "250", "250", "354", "354", "250", "500", "221", "220")
    assert server.ask([WHOLE.index("DOT")] * 12)[1:] == ("500",) * 12, "the server does not lose patience"
    truth = server.probe(1)
    assert (truth.n_nodes, len(set(truth.observations))) == (15, 6)
    run = efex.explore(server, steps=3_000, seed=1700, progress=False)
    server.close()
    assert run.graph.difference(truth) is None
