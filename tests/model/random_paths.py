"""Short random experiences with paths that show what was observed."""

import numpy as np
from hypothesis import strategies as st

from efex.experience import Experience


@st.composite
def random_paths(draw, *, n_actions):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    clones, episodes = draw(st.integers(1, 4)), []
    for _ in range(draw(st.integers(1, 4))):
        length = int(rng.integers(1, 30))
        episodes.append((rng.integers(0, 3, length + 1).tolist(), rng.integers(0, n_actions, length)))
    experience = Experience.from_episodes(episodes, n_actions=n_actions)
    return experience.observations * np.int64(clones) + rng.integers(0, clones, len(experience)), experience
