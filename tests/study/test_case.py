import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_case, small_study

from efex.errors import EfexError, InvalidArgumentError
from efex.study import Case, Study
from efex.study.catalogue import STUDIES
from efex.study.study import load_study

values = st.one_of(st.integers(-99, 99), st.floats(-9, 9).map(lambda x: round(x, 3)), st.booleans(), st.text("abc"))
settings = st.dictionaries(st.sampled_from(["size", "slip", "pseudocount", "horizon"]), values).map(
    lambda given: tuple(given.items())
)
cases = st.builds(
    Case,
    world=st.sampled_from(["grid2d", "icg"]),
    agent=st.sampled_from(["efex", "random"]),
    steps=st.integers(100, 10_000),
    seed=st.integers(0, 9_999),
    options=settings,
    settings=settings,
    clones=st.sampled_from([1.0, 2.0, 1.5, "auto"]),
    marks=st.lists(st.integers(1, 100)).map(tuple),
)


def test_an_id_reads_like_a_sentence():
    case = Case("grid2d", "efex", 500, 3, options=(("slip", 0.1), ("size", 4)), settings=(("method", "em+vb"),))
    assert case.id == "grid2d size=4 slip=0.1 | efex method=em+vb clones=2x | 500 steps | seed 3"


@given(cases)
def test_a_case_survives_json(case):
    again = Case.from_json(case.to_json())
    assert again == case
    assert again.id == case.id


@given(cases, st.randoms(use_true_random=False))
def test_the_order_of_options_does_not_matter(case, random):
    fields = json.loads(case.to_json())
    for name in ("options", "settings"):
        items = list(fields[name].items())
        random.shuffle(items)
        fields[name] = dict(items)
    again = Case.from_json(json.dumps(fields))
    assert (again, again.id, again.to_json()) == (case, case.id, case.to_json())


@pytest.mark.parametrize(
    "other",
    [
        Case("icg", "random", 60, 0),
        Case("grid2d", "efex", 60, 0),
        Case("grid2d", "random", 61, 0),
        Case("grid2d", "random", 60, 1),
        Case("grid2d", "random", 60, 0, options=(("size", 4),)),
        Case("grid2d", "random", 60, 0, settings=(("size", 4),)),
        Case("grid2d", "random", 60, 0, clones=3.0),
        Case("grid2d", "random", 60, 0, clones="auto"),
    ],
)
def test_cases_that_differ_have_ids_that_differ(other):
    assert other.id != Case("grid2d", "random", 60, 0).id


def test_settings_are_found_by_name():
    case = Case("grid2d", "efex", 60, 0, options=(("size", 4),), settings=(("method", "em"),))
    assert (case.setting("size"), case.setting("method"), case.setting("slip")) == (4, "em", None)


def test_settings_that_cannot_be_said_in_a_line_are_refused():
    with pytest.raises(InvalidArgumentError, match="size"):
        _ = Case("grid2d", "efex", 60, 0, options=(("size", [4]),)).id


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"marks": (30, 61)}, "a mark of a case must be at most 60, the steps it takes, not 61"),
        ({"marks": (0, 30)}, "a mark of a case must be a whole number of at least 1, not 0"),
        ({"marks": (2.5,)}, "a mark of a case must be a whole number of at least 1, not 2.5"),
        ({"marks": 30}, "the marks of a case must be a tuple of steps, not 30"),
        ({"steps": 0}, "the steps of a case must be a whole number of at least 1, not 0"),
        ({"clones": "lots"}, "the clones of a case must be a number above 0 or \"auto\", not 'lots'"),
        ({"clones": 0}, 'the clones of a case must be a number above 0 or "auto", not 0'),
        ({"clones": float("nan")}, 'the clones of a case must be a number above 0 or "auto", not nan'),
        ({"agent": "random-agent"}, "or file.py:Class, not 'random-agent'; did you mean 'random'?"),
        ({"agent": "nobody"}, "the agent of a case must be one of efex, "),
        ({"agent": Case}, "the agent of a case must be one of efex, "),
    ],
)
def test_a_case_that_cannot_be_played_as_it_says_is_refused(fields, says):
    with pytest.raises(InvalidArgumentError) as refused:
        Case(**{"world": "grid2d", "agent": "random", "steps": 60, "seed": 0, **fields})
    assert says in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_marks_may_come_from_an_array():
    case = Case("grid2d", "random", 60, 0, marks=np.arange(20, 61, 20))
    assert case == Case.from_json(case.to_json()) == Case("grid2d", "random", 60, 0, marks=(20, 40, 60))


def test_a_study_with_a_case_twice_is_refused():
    with pytest.raises(EfexError, match=r"twice.*seed 1"):
        small_study(small_case(0), small_case(1), small_case(1))


@pytest.mark.parametrize("name", STUDIES)
def test_the_studies_that_ship_are_whole(name):
    study = load_study(name)
    assert study.name == name
    assert len(study.cases) > 0
    assert all(Case.from_json(case.to_json()) == case for case in study.cases)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("nope", None, "chain"),
        ("chian", None, "not 'chian'; did you mean 'chain'"),
        ("nope.py", None, "no file"),
        ("mine.py", "study = 3", "Study"),
        ("m.py", "", "Study"),
    ],
)
def test_a_study_that_is_none_is_refused(name, text, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(EfexError, match=says):
        load_study(name)


FUNCTION = "def half(x):\n    return 1 / x\n\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\nstudy = Study(\n", "mine.py, line 2: SyntaxError: '(' was never closed"),
        ("\n\nimport nowhere_at_all\n", "mine.py, line 3: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        (f"{FUNCTION}half(0)\n", "mine.py, line 2: ZeroDivisionError: division by zero"),
        ("import json\njson.loads('{')\n", "mine.py, line 2: JSONDecodeError: Expecting property name"),
        ("import beside\n", "mine.py, line 1: SyntaxError: '(' was never closed (beside.py, line 1)"),
        (
            "from efex.study import Case\nCase('grid2d', 'efexx', 9, 0)\n",
            "mine.py, line 2: the agent of a case must be",
        ),
        ("x = 'a\0b'\n", "mine.py"),
    ],
)
def test_a_file_that_fails_is_said_in_one_line(text, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "beside.py").write_text("f(")
    with pytest.raises(InvalidArgumentError) as refused:
        load_study("mine.py")
    assert str(refused.value).startswith(says)
    assert len(str(refused.value).splitlines()) == 1
    assert refused.value.__cause__ is not None
    assert "efex_study_mine" not in sys.modules


def test_a_study_is_found_in_a_file(tmp_path):
    text = "from efex.study import Case, Study\nstudy = Study('mine', 'Mine', (Case('grid2d', 'efex', 9, 0),), print)\n"
    (tmp_path / "mine.py").write_text(text)
    assert load_study(str(tmp_path / "mine.py")) == Study("mine", "Mine", (Case("grid2d", "efex", 9, 0),), print)
