"""Training over the clones that matter: what it leaves out, what that costs, and that it is used at all."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

import efex
from efex.experience import Alphabet, Experience
from efex.kernels import pruned
from efex.model import em as em_module
from efex.model.cscg import Model
from efex.model.em import MEANS, em, log_prior
from efex.model.expectation import bind, expected_counts, pass_messages
from efex.model.layout import CloneLayout
from efex.model.variational import GEOMETRIC_MEANS, geometric_weights, prior_divergence, variational_bayes
from enumeration import EXACT, small_cases


def walked(episodes: int = 30, *, dtype=np.float64, seed: int = 0) -> tuple[Model, Experience]:
    world = efex.make("grid2d", size=6, unique_fraction=0.2, seed=seed)
    observations, actions, _ = world.walks(episodes, 60, seed=seed)
    ended = np.concatenate([actions, np.full((episodes, 1), -1)], axis=1)
    symbols = Alphabet(range(len(world.truth.symbols)))
    experience = Experience.from_flat(observations.ravel(), ended.ravel(), n_actions=4, alphabet=symbols)
    layout = CloneLayout.uniform(len(symbols), 10)
    rng = np.random.default_rng(seed)
    return Model.random(experience, layout, pseudocount=2e-4, rng=rng, dtype=dtype), experience


@given(case=small_cases())
def test_with_nothing_left_out_the_counts_are_those_of_the_full_pass(case):
    model, experience = case
    assume(experience.n_steps > 0)
    steps, weights = bind(model, experience), model.weights
    messages = pass_messages(steps, weights)
    full = expected_counts(steps, weights, messages)
    kept = pruned.choose(steps.walks, weights.first, steps.at, messages.forward, messages.backward, 0.0)
    trellis = pruned.connect(steps.walks, weights, model.layout.n_states, *kept)
    counts, starts, log_likelihood = pruned.expect(trellis, weights.values[trellis.entry], weights.initial)
    spread = np.zeros_like(full.transitions)
    spread[trellis.entry] = counts
    np.testing.assert_allclose(spread, full.transitions, **EXACT)
    np.testing.assert_allclose(starts, full.starts, **EXACT)
    np.testing.assert_allclose(log_likelihood, messages.log_likelihood, **EXACT)
    for rule in (MEANS, GEOMETRIC_MEANS):
        few = rule.weigh_few(model, trellis, counts, starts)
        weights, cost = rule.weigh(model, full, None)
        np.testing.assert_allclose(few.transitions, weights.values[trellis.entry], **EXACT)
        np.testing.assert_allclose(few.starts, weights.initial, **EXACT)
        np.testing.assert_allclose(few.cost, cost, **EXACT)


@pytest.mark.parametrize("share", [1e-5, 1e-3, 0.1])
def test_what_is_left_out_holds_at_most_its_share(share):
    model, experience = walked()
    model = em(model, experience, iterations=15, prune=0).model
    steps, weights = bind(model, experience), model.weights
    messages = pass_messages(steps, weights)
    at, state = pruned.choose(steps.walks, weights.first, steps.at, messages.forward, messages.backward, share)
    lost = []
    for t, posterior in enumerate(model.smooth(experience)):
        first = model.layout.first[experience.observations[t]]
        lost.append(1 - posterior[state[at[t] : at[t + 1]] - first].sum())
    assert max(lost) <= share * (1 + 1e-9)
    assert len(state) < 0.9 * len(messages.forward)


@pytest.mark.parametrize("prune", [1e-5, 1e-3])
def test_the_penalised_likelihood_falls_by_no_more_than_the_bound(prune):
    model, experience = walked()
    before, restricted = -np.inf, 0
    for _ in range(30):
        now = model.log_likelihood(experience) + log_prior(model)
        assert now >= before - prune * experience.n_steps
        before = now
        trained = em(model, experience, iterations=5, prune=prune, tolerance=0)
        restricted += trained.objective[0] != pytest.approx(model.log_likelihood(experience), abs=1e-9)
        model = trained.model
    assert restricted > 5


def test_the_variational_bound_falls_by_no_more_than_the_bound():
    model, experience = walked()
    model, prune = em(model, experience, iterations=20).model, 1e-4

    def bound(model: Model) -> float:
        messages = pass_messages(bind(model, experience), geometric_weights(model))
        return messages.log_likelihood - prior_divergence(model)

    before, restricted = -np.inf, 0
    for _ in range(20):
        now = bound(model)
        assert now >= before - prune * experience.n_steps
        before = now
        trained = variational_bayes(model, experience, iterations=5, prune=prune, tolerance=0)
        restricted += trained.objective[0] != pytest.approx(now, abs=1e-9)
        model = trained.model
    assert restricted > 3
    exact = variational_bayes(walked()[0], experience, iterations=100, prune=0).model
    close = variational_bayes(walked()[0], experience, iterations=100).model
    assert bound(close) == pytest.approx(bound(exact), abs=prune * experience.n_steps)


def test_learning_ends_where_it_ends_without_pruning(monkeypatch):
    model, experience = walked(dtype=np.float32)
    exact = em(model, experience, iterations=200, prune=0).model
    lengths = []
    original = em_module.restricted_training

    def counted(*args, **options):
        cycle = original(*args, **options)
        lengths.append(0 if cycle is None else len(cycle[1]))
        return cycle

    monkeypatch.setattr(em_module, "restricted_training", counted)
    close = em(model, experience, iterations=200)
    assert sum(lengths) > len(close.objective) / 4
    gap = close.model.log_likelihood(experience) - exact.log_likelihood(experience)
    assert abs(gap) < 1e-3 * experience.n_steps


def test_a_costly_selection_is_refused(monkeypatch):
    model, experience = walked()
    model = em(model, experience, iterations=60, prune=0).model
    exact = em(model, experience, iterations=3, prune=0)
    original = pruned.choose

    def too_few(*args):
        at, state = original(*args)
        # One clone per position, the first that was kept: no longer what the posterior says.
        return np.arange(len(at)), state[at[:-1]] * 0 + model.layout.first[args[0].observations].astype(np.int32)

    monkeypatch.setattr(pruned, "choose", too_few)
    refused = em(model, experience, iterations=3)
    np.testing.assert_array_equal(refused.model.counts, exact.model.counts)


def test_without_a_pseudocount_and_off_the_blocks_nothing_is_pruned():
    model, experience = walked()
    certain = replace(em(model, experience, iterations=30, prune=0).model, pseudocount=0.0)
    exact, close = (em(certain, experience, iterations=20, prune=prune).model for prune in (0, 1e-3))
    np.testing.assert_array_equal(exact.counts, close.counts)
    walk = ([0, 0, 0, 0, 1], [0] * 4)
    narrow = Model.random(
        Experience.from_episodes([walk], alphabet=Alphabet(range(2))),
        CloneLayout((1, 1)),
        pseudocount=1e-2,
        rng=np.random.default_rng(0),
    )
    elsewhere = Experience.from_episodes([([0, 1, 1, 0, 1, 0, 1] * 50, [0] * 349)], alphabet=Alphabet(range(2)))
    trained = [em(narrow, elsewhere, iterations=3, prune=prune).model.counts for prune in (0, 1e-5)]
    np.testing.assert_array_equal(*trained)
