import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import efex
from efex import Experience
from efex.adapters import from_functions, read_table, write_table
from efex.errors import EfexError, InvalidArgumentError, StorageError

WALK = """episode,action,observation
a,left,wall
a,right,door
a,,wall
b,left,wall
b,up,window
"""


def csv_file(folder, text, *, name="walk.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_row_is_an_observation_and_the_action_taken_there(tmp_path):
    experience, names = read_table(csv_file(tmp_path, WALK))
    assert experience.symbols == ["wall", "door", "wall", "wall", "window"]
    # The action in the last row of episode b led nowhere: it is not one of the actions.
    assert names == ("left", "right")
    assert experience.actions.tolist() == [0, 1, -1, 0, -1]
    assert experience.offsets.tolist() == [0, 3, 5]


def test_whole_numbers_are_numbers_and_anything_else_is_text(tmp_path):
    numbers = csv_file(tmp_path, "episode,action,observation\n0, 0, 3\n0, 2, 10\n0, 0, -3\n")
    experience, names = read_table(numbers)
    assert (experience.symbols, experience.actions.tolist(), names) == ([3, 10, -3], [0, 2, -1], None)
    assert experience.n_actions == 3
    for column in (["3", "4", "x"], ["3", "03", "4"], ["1.0", "2", "3"]):
        text = "".join(f"{cell}\n" for cell in ["observation", *column])
        assert read_table(csv_file(tmp_path, text)).experience.symbols == column


def test_whole_numbers_that_passed_through_a_spreadsheet_are_still_actions(tmp_path):
    experience, names = read_table(csv_file(tmp_path, "action,observation\n1.0,a\n0.0,b\n,c\n"))
    assert (experience.actions.tolist(), names) == ([1, 0, -1], None)


@pytest.mark.filterwarnings("ignore:.*has no column action")
def test_columns_that_are_not_there_have_one_value(tmp_path):
    experience, names = read_table(csv_file(tmp_path, "when,Observation\n1,a\n2,b\n\n3,a\n"))
    assert (experience.n_actions, experience.n_episodes, names) == (1, 1, None)
    assert experience.actions.tolist() == [0, 0, -1]


def test_text_may_hold_commas_quotes_line_ends_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "walk.csv"
    path.write_text('observation\n"a, ""b""\nc"\n é\n', encoding="utf-8-sig")
    assert read_table(path).experience.symbols == ['a, "b"\nc', "é"]


def test_spaces_around_a_cell_do_not_count(tmp_path):
    walk = csv_file(tmp_path, "episode, action, observation \n0, go, hall\n0,go,hall\n0 , go ,hall \n0,,a b\n")
    experience, names = read_table(walk)
    assert (experience.symbols, names) == (["hall", "hall", "hall", "a b"], ("go",))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("episode,action,observation\n", "no rows"),
        ("episode,action,seen\n0,1,2\n", "'seen'"),
        ("episode;action;observation\n0;1;2\n", "commas between"),
        ("observation,observation\n0,1\n", "once"),
        ("episode,action,observation\n0,1\n", "line 2, has 2 cells"),
        ("episode,action,observation\n0,,a\n0,1,b\n", "line 2, has no action"),
        ("episode,action,observation\n0,1,a\n0,1,\n", "line 3, has no observation"),
        ("episode,action,observation\n0,1,a\n1,1,a\n0,1,a\n", "comes back to episode '0'"),
        ("episode,action,observation\n0,-1,a\n0,1,a\n", "'-1'"),
        ("episode,action,observation\n0,1.5,a\n0,1,a\n", "line 2: actions must be names"),
        ("episode,action,observation\n0,1,a\n0,1,b\n0,1.5,a\n0,1,a\n", "line 4: actions must be names"),
        ("episode,action,observation\n0,70000,a\n0,1,a\n", "'70000'"),
        ("observation,terminated\na,perhaps\n", "line 2: terminated must be true, false or empty, not 'perhaps'"),
        ("observation,terminated\na,true\nb,\n", "line 2, says that episode None terminated"),
    ],
)
def test_a_bad_table_is_answered_in_words(tmp_path, text, says):
    with pytest.raises(InvalidArgumentError, match=says):
        read_table(csv_file(tmp_path, text))


def test_a_file_that_is_no_table_is_answered_in_words(tmp_path):
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    (tmp_path / "text.parquet").write_bytes(b"not Parquet at all")
    for name in ("picture.csv", "text.parquet"):
        with pytest.raises(InvalidArgumentError, match="is not a table"):
            read_table(tmp_path / name)
    with pytest.raises(InvalidArgumentError, match=r"\.csv or \.parquet"):
        read_table(tmp_path / "walk.xlsx")
    with pytest.raises(StorageError, match="no file"):
        read_table(tmp_path / "walk.csv")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "symbols", [[3, -1, 12], ["a", "b, c", 'e\n"d"'], ["x", "3", "y z"]], ids=["numbers", "text", "mixed text"]
)
@pytest.mark.parametrize("names", [None, ("go", "stay")])
def test_what_was_written_reads_back(tmp_path, ending, symbols, names):
    rng = np.random.default_rng(0)
    walks = [([symbols[i] for i in rng.integers(0, 3, n)], rng.integers(0, 2, n - 1)) for n in (1, 40, 7)]
    experience = Experience.from_episodes(walks)
    table = read_table(write_table(experience, tmp_path / f"walk.{ending}", actions=names))
    assert table.actions == names
    assert table.experience.symbols == experience.symbols
    assert table.experience.actions.tolist() == experience.actions.tolist()
    assert table.experience.offsets.tolist() == experience.offsets.tolist()


