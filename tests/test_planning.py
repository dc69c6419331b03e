import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from efex.belief import Belief
from efex.errors import InvalidArgumentError
from efex.kernels import planning as kernel
from efex.planning import policy_iteration, value_iteration


@st.composite
def beliefs(draw):
    n_states, n_actions = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    steps = draw(st.integers(0, 60))
    prior = draw(st.sampled_from([1e-3, 0.05, 1.0]))
    belief = Belief.empty(n_states, n_actions, prior=prior).updated(
        rng.integers(0, n_states, steps), rng.integers(0, n_actions, steps), rng.integers(0, n_states, steps)
    )
    if draw(st.booleans()):
        belief = belief.closing(rng.random(n_states * n_actions) < 0.2)
    return belief, rng


def bellman(belief, values, discount):
    """The right-hand side of Algorithm 1's update, dense, for every pair."""
    n, m = belief.n_states, belief.n_actions
    mean = np.array([[belief.mean(z, a) for a in range(m)] for z in range(n)])
    q = (1 - discount) * belief.information_gain.reshape(n, m) + discount * mean @ values
    q = np.where(belief.closed.reshape(n, m), -np.inf, q)
    shut = np.isneginf(q).all(axis=1)
    # An end leads on as its first row says, and nothing is learned on the way.
    q[shut, 0] = discount * mean[shut, 0] @ values
    return q


@given(beliefs(), st.sampled_from([0.0, 0.5, 0.99, 0.9999]))
def test_policy_iteration_solves_the_bellman_equation_of_the_paper(case, discount):
    belief, rng = case
    plan = policy_iteration(belief, discount=discount, relative=rng.random(belief.n_states))
    q = bellman(belief, plan.values, discount)
    np.testing.assert_allclose(q.max(axis=1), plan.values, rtol=1e-9, atol=1e-12)


@given(st.integers(0, 2**16), st.sampled_from([20, 400]))
@settings(max_examples=10)
def test_where_chance_rules_few_states_are_solved_at_once_and_many_swept(seed, n_states):
    rng = np.random.default_rng(seed)
    steps = [rng.integers(0, n, 50 * n_states) for n in (n_states, 2, n_states)]
    belief = Belief.empty(n_states, 2, prior=0.5 / n_states).updated(*steps)
    plan = policy_iteration(belief, discount=0.9999, relative=rng.random(n_states))
    q = bellman(belief, plan.values, 0.9999)
    np.testing.assert_allclose(q.max(axis=1), plan.values, rtol=1e-8)


def test_a_planted_error_of_one_percent_is_caught(monkeypatch):
    rng = np.random.default_rng(0)
    steps = [rng.integers(0, n, 40) for n in (6, 2, 6)]
    belief = Belief.empty(6, 2, prior=0.05).updated(*steps)
    good = kernel.iterate_policy

    def planted(*arguments):
        gain, rounds, policy = good(*arguments)
        return gain * 1.01, rounds, policy

    solves = test_policy_iteration_solves_the_bellman_equation_of_the_paper.hypothesis.inner_test
    monkeypatch.setattr(kernel, "iterate_policy", planted)
    with pytest.raises(AssertionError):
        solves((belief, rng), 0.99)
    monkeypatch.undo()
    solves((belief, rng), 0.99)


@given(beliefs(), st.sampled_from([0.5, 0.95]))
@settings(max_examples=50)
def test_value_iteration_goes_to_the_same_place(case, discount):
    belief, rng = case
    by_value = value_iteration(belief, discount=discount, values=rng.random(belief.n_states), tolerance=1e-10)
    by_policy = policy_iteration(belief, discount=discount, relative=np.zeros(belief.n_states))
    np.testing.assert_allclose(by_value.relative, by_policy.relative, atol=1e-6)


@given(beliefs())
@settings(max_examples=50)
def test_the_start_changes_nothing_but_the_work(case):
    belief, rng = case
    cold = policy_iteration(belief, discount=0.999, relative=1e3 * rng.standard_normal(belief.n_states))
    warm = policy_iteration(belief, discount=0.999, relative=cold.relative)
    np.testing.assert_allclose(warm.relative, cold.relative, atol=1e-8)
    assert warm.rounds <= 1


@given(beliefs())
@settings(max_examples=50)
def test_best_actions_are_the_greedy_ones(case):
    belief, rng = case
    plan = policy_iteration(belief, discount=0.9, relative=rng.random(belief.n_states))
    q = bellman(belief, plan.values, 0.9)
    for z in range(belief.n_states):
        best = plan.best_actions(z)
        if not belief.closed.reshape(q.shape)[z].all():
            assert q[z, best].min() >= q[z].max() - 1e-8


def test_untried_actions_tie_exactly():
    belief = Belief.empty(5, 3, prior=2e-3).updated(np.array([0]), np.array([1]), np.array([2]))
    plan = policy_iteration(belief, discount=0.9999, relative=np.random.default_rng(0).random(5))
    assert plan.best_actions(0).tolist() == [0, 2]
    assert plan.best_actions(0, mask=np.array([True, True, False])).tolist() == [0]


def test_it_walks_through_what_it_knows_to_what_it_does_not():
    # A corridor 0 - 1 - 2 - 3 whose every pair but (3, 1) was walked a hundred times.
    z, a = np.repeat(np.arange(4), 2), np.tile([0, 1], 4)
    target = np.clip(z + np.where(a == 1, 1, -1), 0, 3)
    known = ~((z == 3) & (a == 1))
    belief = Belief.empty(4, 2, prior=1e-3).updated(*(np.repeat(column[known], 100) for column in (z, a, target)))
    plan = policy_iteration(belief, discount=0.9999, relative=np.zeros(4))
    assert [plan.best_actions(state).tolist() for state in range(4)] == [[1], [1], [1], [1]]


@pytest.mark.parametrize("discount", [1.0, -0.1, 1.5])
def test_a_discount_must_be_below_one(discount):
    with pytest.raises(InvalidArgumentError, match="discount"):
        policy_iteration(Belief.empty(2, 1, prior=0.1), discount=discount, relative=np.zeros(2))


def test_values_must_fit_the_belief():
    with pytest.raises(InvalidArgumentError, match="values"):
        value_iteration(Belief.empty(2, 1, prior=0.1), discount=0.9, values=np.array([np.nan, 0.0]))
