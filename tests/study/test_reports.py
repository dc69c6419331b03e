import csv

import numpy as np
import pytest
from matplotlib.image import imread
from small import run, small_case, small_study

import efex
import efex.study.moments
import efex.study.play
import efex.study.runner
from benchmark_modules import BENCHMARKS
from efex.graph.export import from_content
from efex.study.drawing import table
from efex.study.paper import topologies, visual
from efex.study.report import report_study
from efex.study.store import Store
from efex.study.study import load_study


def forbid_playing(monkeypatch):
    """Whatever plays a case, walks through an environment or makes a world fails, whoever catches errors."""

    def refuse(*arguments, **options):
        pytest.fail("a report must not run anything")

    for place, name in [
        (efex.study.play, "play"),
        (efex.study.runner, "play_safely"),
        (efex.study.moments, "moments"),
        (efex.study.moments, "make"),
        (efex.worlds, "make"),
        (efex.worlds.GraphWorld, "__init__"),
        (efex.adapters.AgentView, "__init__"),
    ]:
        monkeypatch.setattr(place, name, refuse)


@pytest.fixture
def nothing_runs(monkeypatch):
    forbid_playing(monkeypatch)


@pytest.fixture
def store(tmp_path, nothing_runs):
    with Store(tmp_path / "kept.sqlite") as made:
        yield made


def synthetic(case):
    """A result such as `play` returns, a little different for every seed."""
    marks = [*case.marks] if case.agent != "tour" else []
    rising = np.linspace(0.3, 0.99, len(marks)) + 0.002 * (case.seed % 5)
    covered = None if case.agent == "random" else 700 + case.seed % 50
    curve = np.linspace(0.01, 1, 100)
    return {
        "steps": marks,
        "precision": rising.tolist(),
        "coverage": rising.tolist(),
        "log_likelihood": (rising - 1).tolist(),
        "nodes": [100] * len(marks),
        "seconds": 36.0,
        "curve_steps": np.linspace(0, case.steps, 101)[1:].astype(int).tolist(),
        "curve_coverage": curve.tolist(),
        "covered_steps": covered,
        "covered_episodes": covered and covered // 59,
        "everywhere": rising.tolist(),
        "truth_nodes": 5 * case.setting("size", 20),
        "tried_steps": covered and covered * case.setting("size", 20),
    }


def fill(store, study, some):
    cases = [case for case in study.cases if some(case)]
    for case in cases:
        store.put(case, "done", synthetic(case), "test")
    return cases


def tables(markdown):
    """Every table of a page, as rows of cells."""
    found, rows = [], []
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            found.append([rows[0], *rows[2:]])
            rows = []
    return found


def rows_of(path):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def check(page, folder, *, figures, csvs):
    """Figures are there and not blank, and shown; tables say the same as Markdown and as CSV."""
    text = page.read_text(encoding="utf-8")
    assert {path.name for path in folder.glob("*.png")} == figures
    for name in figures:
        assert f"({name})" in text
        picture = imread(folder / name)
        assert picture.std() > 0.01
        assert len(np.unique(picture[::5, ::5].reshape(-1, picture.shape[-1]), axis=0)) > 20
    written = {path.name: rows_of(path) for path in folder.glob("*.csv")}
    assert set(written) == csvs
    assert sorted(tables(text)) == sorted(written.values())
    return text


def test_the_chain_is_drawn_from_a_few_results(store, tmp_path):
    study = load_study("chain")
    cases = fill(store, study, lambda case: case.seed < 2_003)
    text = check(
        report_study(study, store, tmp_path / "out"), tmp_path / "out", figures={"chain.png"}, csvs={"chain.csv"}
    )
    assert f"{len(cases)} of {len(study.cases):,} runs" in text
    (rows,) = tables(text)
    assert len(rows) == 1 + 7 * 2
    assert ["random", "without", "3 of 100 runs", "never", "never to never", "never", "never"] in rows
    assert [row[-1] for row in rows if row[0] in ("efex", "tour")] == ["1.0 (1.0 to 1.0)"] * 4, "made up alike"


