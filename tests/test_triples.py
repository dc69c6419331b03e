import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from efex.experience import Experience
from efex.model.blocks import Blocks
from efex.model.layout import CloneLayout

WALKS = st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=8), min_size=1)


def experience_of(walks: list[list[tuple[int, int]]]) -> Experience:
    return Experience.from_episodes(
        [([seen for seen, _ in walk], [action for _, action in walk[:-1]]) for walk in walks], n_actions=3
    )


@given(walks=WALKS)
def test_every_step_is_its_triple(walks: list[list[tuple[int, int]]]) -> None:
    experience = experience_of(walks)
    triples, taken = experience.triples, np.flatnonzero(experience.actions >= 0)
    step = triples.step[taken]
    assert (triples.action[step] == experience.actions[taken]).all()
    assert (triples.source[step] == experience.observations[taken]).all()
    assert (triples.target[step] == experience.observations[taken + 1]).all()
    assert (np.delete(triples.step, taken) == -1).all()
    distinct = list(zip(triples.action.tolist(), triples.source.tolist(), triples.target.tolist()))
    assert distinct == sorted(set(distinct))
    for number in range(len(distinct)):
        steps = triples.order[triples.bounds[number] : triples.bounds[number + 1]]
        assert steps.tolist() == np.flatnonzero(triples.step == number).tolist()


@given(walks=WALKS)
def test_blocks_of_an_experience_are_bound_as_those_found_one_by_one(walks: list[list[tuple[int, int]]]) -> None:
    experience = experience_of(walks)
    layout = CloneLayout((2,) * len(experience.alphabet))
    known = Blocks.of_experience(experience, layout)
    found = Blocks.of_triples(known.action, known.source, known.target, layout=layout)
    assert known.are_of(experience)
    assert not found.are_of(experience)
    assert known.bind(experience).block.tolist() == found.bind(experience).block.tolist()


@pytest.mark.parametrize("grows", [lambda e: e.append(0, "b"), lambda e: e.begin("c")])
def test_triples_follow_an_experience_that_grows(grows) -> None:
    experience = Experience.from_episodes([("ab", [1])], n_actions=2)
    before = experience.triples
    assert experience.triples is before
    grows(experience)
    assert len(experience.triples.step) == 3
    assert experience.triples is not before
