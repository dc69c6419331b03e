import json
from itertools import pairwise

import numpy as np
import pytest

import efex
from efex import Experience
from efex.adapters import write_table
from efex.errors import EfexError, InvalidArgumentError
from efex.held_out import hold_out, nats_per_step

ROOMS = ["door", "wall", "wall", "window", "wall"]
NAMES = ["left", "right"]


def ring_walks(episodes, steps=30, *, seed=0):
    rng = np.random.default_rng(seed)
    walks = []
    for _ in range(episodes):
        actions = rng.integers(0, 2, steps)
        cells = np.concatenate([[0], np.cumsum(2 * actions - 1)]) % 5
        walks.append(([ROOMS[cell] for cell in cells], actions))
    return Experience.from_episodes(walks)


def ring_truth():
    cells = np.arange(5)
    shift = [np.eye(5)[(cells + step) % 5] for step in (-1, 1)]
    return efex.LatentGraph.from_matrices(ROOMS, shift, starts=(0,))


def test_the_command_line_says_what_was_hardly_seen(tmp_path, command):
    walk = ["door", "wall", "wall"] * 20 + ["window"]
    (tmp_path / "walk.csv").write_text("observation,action\n" + "".join(f"{seen},go\n" for seen in walk) + "lamp,\n")
    done = command("learn", "walk.csv", "--held-out", "0", "--restarts", "1", cwd=tmp_path)
    assert "untried pairs  1\n" in done.stdout
    assert "nodes seen fewer than 5 times  2\n" in done.stdout


def test_walks_without_a_step_are_refused(tmp_path, command):
    for episodes in ([(["door"], None)], [(["door"], None), (["wall"], None)]):
        with pytest.raises(InvalidArgumentError, match="experience must hold at least one step") as refused:
            efex.learn(Experience.from_episodes(episodes), held_out=0.1)
    assert str(refused.value).endswith("; it holds 2 observations in 2 episodes")
    (tmp_path / "row.csv").write_text("action,observation\ngo,door\n")
    for held_out in ("0.1", "0"):
        done = command("learn", "row.csv", "--held-out", held_out, cwd=tmp_path)
        assert done.stderr.startswith("efex: row.csv must hold at least one step")
        assert done.stderr.endswith("; it holds 1 observation in 1 episode\n")


@pytest.fixture
def log(tmp_path):
    return write_table(ring_walks(20), tmp_path / "walk.csv", actions=NAMES)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_map_is_learned_from_a_file(tmp_path, ending):
    log = write_table(ring_walks(20), tmp_path / f"walk.{ending}", actions=NAMES)
    learned = efex.learn(str(log), seed=0)
    assert learned.graph.difference(ring_truth()) is None
    assert learned.settings["actions"] == NAMES
    assert learned.summary()["actions"] == NAMES
    # The same walks from the file and from memory are the same experience, so the same map.
    assert (learned.nodes == efex.learn(ring_walks(20), seed=0).nodes).all()


def test_the_report_says_how_far_to_trust_the_map(log):
    learned = efex.learn(log, restarts=3, held_out=0.2, seed=0)
    report = learned.report
    assert (report.steps, report.held_out_steps) == (16 * 30, 4 * 30)
    assert (report.nodes, report.observations, report.restarts, report.agreement) == (5, 3, 3, 1.0)
    assert report.held_out_nats is not None
    assert report.held_out_first_order_nats is not None
    assert report.held_out_first_order_nats < -0.3 < -0.02 < report.held_out_nats < 0
    for words in ("480 steps in 16 episodes", "120 steps in 4 episodes", "3 restarts agree on  100.0%", "5 ("):
        assert words in str(report)
    summary = learned.summary()
    assert report.untried_pairs == summary["untried_pairs"]
    assert report.rare_nodes == summary["nodes_seen_fewer_than_5_times"]
    assert summary["held_out_nats"] == report.held_out_nats
    assert summary["agreement"] == 1.0


def test_without_being_asked_the_report_tells_what_it_knows(log):
    report = efex.learn(log, seed=0).report
    assert (report.held_out_nats, report.agreement, report.restarts) == (None, None, 1)
    assert "held out" not in str(report)


def test_too_few_clones_show_in_the_report(log):
    with pytest.warns(UserWarning, match="clones"):
        poor = efex.learn(log, clones=1, held_out=0.2, seed=0).report
    assert poor.nodes == 3
    assert poor.held_out_nats == pytest.approx(poor.held_out_first_order_nats, abs=0.05)


def test_restarts_that_find_different_maps_do_not_agree():
    rng = np.random.default_rng(0)
    noise = Experience.from_episodes([(rng.integers(0, 2, 60).tolist(), rng.integers(0, 2, 59)) for _ in range(5)])
    assert efex.learn(noise, clones="auto", restarts=3, patience=0, seed=0).report.agreement < 0.9