def are_over_the_tours(cells):
    """Whether in every row of (tour, steps, ratio) the third is what the others say."""
    rows = [[float(cell.split()[0].replace(",", "")) for cell in row] for row in cells]
    return all(ratio == pytest.approx(steps / tour, abs=0.1) for tour, steps, ratio in rows)


@pytest.mark.parametrize("name", ["topologies", "topologies-vb"])
def test_the_topologies_are_drawn_from_a_few_results(name, store, tmp_path, monkeypatch):
    monkeypatch.setattr(topologies, "WORLDS", ("icg", "grid2d"))
    monkeypatch.setattr(topologies, "SLIPS", (0.0, 0.1))
    study = load_study(name)
    fill(store, study, lambda case: case.seed < 2_002)
    measures = {f"{name}-{measure}.png" for measure in ("precision", "coverage", "log-likelihood")}
    csvs = {f"{name}-precision.csv"} | ({f"{name}-recovery.csv"} if name == "topologies" else set())
    text = check(report_study(study, store, tmp_path / "out"), tmp_path / "out", figures=measures, csvs=csvs)
    agents = {"topologies": 3 + 2, "topologies-vb": 2 + 2}[name]
    levels, *recovery = tables(text)
    assert len(levels) == 1 + 2 * 3 * agents, "the paper's own agent is played where nothing slips"
    assert [len(rows) for rows in recovery] == ([1 + 2 * 3 * agents] if name == "topologies" else [])
    assert are_over_the_tours([row[5:8] for rows in recovery for row in rows[1:]])


def test_growing_mazes_are_drawn_with_what_was_cut_off_and_a_tour_that_has_no_map(store, tmp_path):
    study = load_study("scaling")
    fill(store, study, lambda case: case.seed < 2_003)
    files = {"scaling-steps.csv", "scaling-recovery.csv", "scaling-growth.csv"}
    text = check(report_study(study, store, tmp_path / "out"), tmp_path / "out", figures={"scaling.png"}, csvs=files)
    steps, recovery, growth = tables(text)
    assert len(recovery) == 1 + 2 * 6
    assert are_over_the_tours([row[3:6] for row in recovery[1:]])
    assert [row[5] for row in steps if row[0] == "random"] == ["3 at 2,000,000"] * 6
    assert [row[6:] for row in steps if row[0] == "tour"] == [[""] * 6] * 6
    exponents = {(row[0], row[1]): row[4] for row in growth[1:]}
    of_tours = {(row[0], row[1]): row[5] for row in growth[1:]}
    tried = "every action tried at every node"
    assert exponents["efex", tried].startswith("1.00 ")
    assert exponents["random", tried] == of_tours["random", tried] == "-"
    assert of_tours["efex", tried].startswith("1.00 "), "made-up tours grow as made-up explorations do"
    assert of_tours["tour", tried] == ""
    assert [row for row in exponents if row[0] == "tour"] == [("tour", tried)]


@pytest.mark.parametrize("agent", ["efex", "random", "tour"])
def test_growing_mazes_are_drawn_of_one_agent_alone(agent, store, tmp_path):
    study = load_study("scaling")
    fill(store, study, lambda case: case.seed == 2_000 and case.agent == agent)
    assert {row[0] for row in tables(report_study(study, store, tmp_path / "out").read_text())[0][1:]} == {agent}


def test_every_setting_is_drawn_with_the_marks_of_its_agent(store, tmp_path):
    study = load_study("sensitivity")
    fill(store, study, lambda case: case.seed < 2_002)
    names = {f"sensitivity-{agent}" for agent in ("efex", "efex-paper")}
    files = {"figures": {f"{name}.png" for name in names}, "csvs": {f"{name}.csv" for name in names}}
    text = check(report_study(study, store, tmp_path / "out"), tmp_path / "out", **files)
    assert [rows[0][-2] for rows in tables(text)] == ["at 5,000", "at 10,000"]
    assert all(len(row) == len(rows[0]) for rows in tables(text) for row in rows)


