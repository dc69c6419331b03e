"""Every kernel equals the sum over all paths, and a planted error of 1 % does not get through."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

from efex.experience import Alphabet, Experience
from efex.kernels import cpu, reference
from efex.model.cscg import Model
from efex.model.expectation import bind, expected_counts, pass_messages
from efex.model.layout import CloneLayout
from enumeration import EXACT, SINGLE, Inference, dense, enumerate_paths, episodes, path_log_probability, small_cases


def by_cpu(model, experience) -> Inference:
    steps = bind(model, experience)
    messages = pass_messages(steps, model.weights)
    counts, starts = expected_counts(steps, model.weights, messages)
    decoding = model.decode(experience)
    np.testing.assert_allclose(
        path_log_probability(model, experience, decoding.path), decoding.log_probability, **SINGLE
    )
    return Inference(
        messages.log_likelihood,
        model.filter(experience),
        model.smooth(experience),
        unpack(model, counts),
        starts,
        decoding.log_probability,
    )


def unpack(model, counts) -> np.ndarray:
    b, layout = model.blocks, model.layout
    out = np.zeros((model.n_actions, layout.n_states, layout.n_states))
    for k in range(len(b)):
        source, target = layout.block(b.source[k]), layout.block(b.target[k])
        shape = (layout.sizes[b.source[k]], layout.sizes[b.target[k]])
        out[b.action[k], source, target] = counts[b.start[k] : b.start[k + 1]].reshape(shape)
    return out


def by_reference(model, experience) -> Inference:
    transitions, initial = dense(model), model.weights.initial
    clones = [model.layout.block(x) for x in range(model.layout.n_observations)]
    total, best, counts, starts, filtered, smoothed = 0.0, 0.0, 0.0, 0.0, [], []
    for x, a in episodes(experience):
        f = reference.forward(x, a, transitions, initial, clones)
        b = reference.backward(x, a, transitions, clones)
        total += np.log(reference.likelihood(x, a, transitions, initial, clones))
        best += np.log(reference.viterbi(x, a, transitions, initial, clones)[1])
        more, first = reference.expected_counts(x, a, transitions, initial, clones)
        counts, starts = counts + more, starts + first
        for t, seen in enumerate(x):
            filtered.append(f[t, clones[seen]] / f[t].sum())
            smoothed.append((f * b)[t, clones[seen]] / (f * b)[t].sum())
    return Inference(total, filtered, smoothed, counts, starts, best)


def check(infer, model, experience, tolerance) -> None:
    got, want = infer(model, experience), enumerate_paths(model, experience)
    np.testing.assert_allclose(got.log_likelihood, want.log_likelihood, **tolerance)
    np.testing.assert_allclose(got.best_path_log_probability, want.best_path_log_probability, **tolerance)
    np.testing.assert_allclose(np.concatenate(got.filtered), np.concatenate(want.filtered), **tolerance)
    np.testing.assert_allclose(np.concatenate(got.smoothed), np.concatenate(want.smoothed), **tolerance)
    np.testing.assert_allclose(got.counts, want.counts, **tolerance)
    np.testing.assert_allclose(got.starts, want.starts, **tolerance)


@pytest.mark.parametrize("infer", [by_cpu, by_reference])
@given(case=small_cases())
def test_inference_is_the_sum_over_all_paths(infer, case):
    check(infer, *case, EXACT)


@given(case=small_cases(dtype=np.float32))
def test_single_precision_stays_close(case):
    check(by_cpu, *case, SINGLE)


def scaled(array, at):
    out = array.copy()
    out[at] *= 1.01
    return out


def in_first_message(walks, weights, at, out):
    return scaled(out[0], 0), *out[1:]


def in_first_likelihood(walks, weights, at, out):
    return out[0], out[1] + np.log(1.01) * (np.arange(len(out[1])) == 0), out[2]


def in_last_message(walks, weights, at, out):
    # The last message of an episode that has a step, so that some count depends on it.
    long = np.flatnonzero(np.diff(walks.offsets) > 1)[0]
    return out[0], scaled(out[1], at[walks.offsets[long + 1] - 1]), *out[2:]


def in_norms(walks, weights, at, out):
    return *out[:2], out[2] * 1.01, *out[3:]


def in_smoothed_likelihood(walks, weights, at, out):
    return *out[:3], *in_first_likelihood(walks, weights, at, (None, *out[3:]))[1:]


def in_counts(walks, weights, at, out):
    out *= 1.01
    return out


def in_score(walks, weights, at, out):
    return out[0], out[1] + np.log(1.01), out[2]


PLANTED = [
    ("filter_walks", in_first_message),
    ("smooth_walks", in_first_message),
    ("smooth_walks", in_smoothed_likelihood),
    ("smooth_walks", in_last_message),
    ("smooth_walks", in_norms),
    ("accumulate", in_counts),
    ("start_counts", in_counts),
    ("decode_walks", in_score),
]


@pytest.mark.parametrize(("name", "plant"), PLANTED)
@given(case=small_cases())
@settings(max_examples=20)
def test_a_planted_error_of_one_percent_is_caught(name, plant, case):
    model, experience = case
    assume(experience.n_steps > 0)
    good = getattr(cpu, name)

    def planted(walks, weights, at, *rest):
        return plant(walks, weights, at, good(walks, weights, at, *rest))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, name, planted)
        with pytest.raises(AssertionError):
            check(by_cpu, model, experience, EXACT)
    check(by_cpu, model, experience, EXACT)


@given(case=small_cases())
@settings(max_examples=30)
def test_a_wrong_state_on_the_path_is_caught(case):
    model, experience = case
    path = model.decode(experience).path
    wide = np.flatnonzero(np.asarray(model.layout.sizes)[experience.observations] > 1)
    assume(len(wide) > 0)
    block = model.layout.block(experience.observations[wide[0]])
    wrong = path.copy()
    wrong[wide[0]] = block.start if path[wide[0]] != block.start else block.start + 1
    assert path_log_probability(model, experience, wrong) < path_log_probability(model, experience, path)


@given(case=small_cases())
@settings(max_examples=20)
def test_a_planted_error_in_one_transition_is_caught(case):
    model, experience = case
    assume(experience.n_steps > 0)
    truth = enumerate_paths(model, experience)
    used = np.flatnonzero(bind(model, experience).walks.block >= 0)[0]
    block = bind(model, experience).walks.block[used]
    values = model.weights.values.copy()
    values[model.blocks.start[block] : model.blocks.start[block + 1]] *= 1.01
    messages = pass_messages(bind(model, experience), model.weights._replace(values=values))
    assert not np.isclose(messages.log_likelihood, truth.log_likelihood, **EXACT)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, EXACT), (np.float32, SINGLE)])
def test_wide_and_ragged_blocks_equal_the_reference(dtype, tolerance):
    rng = np.random.default_rng(0)
    sizes = (1, 7, 8, 9, 15, 16, 17, 25, 49)
    walks = [(rng.integers(0, len(sizes), 80).tolist(), rng.integers(0, 2, 79)) for _ in range(5)]
    seen = Experience.from_episodes(walks, n_actions=2, alphabet=Alphabet(range(len(sizes))))
    model = Model.random(seen, CloneLayout(sizes), pseudocount=1e-2, rng=rng, dtype=dtype)
    unseen = Experience.from_episodes([(walks[0][0][::-1], walks[0][1])], n_actions=2, alphabet=seen.alphabet)
    for experience in (seen, unseen):
        got, want = by_cpu(model, experience), by_reference(model, experience)
        for mine, theirs in zip(got, want):
            mine, theirs = (np.concatenate(v) if isinstance(v, list) else v for v in (mine, theirs))
            if np.ndim(mine) == 3:
                theirs = np.where(unpack(model, np.ones(model.blocks.n_entries)) > 0, theirs, 0)
            np.testing.assert_allclose(mine, theirs, **tolerance)
