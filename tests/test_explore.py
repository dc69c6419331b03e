import json
import os
import signal
import subprocess
import sys
import threading

import gymnasium
import pytest

import efex
from efex.errors import EfexError, InvalidArgumentError, StorageError


def grid(**options):
    return efex.make("grid2d", **{"size": 4, "unique_fraction": 0.5, "seed": 0} | options)


def test_a_run_folder_holds_everything_and_reads_back(tmp_path):
    run = efex.explore(grid(), steps=250, agent="efex", progress=False, folder=tmp_path / "run")
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {
        "experience.safetensors",
        "model.safetensors",
        "graph.json",
        "truth.json",
        "summary.json",
        "map.png",
        "checkpoint.safetensors",
    }
    again = efex.load(tmp_path / "run")
    assert again.experience.symbols == run.experience.symbols
    assert again.experience.offsets.tolist() == run.experience.offsets.tolist()
    assert again.graph.difference(run.graph) is None
    assert again.true_nodes.tolist() == run.true_nodes.tolist()
    walk = run.experience.symbols[:30], run.experience.actions[:29]
    assert again.decode(*walk).tolist() == run.decode(*walk).tolist()
    assert again.log_likelihood(*walk) == run.log_likelihood(*walk)
    assert json.loads((tmp_path / "run/summary.json").read_text())["steps"] == 250


@pytest.mark.parametrize("name", ["experience.safetensors", "model.safetensors"])
@pytest.mark.parametrize("damage", ["truncated", "flipped", "foreign", "missing"])
def test_a_damaged_folder_is_a_clear_error(tmp_path, name, damage):
    efex.explore(grid(), steps=120, agent="random", clones=2, progress=False, folder=tmp_path)
    path = tmp_path / name
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        content[-7] ^= 1
        path.write_bytes(content)
    elif damage == "foreign":
        path.write_bytes(b"PK\x03\x04 something else")
    else:
        path.unlink()
    with pytest.raises(StorageError, match=name):
        efex.load(tmp_path)


