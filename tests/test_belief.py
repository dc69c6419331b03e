from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from efex.belief import Belief
from efex.errors import InvalidArgumentError
from efex.kernels import planning as kernel
from efex.utility import information_gain

steps = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 3)), max_size=30)


def believe(walked, prior=0.01):
    columns = np.array(walked, np.int64).reshape(-1, 3).T
    return Belief.empty(4, 2, prior=prior).updated(*columns)


def dense(walked, prior=0.01):
    counts = np.full((4, 2, 4), prior)
    for z, a, z_next in walked:
        counts[z, a, z_next] += 1
    return counts


@given(steps)
def test_sparse_rows_equal_dense_ones(walked):
    belief, concentration = believe(walked), dense(walked)
    np.testing.assert_allclose(belief.information_gain, information_gain(concentration).ravel(), atol=1e-12)
    mean = concentration / concentration.sum(axis=2, keepdims=True)
    np.testing.assert_allclose([[belief.mean(z, a) for a in range(2)] for z in range(4)], mean)


def test_a_planted_error_of_one_percent_is_caught(monkeypatch):
    walked = [(0, 1, 2), (0, 1, 2), (3, 0, 0)]
    good = kernel.row_information
    monkeypatch.setattr(kernel, "row_information", lambda *arguments: good(*arguments) * 1.01)
    with pytest.raises(AssertionError):
        test_sparse_rows_equal_dense_ones.hypothesis.inner_test(walked)
    monkeypatch.undo()
    test_sparse_rows_equal_dense_ones.hypothesis.inner_test(walked)


@given(steps, steps)
def test_steps_that_leave_undo_steps_that_entered(kept, gone):
    both = np.array(kept + gone, np.int64).reshape(-1, 3).T
    change = np.repeat([1, -1], [len(kept), len(gone)])
    after = believe(gone).updated(*both, change)
    want = believe(kept)
    assert after.start.tolist() == want.start.tolist()
    assert after.target.tolist() == want.target.tolist()
    assert after.count.tolist() == want.count.tolist()


def test_a_closed_row_holds_nothing_to_learn():
    closed = np.zeros(8, bool)
    closed[3] = True
    gain = believe([]).closing(closed).information_gain
    assert gain[3] == 0
    assert (gain[~closed] > 0).all()


@given(steps, steps)
def test_being_thrown_counts_but_teaches_nothing(led, thrown):
    """Rows are worth what they are worth if nobody had been thrown, but lead on average where one gets."""
    thrown = [(z, a, 3) for z, a, _ in thrown]
    led = [step for step in led if step not in thrown]
    both, alone = (replace(believe(walked), by_chance=0.5) for walked in (led + thrown, led))
    off = np.array([(*divmod(int(row), 2), 3) in thrown for row in both.rows], bool) & (both.target == 3)
    marked = replace(both, thrown=off)
    np.testing.assert_allclose(marked.information_gain, alone.information_gain)
    assert marked.totals.tolist() == both.totals.tolist()
    assert marked.mean(0, 0).tolist() == both.mean(0, 0).tolist()
    assert marked.updated(*np.array([[0], [0], [1]])).thrown is None


@pytest.mark.parametrize("prior", [0.0, -1.0, float("nan"), float("inf")])
def test_a_prior_must_be_positive(prior):
    with pytest.raises(InvalidArgumentError, match="prior"):
        Belief.empty(2, 1, prior=prior)
