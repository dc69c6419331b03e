"""What an environment says of its nodes is no business of the run: nonsense there neither stops nor spoils it."""

import gymnasium
import numpy as np
import pytest

import efex


class Babbling(gymnasium.Wrapper):
    """Says something else than its node from some step on, and fails in another."""

    def __init__(self, env, node, *, since=0, breaks=None):
        super().__init__(env)
        self.node, self.since, self.breaks, self.taken = node, since, breaks, 0

    def reset(self, **options):
        observation, info = self.env.reset(**options)
        return observation, self.info(info)

    def step(self, action):
        self.taken += 1
        if self.taken == self.breaks:
            raise RuntimeError("the simulator crashed")
        *rest, info = self.env.step(action)
        return (*rest, self.info(info))

    def info(self, info):
        return info if self.taken < self.since else {"node": self.node}


def grid():
    return efex.make("grid2d", size=3, unique_fraction=0.5, seed=0, episode_steps=20)


NONSENSE = {
    "beyond the truth": 9,
    "beyond int64": 2**63,
    "beyond writing": [10**5_000][0],
    "negative": -(2**70),
    "a fraction": 1.5,
    "NaN": float("nan"),
    "text": "kitchen",
    "a truth": True,
    "nothing": None,
    "a list": [1],
    "an array": np.arange(3),
}


@pytest.mark.parametrize("since", [0, 30])
@pytest.mark.parametrize("node", NONSENSE)
def test_nonsense_for_a_node_is_saved_loaded_and_goes_on(tmp_path, node, since):
    options = {"seed": 1, "agent": "random", "clones": 4, "folder": tmp_path}
    broken = Babbling(grid(), NONSENSE[node], since=since, breaks=50)
    with pytest.raises(RuntimeError, match="crashed") as failed:
        efex.explore(broken, steps=60, progress=True, **options)
    assert not [note for note in getattr(failed.value, "__notes__", []) if "could" in note]
    kept = efex.load(tmp_path)
    assert (kept.experience.n_steps, kept.true_nodes) == (49, None)
    again = efex.explore(Babbling(grid(), NONSENSE[node], since=since), steps=60, progress=True, resume=True, **options)
    assert again.true_nodes is None
    whole = efex.explore(grid(), steps=60, progress=False, **options | {"folder": None})
    np.testing.assert_array_equal(again.experience.observations, whole.experience.observations)
    assert efex.load(tmp_path).graph.equivalent_to(whole.graph)


def test_any_number_may_be_a_node_where_the_truth_is_not_known():
    class Plain(gymnasium.Env):
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return 0, {"node": np.int64(2**62)}

        def step(self, action):
            return action, 0.0, False, False, {"node": action}

    nodes = efex.explore(Plain(), steps=30, progress=False).true_nodes
    assert nodes[0] == 2**62
    assert set(nodes[1:].tolist()) == {0, 1}