def test_an_unwritable_folder_is_found_out_before_the_work(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be written"):
        efex.explore(grid(), steps=10_000_000, progress=False, folder=tmp_path / "file" / "run")


INTERRUPTED = """
import efex, gymnasium

class Loud(gymnasium.Wrapper):
    episodes = 0

    def reset(self, **options):
        self.episodes += 1
        print("episode", self.episodes, flush=True)
        return self.env.reset(**options)

world = Loud(efex.make("grid2d", size=6, unique_fraction=0.5, seed=0))
efex.explore(world, steps=10_000_000, progress=False, folder={folder!r}, agent="efex-paper", clones=4)
"""


@pytest.mark.parametrize(("told", "says"), [(signal.SIGINT, b"KeyboardInterrupt"), (signal.SIGTERM, b"")])
def test_a_process_told_to_stop_leaves_a_readable_folder(tmp_path, told, says):
    script = INTERRUPTED.format(folder=str(tmp_path / "run"))
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    while child.stdout.readline() != b"episode 3\n":
        assert child.poll() is None
    os.kill(child.pid, told)
    _, error = child.communicate(timeout=60)
    assert says in error
    assert child.returncode != 0
    run = efex.load(tmp_path / "run")
    assert run.experience.n_steps > 0
    assert run.summary()["interrupted"] is True
    assert len(run.recovery.path) == len(run.experience)


class Failing(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.left = 30
        return 0, {}

    def step(self, action):
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("the simulator crashed")
        return action, 0.0, False, False, {}


def test_an_environment_that_fails_leaves_what_was_found(tmp_path):
    with pytest.raises(RuntimeError, match="crashed"):
        efex.explore(Failing(), steps=100, clones=2, progress=False, folder=tmp_path)
    assert efex.load(tmp_path).experience.n_steps == 29


def test_an_environment_that_fails_says_where_what_was_found_is(tmp_path):
    with pytest.raises(RuntimeError, match="crashed") as failed:
        efex.explore(Failing(), steps=100, clones=2, progress=False, folder=tmp_path)
    assert failed.value.__notes__ == [f"what was found so far is saved in {tmp_path}; resume=True goes on from there"]
    with pytest.raises(RuntimeError, match="crashed") as failed:
        efex.explore(Failing(), steps=100, clones=2, progress=False)
    assert not hasattr(failed.value, "__notes__")


class Continuous(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Box(-1, 1)


class Odd(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return {1, 2}, {}

    def step(self, action):
        return {1, 2}, 0.0, False, False, {}


@pytest.mark.parametrize(
    ("attempt", "says"),
    [
        (lambda: efex.explore(Continuous(), steps=10), "Discrete action space"),
        (lambda: efex.explore(object(), steps=10), "Discrete action space"),  # type: ignore[arg-type]
        (lambda: efex.explore(Odd(), steps=10, progress=False), "observe="),
        (lambda: efex.explore(grid(), steps=0), "steps"),
        (lambda: efex.explore(grid(), steps=float("nan")), "steps"),  # type: ignore[arg-type]
        (lambda: efex.explore(grid(), steps=10.5), "steps"),  # type: ignore[arg-type]
        (lambda: efex.explore(grid(), steps=10, agent="nobody"), "agent"),
        (lambda: efex.explore(grid(), steps=10, clones=0, progress=False), "clones"),
        (lambda: efex.explore(grid(), steps=10, clones={0: 1}, progress=False), "clones"),
        (lambda: efex.explore(grid(), steps=10, seed=-1), "seed"),
        (lambda: efex.explore(grid(), steps=10, episode_steps=0), "episode_steps"),
    ],
)
def test_bad_input_is_answered_in_words(attempt, says):
    with pytest.raises(InvalidArgumentError, match=says):
        attempt()


def test_an_odd_observation_can_be_observed():
    run = efex.explore(Odd(), steps=20, observe=sorted, clones=1, episode_steps=10, progress=False)
    assert run.graph.observations == ((1, 2),)


@pytest.mark.parametrize("clones", [1, 2])
def test_clones_too_few_for_the_data_are_not_passed_over_in_silence(clones):
    with pytest.warns(UserWarning, match="clones"):
        run = efex.explore(grid(unique_fraction=0.2), steps=600, clones=clones, progress=False)
    assert run.summary()["observations_out_of_clones"] >= 1


def test_chance_is_not_taken_for_a_want_of_clones():
    world = efex.make("chain", length=10, trap=True, seed=0)
    run = efex.explore(world, steps=2_000, agent="random", clones=1, progress=False)
    assert run.out_of_clones() == []


def test_a_learner_out_of_clones_says_so_too():
    run = efex.explore(grid(unique_fraction=0.2), steps=600, agent="random", clones=8, progress=False)
    with pytest.warns(UserWarning, match="clones"):
        efex.learn(run.experience, clones=1)


def test_a_folder_used_again_holds_the_new_run_alone(tmp_path):
    efex.explore(grid(), steps=60, agent="random", clones=2, progress=False, folder=tmp_path)
    with pytest.raises(RuntimeError):
        efex.explore(Failing(), steps=100, clones=2, progress=False, folder=tmp_path)
    assert efex.load(tmp_path).truth is None


def test_an_agent_that_fails_half_way_leaves_what_it_knew(tmp_path):
    world = grid(unique_fraction=1.0)
    # All rooms but the one furthest from home.
    clones = {str(symbol): 1 for symbol in world.truth.observations[:-1]}
    with pytest.raises(InvalidArgumentError, match="is missing"):
        efex.explore(world, steps=600, observe=str, clones=clones, progress=False, folder=tmp_path)
    kept = efex.load(tmp_path)
    assert kept.experience.n_steps > 0
    assert len(kept.recovery.path) == len(kept.experience)


class Talkative(gymnasium.Wrapper):
    """Tells its node in words, which is none of efex's business."""

    def reset(self, **options):
        observation, _ = self.env.reset(**options)
        return observation, {"node": "kitchen"}

    def step(self, action):
        *rest, _ = self.env.step(action)
        return (*rest, {"node": "kitchen"})


def test_nodes_told_in_another_way_are_not_true_nodes():
    run = efex.explore(Talkative(grid()), steps=40, clones=2, progress=True)
    assert run.true_nodes is None


def test_exploring_works_off_the_main_thread():
    found = []
    thread = threading.Thread(
        target=lambda: found.append(efex.explore(grid(), steps=60, agent="random", clones=2, progress=False))
    )
    thread.start()
    thread.join()
    assert found[0].experience.n_steps == 60


def test_the_environment_is_seeded_once():
    seeds = []

    class Noting(gymnasium.Wrapper):
        def reset(self, *, seed=None, options=None):
            seeds.append(seed)
            return self.env.reset(seed=seed, options=options)

    efex.explore(Noting(grid(episode_steps=10)), steps=35, seed=5, agent="random", clones=2, progress=False)
    assert seeds == [5, None, None, None]


def test_a_progress_bar_shows_coverage(capsys):
    efex.explore(grid(), steps=100, agent="efex", clones=3, progress=True)
    assert "coverage" in capsys.readouterr().out


def test_a_saved_symbol_comes_back_as_it_was(tmp_path):
    symbols = [("a", 1), b"raw", None, True, 1.5]

    class Rich(gymnasium.Env):
        observation_space = gymnasium.spaces.Discrete(5)
        action_space = gymnasium.spaces.Discrete(1)

        def reset(self, *, seed=None, options=None):
            self.at = 0
            return 0, {}

        def step(self, action):
            self.at = (self.at + 1) % 5
            return self.at, 0.0, False, False, {}

    run = efex.explore(Rich(), steps=20, observe=symbols.__getitem__, clones=1, progress=False, folder=tmp_path)
    assert efex.load(tmp_path).experience.symbols == run.experience.symbols
    assert set(run.graph.symbols) == set(symbols)


def test_every_deliberate_error_is_an_efex_error():
    assert issubclass(InvalidArgumentError, EfexError)
    assert issubclass(StorageError, EfexError)