def test_a_run_is_written_with_the_names_of_its_actions(tmp_path):
    env = from_functions(lambda: "hall", lambda way: f"went {way}", ["west", "east"])
    run = efex.explore(env, steps=30, episode_steps=10, progress=False)
    table = read_table(write_table(run.experience, tmp_path / "walk.csv", actions=run.graph.action_names))
    # A file numbers its actions in alphabetical order.
    assert table.actions == ("east", "west")
    named = [
        [names[action] for action in walk.actions if action >= 0]
        for walk, names in ((run.experience, run.graph.action_names), table)
    ]
    assert named[0] == named[1]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_where_an_episode_terminated_reads_back(tmp_path, ending):
    experience = Experience(2)
    for episode in range(3):
        experience.begin("a")
        experience.append(1, "b")
        if episode != 1:
            experience.terminate()
    again = read_table(write_table(experience, tmp_path / f"walk.{ending}")).experience
    assert again.terminated.tolist() == experience.terminated.tolist() == [1, 5]
    assert again.actions.tolist() == experience.actions.tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_observations_no_column_holds_come_back_as_their_text(tmp_path, ending):
    experience = Experience.from_episodes([([(0, 1), None, 2.5, "a", True, "\ud800"], None)])
    table = read_table(write_table(experience, tmp_path / f"walk.{ending}"))
    assert table.experience.symbols == ["(0, 1)", "None", "2.5", "a", "True", r"'\ud800'"]


def test_parquet_keeps_kinds_that_csv_does_not(tmp_path):
    for symbols in ([0.5, 2.0], [True, False], ["3", "4"], ["", "a"], [" a", "a", "a\n"]):
        experience = Experience.from_episodes([(symbols, None)])
        assert read_table(write_table(experience, tmp_path / "walk.parquet")).experience.symbols == symbols
    for blank in ("", " ", "b ", "\nb"):
        with pytest.raises(InvalidArgumentError, match=r"spaces around a cell do not count; write \.parquet"):
            write_table(Experience.from_episodes([([blank, "a"], None)]), tmp_path / "walk.csv")


def test_parquet_from_elsewhere_is_read(tmp_path):
    columns = {
        "episode": pa.array(["x", "x", "x", "y"]).dictionary_encode(),
        "action": pa.array([1.0, 0.0, float("nan"), None]),
        "observation": pa.array([[0, 1], [1, 1], [0, 1], [2, 2]]),
        "reward": pa.array([0.1, 0.2, 0.3, 0.4]),
    }
    pq.write_table(pa.table(columns), tmp_path / "walk.parquet")
    experience, names = read_table(tmp_path / "walk.parquet")
    assert experience.symbols == [(0, 1), (1, 1), (0, 1), (2, 2)]
    assert (experience.actions.tolist(), names) == ([1, 0, -1, -1], None)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"seen": [1, 2]}, "'seen'"),
        ({"observation": [1, None]}, "line 2, has no observation"),
        ({"observation": [1, 2], "action": [True, False]}, "True"),
        ({"observation": [1, 2], "action": [0.5, 1.0]}, "0.5"),
        ({"observation": []}, "no rows"),
    ],
)
def test_bad_parquet_is_answered_in_words(tmp_path, columns, says):
    pq.write_table(pa.table(columns), tmp_path / "walk.parquet")
    with pytest.raises(InvalidArgumentError, match=says):
        read_table(tmp_path / "walk.parquet")


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = write_table(Experience.from_episodes([([0, 1], None)]), tmp_path / "walk.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InvalidArgumentError, match=r"efex\[parquet\]"):
        read_table(path)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda folder: write_table(Experience(2), folder / "a.csv"),
        lambda folder: write_table(Experience.from_episodes([([0, 1], None)]), folder / "a.txt"),
        lambda folder: write_table(Experience.from_episodes([([0, 1], None)]), folder / "a.csv", actions=("a", "b")),
        lambda folder: write_table(Experience.from_episodes([([0, "0"], None)]), folder / "a.csv"),
        lambda folder: write_table(Experience.from_episodes([([0, 1], None)]), folder / "none" / "a.csv"),
    ],
)
def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path, attempt):
    with pytest.raises(EfexError):
        attempt(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_action_column_is_warned_of(tmp_path):
    walk = tmp_path / "walk.csv"
    walk.write_text("episode,act,observation\n0,left,hall\n0,,door\n")
    with pytest.warns(UserWarning, match="no column action, so that there is one action only; 'act' is not read"):
        assert read_table(walk).experience.n_actions == 1
    walk.write_text("episode,action,observation,note\n0,left,hall,x\n0,,door,y\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(walk)