def test_every_part_that_is_switched_off_is_drawn(store, tmp_path):
    study = load_study("ablation")
    fill(store, study, lambda case: case.seed < 2_002)
    text = check(
        report_study(study, store, tmp_path / "out"), tmp_path / "out", figures={"ablation.png"}, csvs={"ablation.csv"}
    )
    (rows,) = tables(text)
    assert rows[1][:4] == ["grid3d", "default", "2 of 5 runs", "5,000 (5,000 to 5,000)"]


def test_maps_are_drawn_as_they_grow(tmp_path, monkeypatch):
    worlds = {"grid2d": (("size", 3), ("unique_fraction", 0.5)), "chain": (("length", 5),)}
    monkeypatch.setattr(visual, "WORLDS", worlds)
    monkeypatch.setattr(visual, "MARKS", (5, 100, 300))
    study = load_study("visual")
    assert run(study, tmp_path / "kept.sqlite", jobs=1) == []
    forbid_playing(monkeypatch)
    figures = {f"visual-{world}{growing}.png" for world in worlds for growing in ("", "-growing")}
    with Store(tmp_path / "kept.sqlite") as store:
        check(report_study(study, store, tmp_path / "out"), tmp_path / "out", figures=figures, csvs=set())
        for case, result in store.results(study.cases):
            truth, (first, *_, last) = from_content(result["truth"]), map(from_content, result["graphs"])
            assert result["steps"] == [5, 100, 300]
            assert first.n_nodes < truth.n_nodes, case.id
            assert last.equivalent_to(truth), case.id
            assert len(result["positions"][-1]) == last.n_nodes


def test_a_shorter_case_ends_in_a_mark():
    shorter = topologies.case("icg", "random", 0.1, 0.0, 0, steps=7_000)
    assert shorter.marks == (1_000, 2_000, 5_000, 7_000)
    assert shorter.steps == 7_000
    assert topologies.case("icg", "random", 0.1, 0.0, 0, steps=30_000).marks[-1] == 30_000


def test_a_report_is_the_same_every_time(store, tmp_path):
    study = load_study("chain")
    fill(store, study, lambda case: case.seed < 2_002)
    for folder in ("one", "two"):
        report_study(study, store, tmp_path / folder)
    for name in ("chain.md", "chain.csv", "chain.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_study_without_results_says_so(store, tmp_path):
    page = report_study(load_study("chain"), store, tmp_path / "out")
    assert "Nothing is done yet" in page.read_text()


def test_the_page_tells_of_failures(store, tmp_path):
    study = small_study(*(small_case(seed) for seed in range(3)))
    store.put(study.cases[0], "done", {"seconds": 7_200.0}, "test")
    store.put(study.cases[1], "failed", "Traceback: no", "test")
    text = report_study(study, store, tmp_path / "out").read_text()
    assert "1 of 3 runs, 120 core minutes of exploring; 1 failed." in text


def test_tables_are_written_as_csv_and_as_markdown(tmp_path):
    markdown = table(tmp_path, "some", ["agent", "steps, median"], [["efex", "1,234 (5 to 6)"], ["random", None]])
    assert tables(markdown) == [[["agent", "steps, median"], ["efex", "1,234 (5 to 6)"], ["random", "None"]]]
    assert rows_of(tmp_path / "some.csv") == tables(markdown)[0]


@pytest.mark.parametrize(("file", "figures", "rows"), [("parts.py", {"parts.png"}, 16), ("slippery.py", set(), 10)])
def test_studies_beside_the_package_are_reported(file, figures, rows, store, tmp_path):
    study = load_study(str(BENCHMARKS / file))
    fill(store, study, lambda case: case.seed % 5 < 2)
    names = {f"{study.name}.csv"}
    text = check(report_study(study, store, tmp_path / "out"), tmp_path / "out", figures=figures, csvs=names)
    (found,) = tables(text)
    assert len(found) == 1 + rows
