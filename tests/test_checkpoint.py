import contextlib
import math
import random
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import gymnasium
import numpy as np
import pytest

import efex
from efex import checkpoint, stopping
from efex.agents import RandomAgent
from efex.agents.ledger import Ledger
from efex.arrays import read_arrays, write_arrays
from efex.belief import Belief
from efex.errors import EfexError, InvalidArgumentError, StorageError
from efex.graph import LatentGraph
from efex.parts import keep_belief, read_belief
from efex.worlds import GraphWorld

CHECKPOINT = "checkpoint.safetensors"


def grid(**options):
    return efex.make("grid2d", **{"size": 4, "unique_fraction": 0.5, "seed": 0, "episode_steps": 30} | options)


def named(world):
    world.action_names = ["north", "south", "west", "east"]
    return world


def endless():
    return efex.make("teleport-maze", size=9, unique_fraction=0.5, seed=0)


class Slope(gymnasium.Env):
    """A slippery corridor: at its ends one action is not available, at the far end an episode may be over for good."""

    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(3)
    taken = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = 0
        return self._seen()

    def step(self, action):
        Slope.taken += 1
        slipped = self.np_random.random() < 0.1
        self.cell = min(max(self.cell + (0 if slipped else action - 1), 0), 6)
        observation, info = self._seen()
        return observation, 0.0, self.cell == 6 and bool(self.np_random.random() < 0.5), False, info

    def _seen(self):
        return (0, 1, 1, 2, 1, 1, 2)[self.cell], {"action_mask": np.array([self.cell > 0, True, self.cell < 6])}


class Breaking(gymnasium.Wrapper):
    """Fails in its so-and-so-manieth step."""

    def __init__(self, env, after):
        super().__init__(env)
        self.left = after

    def step(self, action):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the simulator crashed")
        return self.env.step(action)


def identical(one, other):
    for name in ("observations", "actions", "terminated"):
        np.testing.assert_array_equal(getattr(one.experience, name), getattr(other.experience, name))
    np.testing.assert_array_equal(one.recovery.path, other.recovery.path)
    np.testing.assert_array_equal(one.recovery.model.counts, other.recovery.model.counts)
    np.testing.assert_array_equal(one.recovery.model.starts, other.recovery.model.starts)
    assert one.summary() == other.summary()
    return True


def interrupted(make, after, folder, **options):
    with pytest.raises(RuntimeError, match="crashed"):
        efex.explore(Breaking(make(), after), folder=folder, **options)


def lake():
    """A slippery lake, whose map is left to chance after a while."""
    return gymnasium.make("FrozenLake-v1", is_slippery=True)


WORLDS = {"episodes": grid, "endless": endless, "masked and terminating": Slope}
AGENTS = [("efex", "auto"), ("efex-paper", 8), ("random", "auto"), ("max", "auto")]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("agent", "clones"), AGENTS)
def test_a_run_broken_at_any_step_ends_where_it_would_have_ended(tmp_path, agent, clones, world):
    make = WORLDS[world]
    options = {"steps": 100, "seed": 1, "agent": agent, "clones": clones, "progress": False}
    whole = efex.explore(make(), **options)
    for after in (30, 77) if agent == "efex" else (77,):
        interrupted(make, after, tmp_path / f"{after}", **options)
        again = efex.explore(make(), folder=tmp_path / f"{after}", resume=True, replay=True, **options)
        assert identical(again, whole), after


def test_a_map_left_to_chance_goes_on_as_it_would_have(tmp_path):
    options = {"steps": 420, "seed": 1, "progress": False}
    whole = efex.explore(lake(), **options)
    assert whole.recovery.model.pseudocount * whole.recovery.model.layout.n_states > 1
    interrupted(lake, 390, tmp_path, **options)
    assert identical(efex.explore(lake(), folder=tmp_path, resume=True, replay=True, **options), whole)


def test_what_fails_in_the_agent_does_not_leave_half_of_another_run(tmp_path):
    class Failing(RandomAgent):
        def moved(self):
            if self.experience.n_steps == 40:
                raise ZeroDivisionError

    efex.explore(grid(), steps=100, folder=tmp_path, agent="random", progress=False)
    with pytest.raises(ZeroDivisionError):
        efex.explore(grid(), steps=100, folder=tmp_path, agent=Failing(), progress=False)
    assert efex.load(tmp_path).experience.n_steps == 40
    assert not (tmp_path / "checkpoint.safetensors").exists()


def test_what_an_agent_plans_for_several_steps_is_kept(tmp_path):
    goes_on_while_planning(tmp_path, (51, 52), steps=120, method="em", start="rivals")


