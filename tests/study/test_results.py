import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small import small_case

from efex.errors import InvalidArgumentError
from efex.study import Case
from efex.study.drawing import spread
from efex.study.results import Results, interval


def results(*runs, missing=0):
    """Results of runs, and of some cases that are not done yet."""
    cases = tuple(small_case(seed) for seed in range(len(runs) + missing))
    return Results(list(zip(cases, runs)), cases)


def test_an_interval_covers_the_truth_about_95_times_in_a_hundred():
    runs = np.random.default_rng(0).normal(3.0, 2.0, (40, 2_000))  # 2,000 experiments of 40 runs each
    middle, low, high = interval(runs)
    assert_array_equal(middle, runs.mean(0))
    assert 0.925 < ((low <= 3.0) & (high >= 3.0)).mean() < 0.965


def test_an_interval_is_the_same_every_time_and_its_seed_governs_it():
    runs = np.random.default_rng(1).normal(size=20)
    assert interval(runs) == interval(runs)
    assert interval(runs) != interval(runs, seed=1)


def test_one_run_or_equal_runs_have_an_interval_of_a_point():
    assert interval([0.5]) == (0.5, 0.5, 0.5)
    assert interval([0.5] * 7) == (0.5, 0.5, 0.5)


def test_a_median_may_be_never():
    middle, low, high = interval([10.0, 20.0, np.inf, np.inf, np.inf], statistic=np.median)
    assert (middle, high) == (np.inf, np.inf)
    assert low in (10.0, 20.0)
    assert spread([10.0, np.inf, np.inf], median=True) == "never (10.000 to never)"
    assert spread([np.inf] * 4, median=True) == "never"


def test_spreads_are_words():
    assert spread([]) == "-"
    assert spread([1_234.0, 1_234.0], digits=0) == "1,234 (1,234 to 1,234)"


@pytest.mark.parametrize(
    ("precision", "step"),
    [
        ([0.99, 0.99, 1.0], 10),
        ([0.5, 0.96, 0.97], 20),
        ([0.97, 0.5, 0.95], 30),
        ([0.97, 0.97, 0.5], np.inf),
        ([], np.inf),
    ],
)
def test_a_level_is_reached_where_precision_stays_above(precision, step):
    assert_array_equal(results({"steps": [10, 20, 30][: len(precision)], "precision": precision}).reached(0.95), [step])


def test_where_finds_fields_options_and_settings():
    cases = (
        Case("grid2d", "efex", 60, 0, options=(("slip", 0.1),), settings=(("method", "em"),)),
        Case("grid2d", "efex", 60, 1, options=(("slip", 0.0),)),
        Case("icg", "efex", 60, 0),
    )
    found = Results([(case, {"at": number}) for number, case in enumerate(cases)], cases)

    def which(**wanted):
        return [result["at"] for result in found.where(**wanted)]

    assert which() == [0, 1, 2]
    assert which(world="grid2d") == [0, 1]
    assert which(slip=0.1) == [0]
    assert which(slip=0) == [1]
    assert which(method="em", seed=0) == [0]
    assert which(method=None) == [1, 2]
    assert which(slip=None, world="icg") == [2]
    assert which(world="grid2d", seed=7) == []


def test_where_refuses_names_that_no_case_of_the_study_has():
    cases = (
        Case("chain", "efex", 60, 0, options=(("trap", True),)),
        Case("chain", "random", 60, 0, settings=(("method", "em"),)),
    )
    found = Results([(case, {}) for case in cases], cases)
    with pytest.raises(
        InvalidArgumentError, match=r"where must ask for one of agent, .*, not 'agnt'; did you mean 'ag"
    ):
        found.where(agnt="efex")
    with pytest.raises(
        InvalidArgumentError, match="method, options, seed, settings, steps, trap, world, not 'to_json'"
    ):
        found.where(to_json=1)
    assert len(found.where(trap=True)) == 1
    assert len(found.where(agent="random").where(trap=True)) == 0, "a name of the study, if of none of these cases"
    assert len(found.where(id=cases[0].id)) == 1


def test_the_share_says_what_is_missing():
    assert results(*[{}] * 3, missing=2).share == "3 of 5 runs"
    assert results(*[{}] * 5).share == "5 runs"
    assert results(*[{}] * 3, missing=2).where(seed=4).share == "0 of 1 run"


def test_curves_leave_out_runs_without_marks():
    steps, values = results(
        {"steps": [10, 20], "precision": [0.1, 0.2]},
        {"steps": [], "precision": []},
        {"steps": [10, 20], "precision": [0.3, 0.4]},
    ).curve("precision")
    assert_array_equal(steps, [10, 20])
    assert_array_equal(values, [[0.1, 0.2], [0.3, 0.4]])


MEASURED = {"steps": [10, 20], "precision": [0.1, 0.2], "seconds": 3.0}
WITHOUT_MARKS = {"steps": [], "precision": [], "seconds": 3.0}


@pytest.mark.parametrize(
    ("runs", "ask", "says"),
    [
        (
            [WITHOUT_MARKS],
            lambda found: found.final("precision"),
            "'precision' has no last value where cases have no m",
        ),
        ([MEASURED, WITHOUT_MARKS], lambda found: found.final("precision"), "give all of them marks"),
        ([MEASURED], lambda found: found.final("precison"), "not 'precison'; did you mean 'precision'?"),
        ([MEASURED], lambda found: found.curve("x"), "name must be one of steps, precision, seconds, not 'x'"),
        ([MEASURED], lambda found: found.curve("precision", at="step"), "not 'step'; did you mean 'steps'?"),
        ([MEASURED], lambda found: found.curve("seconds"), "'seconds' needs a value at every one of steps"),
        ([WITHOUT_MARKS], lambda found: found.curve("precision"), "a curve of 'precision' needs a run with steps"),
        ([], lambda found: found.curve("precision"), "a curve of 'precision' needs a run with steps"),
        ([MEASURED, MEASURED | {"steps": [5, 9]}], lambda found: found.curve("precision"), "runs with the same steps"),
        ([{"graphs": []}], lambda found: found.reached(0.95), "name must be one of graphs, not 'steps'"),
    ],
)
def test_what_runs_do_not_hold_is_refused_in_one_line(runs, ask, says):
    with pytest.raises(InvalidArgumentError) as refused:
        ask(results(*runs))
    assert says in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_the_final_number_is_the_last_and_none_is_never():
    found = results({"precision": [0.1, 0.2], "covered": None}, {"precision": [0.5], "covered": 7})
    assert_array_equal(found.final("precision"), [0.2, 0.5])
    assert_array_equal(found.final("covered"), [np.inf, 7])