def test_restarts_keep_the_best_and_the_first_is_what_one_start_finds():
    walk = Experience.from_episodes([("the cat sat on the mat. " * 18, None)])
    alone = efex.learn(walk, patience=0, seed=4)
    best = efex.learn(walk, restarts=3, patience=0, seed=4)
    assert best.report.learned_nats > alone.report.learned_nats
    assert best.report.agreement < 1


def test_a_text_that_repeats_is_a_ring():
    walk = Experience.from_episodes([("the cat sat on the mat. " * 18, None)])
    found = [efex.learn(walk, restarts=3, patience=10, seed=seed) for seed in range(3)]
    assert [(fit.graph.n_nodes, fit.graph.n_edges) for fit in found] == 3 * [(24, 24)]
    assert found[2].report.agreement == 1


def test_whole_episodes_are_held_out():
    experience = ring_walks(10)
    kept, out = hold_out(experience, 0.3, rng=np.random.default_rng(0))
    assert (kept.n_episodes, out.n_episodes) == (7, 3)
    walks = [tuple(part.symbols[a:b]) for part in (kept, out) for a, b in pairwise(part.offsets)]
    assert sorted(walks) == sorted(tuple(experience.symbols[a:b]) for a, b in pairwise(experience.offsets))


def test_of_one_episode_the_last_part_is_held_out():
    experience = Experience.from_episodes([([*"aaaaaaaa", "b", "a"], np.arange(9))])
    experience.terminate()
    kept, out = hold_out(experience, 0.3, rng=np.random.default_rng(0))
    assert kept.symbols + out.symbols == experience.symbols
    assert (kept.actions.tolist(), out.actions.tolist()) == ([0, 1, 2, 3, 4, 5, -1], [7, 8, -1])
    # What is only in the part held out must not be known to the learner.
    assert kept.alphabet.symbols == ("a",)
    assert (kept.terminated.tolist(), out.terminated.tolist()) == ([], [2])


def test_nats_per_step_are_those_of_the_steps():
    truth = ring_truth()
    walks = Experience.from_episodes([(["door", "wall", "wall", "window"], [1, 1, 1]), (["wall", "wall"], [0])])
    # From the door all is certain; from one of three walls, going left shows a wall once in three times.
    assert nats_per_step(truth, walks) == pytest.approx(np.log(1 / 3) / 4)


@pytest.mark.parametrize(
    ("attempt", "says"),
    [
        (lambda: efex.learn([0, 1]), "path of a table"),
        (lambda: efex.learn("walk.txt"), "csv"),
        (lambda: efex.learn("nowhere.csv"), "no file"),
        (lambda: efex.learn(ring_walks(2), held_out=1.0), "held_out"),
        (lambda: efex.learn(ring_walks(2), held_out=-0.1), "held_out"),
        (lambda: efex.learn(ring_walks(2), held_out=float("nan")), "held_out"),
        (lambda: efex.learn(Experience.from_episodes([([0, 1, 0], None)]), held_out=0.1), "nothing to learn"),
        (lambda: efex.learn(Experience(1), held_out=0.1), "at least one step"),
        (lambda: efex.learn(ring_walks(2), restarts=0), "restarts"),
    ],
)
def test_bad_input_is_answered_in_words(attempt, says):
    with pytest.raises(EfexError, match=says):
        attempt()
    assert issubclass(InvalidArgumentError, EfexError)


def test_a_fit_is_saved_and_loaded_like_a_run(tmp_path, log):
    learned = efex.learn(log, restarts=2, held_out=0.2, seed=0)
    learned.save(tmp_path / "map")
    again = efex.load(tmp_path / "map")
    assert again.graph.difference(learned.graph) is None
    assert again.settings == learned.settings
    assert again.report == learned.report
    assert (tmp_path / "map" / "map.png").stat().st_size > 1000


def test_the_command_learns_saves_draws_and_reports(tmp_path, log, command):
    done = command("learn", log, "--out", "map", "--restarts", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("learning from 540 steps, 2 of 2", "held out  60 steps in 2 episodes", "2 restarts agree", "map.png"):
        assert words in done.stdout
    assert efex.load(tmp_path / "map").graph.n_nodes == 5
    assert json.loads((tmp_path / "map" / "summary.json").read_text())["actions"] == NAMES


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.csv"], "no file"),
        (["walk.csv", "--method", "gradient"], "method"),
        (["walk.csv", "--held-out", "2"], "--held-out"),
        (["walk.csv", "--clones", "some"], "--clones"),
        (["walk.csv", "--out", "/dev/null/map"], "cannot be written"),
        ([], "file"),
    ],
)
def test_bad_input_on_the_command_line_is_one_line(arguments, says, log, command):
    done = command("learn", *arguments, cwd=log.parent)
    assert done.returncode == 2
    assert says in done.stderr.lower()
    assert len(done.stderr.strip().splitlines()) == 1
