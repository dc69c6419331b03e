"""A summary says what is still unknown: among it whether restarts agree on the map, if that is asked for."""

import json
from pathlib import Path

import numpy as np
import pytest

import efex
from efex.errors import InvalidArgumentError
from efex.run import UNASKED, Fit

WORLD = ["grid2d", "--set", "size=3", "--unique-fraction", "0.5", "--no-measure"]


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    """A run that was saved, and its folder."""
    folder = tmp_path_factory.mktemp("run")
    world = efex.make("grid2d", size=3, unique_fraction=0.5)
    return efex.explore(world, steps=400, progress=False, folder=folder), folder


@pytest.fixture
def learnt(monkeypatch):
    """How many maps were learned anew, by the call."""
    asked = []

    def agreement(self, *, restarts=3, seed=0):
        asked.append(restarts)
        return 0.75

    monkeypatch.setattr(Fit, "agreement", agreement)
    return asked


def test_restarts_are_told_of_where_they_were_not_asked_for(explored):
    summary = efex.load(explored[1]).summary()
    assert summary["restarts"] == UNASKED
    assert "restarts=3" in UNASKED
    assert "agreement" not in summary
    assert json.loads((explored[1] / "summary.json").read_text())["restarts"] == UNASKED


def test_how_few_is_few_is_for_the_caller_to_say(explored):
    run = explored[0]
    seen = np.bincount(run.nodes)
    for few in (1, 5, 50):
        assert run.summary(few=few)[f"nodes_seen_fewer_than_{few}_times"] == (seen < few).sum()
    assert run.summary() == run.summary(few=5)
    with pytest.raises(InvalidArgumentError, match="few must be a whole number of at least 1, not 0"):
        run.summary(few=0)


def test_restarts_agree_on_a_map_that_is_right(explored):
    summary = efex.load(explored[1]).summary(restarts=2)
    assert (summary["restarts"], summary["agreement"]) == (2, 1.0)


def test_what_restarts_said_is_known_from_then_on(explored, learnt, tmp_path):
    run = efex.load(explored[1])
    for _ in range(2):
        assert run.summary(restarts=2)["agreement"] == 0.75
    assert run.summary()["agreement"] == run.report.agreement == 0.75
    again = efex.load(run.save(tmp_path))
    assert (again.summary()["restarts"], again.summary(restarts=2)["agreement"]) == (2, 0.75)
    assert learnt == [2]
    assert run.summary(restarts=3)["restarts"] == 3
    assert learnt == [2, 3]
    with pytest.raises(InvalidArgumentError, match="restarts must be"):
        run.summary(restarts=-1)


def test_a_fit_of_several_starts_knows_already(learnt):
    walk = efex.Experience.from_episodes([(["door", "wall", "wall"] * 20, None)])
    summary = efex.learn(walk, restarts=2).summary()
    assert (summary["restarts"], summary["agreement"], learnt) == (2, 1.0, [])
    assert efex.learn(walk).summary()["restarts"] == UNASKED


def test_the_command_line_asks_for_restarts_in_its_own_words(tmp_path, command, learnt):
    explore = ["explore", *WORLD, "--steps", "60", "--out", tmp_path]
    said = command(*explore).stdout
    assert "restarts  not asked; --restarts 3 learns the map 3 more times and says how far they agree\n" in said
    # A run that is there is asked later, once, and may still go on.
    for _ in range(2):
        done = command(*explore, "--resume", "--restarts", "2")
        assert "restarts  2\n" in done.stdout
        assert "agreement  0.75\n" in done.stdout
    assert learnt == [2]
    assert json.loads((tmp_path / "summary.json").read_text())["agreement"] == 0.75
    on = command(*explore[:-4], "--steps", "70", "--out", tmp_path, "--resume")
    assert on.returncode == 0, on.stderr
    assert "restarts  not asked; " in on.stdout
    refused = command(*explore, "--restarts", "-1")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "efex: --restarts must be a whole number of at least 0, not -1\n"


def test_what_the_progress_bar_shows_is_explained_in_the_help_and_in_the_guide(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    told = " ".join(command("explore", "--help").stdout.split())
    guide = " ".join((Path(__file__).parents[1] / "docs" / "guide.md").read_text(encoding="utf-8").split())
    agent = efex.agents.Efex()
    efex.explore(efex.make("chain", length=3), steps=20, agent=agent, progress=False)
    for term in ("coverage", *agent.status):
        assert f"{term}, the " in told
        assert f"`{term}`, the " in guide
