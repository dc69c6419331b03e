import numba
import numpy as np
import pytest

from efex.experience import Alphabet, Experience
from efex.model.cscg import Model
from efex.model.em import em
from efex.model.layout import CloneLayout


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one core has one thread")
def test_results_are_bitwise_equal_for_one_and_two_threads():
    rng = np.random.default_rng(0)
    walks = [(rng.integers(0, 6, 60).tolist(), rng.integers(0, 3, 59)) for _ in range(40)]
    experience = Experience.from_episodes(walks, n_actions=3, alphabet=Alphabet(range(6)))
    model = Model.random(experience, CloneLayout((3, 7, 1, 5, 9, 2)), pseudocount=2e-3, rng=rng)
    results, available = [], numba.get_num_threads()
    for threads in (1, 2):
        numba.set_num_threads(threads)
        results.append([])
        for prune in (0, 1e-2):
            trained = em(model, experience, iterations=40, tolerance=0, prune=prune)
            path = trained.model.decode(experience).path
            results[-1] += [
                trained.model.counts.tobytes(),
                trained.model.starts.tobytes(),
                trained.objective,
                path.tobytes(),
            ]
    numba.set_num_threads(available)
    assert results[0] == results[1]
