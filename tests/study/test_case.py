import json

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
    steps=st.integers(1, 10_000),
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
    [("nope", None, "chain"), ("nope.py", None, "no file"), ("mine.py", "study = 3", "Study"), ("m.py", "", "Study")],
)
def test_a_study_that_is_none_is_refused(name, text, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(EfexError, match=says):
        load_study(name)


def test_a_study_is_found_in_a_file(tmp_path):
    text = "from efex.study import Case, Study\nstudy = Study('mine', 'Mine', (Case('grid2d', 'efex', 9, 0),), print)\n"
    (tmp_path / "mine.py").write_text(text)
    assert load_study(str(tmp_path / "mine.py")) == Study("mine", "Mine", (Case("grid2d", "efex", 9, 0),), print)
