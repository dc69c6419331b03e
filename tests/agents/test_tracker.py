import numpy as np
from hypothesis import given

from efex.agents.tracker import Tracker
from enumeration import small_cases


@given(case=small_cases())
def test_step_by_step_it_decodes_every_prefix_as_a_whole(case):
    model, experience = case
    for begin, end in zip(experience.offsets[:-1], experience.offsets[1:]):
        observations, actions = experience.observations[begin:end], experience.actions[begin:end]
        tracker = Tracker(model, observations[:1], actions[:0])
        for t in range(1, len(observations)):
            before = tracker.path.copy()
            changed = tracker.step(int(actions[t - 1]), int(observations[t]))
            whole = Tracker(model, observations[: t + 1], actions[:t])
            assert tracker.path.tolist() == whole.path.tolist()
            assert tracker.path[:changed].tolist() == before[:changed].tolist()
        prefix = experience.first(int(end))
        assert tracker.path.tolist() == model.decode(prefix).path[begin:end].tolist()


def test_a_triple_never_seen_is_taken_at_its_background():
    from efex.experience import Alphabet, Experience
    from efex.model.cscg import Model
    from efex.model.layout import CloneLayout

    seen = Experience.from_episodes([([0, 1, 0], [0, 0])], n_actions=2, alphabet=Alphabet(range(2)))
    model = Model.random(seen, CloneLayout((2, 2)), pseudocount=0.1, rng=np.random.default_rng(0))
    walk = Experience.from_episodes([([0, 0, 1, 1], [1, 0, 1])], n_actions=2, alphabet=seen.alphabet)
    assert Tracker(model, walk.observations, walk.actions[:-1]).path.tolist() == model.decode(walk).path.tolist()