def test_what_an_agent_foresees_is_kept(tmp_path):
    whole = goes_on_while_planning(tmp_path, (181, 183), steps=220, make=lambda: grid(size=9))
    assert whole.recovery.foreseen is not None


def machine():
    """Return a machine without steps to and fro: twenty nodes that show three things."""
    draw = np.random.default_rng(7)
    moves = [np.eye(20)[draw.integers(20, size=20)] for _ in range(4)]
    return GraphWorld(LatentGraph.from_matrices([node % 3 for node in range(20)], moves, starts=[0]), seed=0)


@pytest.mark.parametrize("make", [machine, lambda: grid(size=7, unique_fraction=0.1)])
def test_whether_coordinates_tell_is_kept(tmp_path, make, monkeypatch):
    """Where they do not, the agent asks which one it is."""
    options = {"steps": 560, "seed": 2, "progress": False}
    whole = efex.explore(make(), **options)
    interrupted(make, 520, tmp_path, **options)
    assert identical(efex.explore(make(), folder=tmp_path, resume=True, replay=True, **options), whole)
    # Whoever forgot it would do otherwise.
    kept = Ledger.kept.__func__

    def forgetful(cls, *args):
        again = kept(cls, *args)
        again.is_reckoned = not again.is_reckoned
        return again

    monkeypatch.setattr(Ledger, "kept", classmethod(forgetful))
    interrupted(make, 520, tmp_path / "other", **options)
    other = efex.explore(make(), folder=tmp_path / "other", resume=True, replay=True, **options)
    assert other.experience.actions.tolist() != whole.experience.actions.tolist()


def test_what_teaches_nothing_in_a_plan_is_kept():
    walked = Belief.empty(3, 2, prior=0.1).updated(*np.array([[0, 0, 1], [0, 1, 0], [1, 2, 2]]))
    planned = replace(walked, thrown=np.array([False, True, True]), doubt=np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0]))
    state = keep_belief(planned)
    again = read_belief(state)
    assert again.thrown.tolist() == planned.thrown.tolist()
    assert again.information_gain.tolist() == planned.information_gain.tolist()
    assert read_belief(keep_belief(walked)).thrown is None
    state.arrays["thrown"] = state.arrays["thrown"][:2]
    with pytest.raises(StorageError, match="thrown"):
        read_belief(state)


def goes_on_while_planning(folder, moments, *, steps, make=grid, **settings):
    """Break a run at some moments, between two plans, and see that it goes on as if nothing had happened; return it."""
    options = {"steps": steps, "progress": False}
    whole = efex.explore(make(), agent=efex.agents.Efex(replan=4, **settings), **options)
    for after in moments:
        options |= {"folder": folder / f"{after}"}
        broken = {"steps": steps, "progress": False, "agent": efex.agents.Efex(replan=4, **settings)}
        interrupted(make, after, folder / f"{after}", **broken)
        again = efex.explore(make(), agent=efex.agents.Efex(replan=4, **settings), resume=True, **options)
        assert identical(again, whole)
    return whole


@pytest.fixture
def eager(monkeypatch):
    """A checkpoint at every step."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", math.inf)


def test_writing_checkpoints_has_no_influence(tmp_path, eager):
    for agent in ("efex", "random"):
        options = {"steps": 150, "agent": agent, "progress": False}
        assert identical(efex.explore(grid(), folder=tmp_path, **options), efex.explore(grid(), **options))


KILLED = """
import math, efex, gymnasium
from efex import checkpoint
checkpoint.EVERY, checkpoint.SHARE = {every}, math.inf

class Loud(gymnasium.Wrapper):
    taken = 0

    def step(self, action):
        self.taken += 1
        print(self.taken, flush=True)
        return self.env.step(action)

world = efex.make("grid2d", size=4, unique_fraction=0.5, seed=0, episode_steps=30)
efex.explore(Loud(world), steps=400, seed=1, progress=False, folder={folder!r})
"""


def killed(folder, *, every, steps, after):
    """Kill a process some seconds after so many of its 400 steps; return whether it was still at work, and how long."""
    script = KILLED.format(folder=str(folder), every=every)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert child.stdout is not None
    for _ in range(steps):
        child.stdout.readline()
    begin = time.monotonic()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(after)
    child.kill()
    child.wait()
    child.stdout.close()
    return child.returncode == -signal.SIGKILL, time.monotonic() - begin


def goes_on(whole, folder):
    """Return whether the run that a process left goes on to where it would have ended."""
    again = efex.explore(grid(), steps=400, seed=1, progress=False, folder=folder, resume=True)
    assert again.graph.write(folder / "a.json").read_text() == whole.graph.write(folder / "b.json").read_text()
    return identical(again, whole) and identical(efex.load(folder), whole)


def killed_at(moments, folder):
    whole = efex.explore(grid(), steps=400, seed=1, progress=False)
    draw = random.Random(0)
    for i in range(moments):
        moment = {"steps": draw.randrange(1, 380), "after": draw.random() * 0.01}
        assert killed(folder / f"{i}", every=draw.choice([0.0, 0.0, 0.05]), **moment)[0]
    return sum(goes_on(whole, folder / f"{i}") for i in range(moments))


def test_a_killed_process_goes_on_to_the_identical_graph(tmp_path):
    assert killed_at(2, tmp_path) == 2


@pytest.mark.verify
def test_kill_at_twenty_random_moments(tmp_path):
    resumed = killed_at(20, tmp_path)
    print(f"\nkill -9: {resumed} of 20 resume to the identical graph")
    assert resumed == 20


@pytest.mark.verify
def test_kill_at_twenty_moments_of_the_last_save(tmp_path):
    whole = efex.explore(grid(), steps=400, seed=1, progress=False)
    was_killed, lasts = killed(tmp_path / "whole", every=0.0, steps=400, after=60)
    assert not was_killed
    early = [killed(tmp_path / f"{i}", every=0.0, steps=400, after=lasts * i / 20)[0] for i in range(20)]
    resumed = sum(goes_on(whole, tmp_path / f"{i}") for i in range(20))
    print(
        f"\nkill -9 while the run is saved: {resumed} of 20 resume to the identical graph, {sum(early)} before its end"
    )
    assert resumed == 20
    assert sum(early) >= 10


def test_an_environment_that_is_not_known_to_repeat_itself_is_not_replayed(tmp_path):
    options = {"steps": 100, "agent": "random", "clones": 4, "progress": False}
    interrupted(Slope, 40, tmp_path, **options)
    before, Slope.taken = efex.load(tmp_path).experience, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        run = efex.explore(Slope(), folder=tmp_path, resume=True, **options)
    assert Slope.taken == 60
    assert run.experience.n_steps == 100
    np.testing.assert_array_equal(run.experience.observations[: len(before)], before.observations)
    assert len(before) in run.experience.offsets


@pytest.mark.parametrize("agent", ["efex", "max"])
def test_an_environment_that_does_not_repeat_itself_goes_on_with_a_new_episode(tmp_path, agent):
    moods = iter(range(10))

    class Moody(Slope):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.cell = 0 if seed is None else next(moods) % 2 * 3
            return self._seen()

    options = {"steps": 90, "agent": agent, "clones": 12, "progress": False}
    interrupted(Moody, 40, tmp_path, **options)
    with pytest.warns(UserWarning, match="does not repeat itself.*new episode"), pytest.raises(RuntimeError):
        efex.explore(Breaking(Moody(), 45), folder=tmp_path, resume=True, replay=True, **options)
    assert efex.load(tmp_path).experience.n_steps > 40
    run = efex.explore(Moody(), folder=tmp_path, resume=True, **options)
    assert run.experience.n_steps == 90
    assert len(run.recovery.path) == len(run.experience)


class Untouchable(gymnasium.Wrapper):
    def reset(self, **options):
        raise AssertionError("a finished run has no business here")


def test_a_finished_run_is_returned_as_it_is(tmp_path):
    options = {"steps": 95, "progress": False, "folder": tmp_path}
    run = efex.explore(grid(), **options)
    assert identical(efex.explore(Untouchable(grid()), resume=True, **options), run)


def test_a_finished_run_goes_on_when_asked_for_more(tmp_path):
    for steps in (1, 40, 70):
        run = efex.explore(grid(), steps=steps, progress=False, folder=tmp_path, resume=True)
        assert identical(run, efex.explore(grid(), steps=steps, progress=False))
    with pytest.raises(InvalidArgumentError, match="70 steps of it are taken"):
        efex.explore(grid(), steps=50, progress=False, folder=tmp_path, resume=True)


def test_a_finished_run_without_replay_loses_nothing(tmp_path):
    options = {"progress": False, "folder": tmp_path, "replay": False}
    before = efex.explore(grid(), steps=50, **options)
    after = efex.explore(grid(), steps=100, resume=True, **options)
    n = len(before.experience)
    np.testing.assert_array_equal(after.experience.observations[:n], before.experience.observations)
    np.testing.assert_array_equal(after.true_nodes[:n], before.true_nodes)
    assert after.experience.n_steps == 100


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """What a short run was asked for, with the folder where it is."""
    options = {"env": grid(), "steps": 40, "progress": False, "folder": tmp_path_factory.mktemp("short")}
    efex.explore(**options)
    return options


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 2}, "its seed was 0, not 2"),
        ({"agent": "random"}, "its agent was 'Efex', not 'RandomAgent'"),
        ({"agent": efex.agents.Efex(discount=0.9)}, "discount"),
        ({"clones": 9}, "clones"),
        ({"episode_steps": 7}, "episode_steps"),
        ({"observe": str}, "observe"),
        ({"env": Slope()}, "number of actions was 4, not 3"),
        ({"env": grid(size=6)}, "declared observations"),
        ({"env": grid(seed=5)}, "world"),
        ({"env": named(grid())}, "names of actions"),
    ],
)
def test_a_run_does_not_go_on_as_another(short, change, says):
    with pytest.raises(InvalidArgumentError, match=says):
        efex.explore(**short | change | {"steps": 80, "resume": True})
    assert efex.load(short["folder"]).experience.n_steps == 40


def test_without_a_checkpoint_resuming_begins(tmp_path):
    run = efex.explore(grid(), steps=40, progress=True, folder=tmp_path / "new", resume=True)
    assert identical(run, efex.explore(grid(), steps=40, progress=False))
    with pytest.raises(InvalidArgumentError, match="folder="):
        efex.explore(grid(), steps=40, resume=True)


def test_without_resume_a_run_is_replaced(tmp_path):
    efex.explore(grid(), steps=40, progress=False, folder=tmp_path)
    efex.explore(grid(), steps=30, seed=3, progress=False, folder=tmp_path)
    again = efex.explore(grid(), steps=50, seed=3, progress=False, folder=tmp_path, resume=True)
    assert identical(again, efex.explore(grid(), steps=50, seed=3, progress=False))
    again.save(tmp_path)
    assert not (tmp_path / CHECKPOINT).exists()


class Stuck(gymnasium.Wrapper):
    def reset(self, **options):
        raise RuntimeError("no connection, so to speak: crashed")


def test_a_run_that_fails_at_once_takes_nothing_from_the_one_before(tmp_path):
    options = {"steps": 40, "progress": False, "folder": tmp_path}
    run = efex.explore(grid(), **options)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    interrupted(lambda: Stuck(grid()), 0, tmp_path, steps=80, progress=False)
    interrupted(grid, 0, tmp_path, steps=80, progress=False)
    for wrong in ({"steps": 0}, {"agent": "max", "until": "complete"}, {"observe": lambda seen: object()}):
        with pytest.raises(EfexError):
            efex.explore(grid(), **options | wrong)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert identical(efex.explore(Untouchable(grid()), resume=True, **options), run)


def test_a_run_that_was_not_finished_says_so_when_it_is_loaded(tmp_path):
    efex.explore(efex.make("chain", length=5), steps=50, progress=False, folder=tmp_path)
    (tmp_path / "experience.safetensors").unlink()
    with pytest.raises(StorageError, match=r"was not finished.*; go on with efex.explore\(..., folder=, resume=True\)"):
        efex.load(tmp_path)


def flipped(file):
    content = bytearray(file.read_bytes())
    content[-9] ^= 4
    file.write_bytes(content)


def cut(file):
    file.write_bytes(file.read_bytes()[:100])


def emptied(file):
    state = read_arrays(file)
    del state.about["agent"]
    write_arrays(file, state)


@pytest.mark.parametrize(
    ("damage", "says"), [(flipped, "is damaged"), (cut, "cannot be read"), (emptied, "agent is missing")]
)
def test_a_damaged_checkpoint_is_a_clear_error(tmp_path, command, damage, says):
    efex.explore(grid(), steps=40, progress=False, folder=tmp_path)
    damage(tmp_path / CHECKPOINT)
    with pytest.raises(StorageError, match=says) as caught:
        efex.explore(grid(), steps=80, progress=False, folder=tmp_path, resume=True)
    assert str(caught.value).count(str(tmp_path / CHECKPOINT)) == 1
    assert str(caught.value).endswith("; give another folder, or resume=False, which begins anew")
    assert efex.load(tmp_path).experience.n_steps == 40
    world = ["--set", "size=4", "--unique-fraction", "0.5", "--set", "episode_steps=30"]
    done = command("explore", "grid2d", *world, "--steps", "80", "--out", tmp_path, "--resume")
    assert done.returncode == 2
    assert done.stderr.endswith("; give another --out, or no --resume, which begins anew\n")
    assert efex.explore(grid(), steps=41, progress=False, folder=tmp_path).experience.n_steps == 41


class Alternating(efex.agents.RandomAgent):
    """Holds more than a RandomAgent does."""

    def prepare(self, n_actions, *, rng, symbols=()):
        super().prepare(n_actions, rng=rng, symbols=symbols)
        self._turn = 0

    def choose(self, mask):
        self._turn += 1
        return self.random_action(mask) if self._turn % 2 else self._turn % self.experience.n_actions


def test_an_agent_of_ones_own_walks_its_way_again(tmp_path):
    options = {"steps": 70, "progress": False}
    whole = efex.explore(grid(), agent=Alternating(clones=3), **options)
    interrupted(grid, 45, tmp_path, agent=Alternating(clones=3), **options)
    again = efex.explore(grid(), agent=Alternating(clones=3), folder=tmp_path, resume=True, **options)
    assert identical(again, whole)


def test_an_agent_that_chooses_otherwise_is_found_out(tmp_path):
    class Fickle(efex.agents.RandomAgent):
        def choose(self, mask):
            return time.perf_counter_ns() // 100 % self.experience.n_actions

    options = {"steps": 70, "progress": False}
    interrupted(grid, 45, tmp_path, agent=Fickle(clones=3), **options)
    with pytest.raises(EfexError, match="not the same agent"):
        efex.explore(grid(), agent=Fickle(clones=3), folder=tmp_path, resume=True, **options)


@pytest.fixture
def hasty(monkeypatch):
    """A map passes for complete soon."""
    monkeypatch.setattr(stopping, "LEAST_SETTLED", 50)


def stops_right(seed):
    """Return whether an exploration of a maze that stops by itself stops with the right map."""
    world = efex.make("sparse-maze", unique_fraction=0.3, seed=seed)
    run = efex.explore(world, steps=20_000, seed=seed, until="complete", progress=False)
    assert run.summary()["stopped"] == "complete"
    return run.graph.equivalent_to(world.truth)


@pytest.mark.verify
def test_until_complete_is_mostly_right():
    right = sum(map(stops_right, range(20, 28)))
    print(f"\nuntil complete: the map was right {right} of 8 times")
    assert right >= 7


def test_until_goes_with_resuming(tmp_path, hasty):
    options = {"steps": 1_000, "until": "complete", "progress": False, "clones": 6}
    whole = efex.explore(grid(), **options)
    assert whole.settings["stopped"] == "complete"
    assert whole.experience.n_steps > 150
    interrupted(grid, 100, tmp_path, **options)
    assert identical(efex.explore(grid(), folder=tmp_path, resume=True, **options), whole)
    assert identical(efex.explore(Untouchable(grid()), folder=tmp_path, resume=True, **options), whole)


def test_until_may_be_a_function_of_the_agent():
    run = efex.explore(grid(), steps=500, until=lambda agent: agent.experience.n_episodes == 3, progress=False)
    assert run.experience.n_steps == 61
    assert run.summary()["stopped"] == "until"
    assert efex.explore(grid(), steps=20, until=lambda agent: False, progress=False).summary()["stopped"] == "steps"
    with pytest.raises(InvalidArgumentError, match="until"):
        efex.explore(grid(), steps=20, until="done", progress=False)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="RandomAgent"):
        efex.explore(grid(), steps=20, until="complete", agent="random", progress=False)


def test_a_summary_says_what_is_unknown(tmp_path):
    little, much = (efex.explore(grid(), steps=steps, progress=False, folder=tmp_path) for steps in (30, 500))
    less, more = little.summary(), much.summary()
    assert less["untried_pairs"] > more["untried_pairs"] == 0
    assert less["nodes_seen_fewer_than_5_times"] > more["nodes_seen_fewer_than_5_times"]
    assert less["information_left_in_nats"] > more["information_left_in_nats"] > 0
    assert efex.load(tmp_path).summary() == more
    assert much.agreement(restarts=1) == 1.0
    assert little.agreement(restarts=1) < 1.0


def test_the_command_line_goes_on_too(tmp_path, command, hasty):
    explore = ["explore", "grid2d", "--set", "size=3", "--unique-fraction", "0.5", "--no-measure", "--resume"]
    for more in (["--steps", "60"], ["--steps", "1000", "--until", "complete"]):
        done = command(*explore, "--out", tmp_path, *more)
        assert done.returncode == 0, done.stderr
    assert "stopped  complete" in done.stdout
    assert "information left in nats" in done.stdout
    assert 60 < efex.load(tmp_path).experience.n_steps < 1000
