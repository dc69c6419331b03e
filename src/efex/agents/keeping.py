"""Keeping an agent: what it needs to go on as if nothing had happened, and how it takes that up again."""

from __future__ import annotations

from typing import Any

import numpy as np

from efex.agents.arrivals import Arrivals
from efex.agents.base import Agent, Mask
from efex.agents.efex import Efex
from efex.agents.ledger import Ledger
from efex.agents.paper import EfexPaper
from efex.agents.random import RandomAgent
from efex.arrays import State
from efex.errors import EfexError, StorageError
from efex.experience import Experience
from efex.parts import keep_belief, keep_experience, read_belief, read_experience
from efex.planning import Plan

MOST_SPAWNED = 1_000_000
"""More generators than this no file is believed to have made."""


def keep(agent: Agent) -> State:
    """Return an agent between two of its calls as arrays, which hold only until the next call."""
    about = {
        "generator": agent.rng.bit_generator.state,
        "spawned": _seeds(agent).n_children_spawned,
        "pending": agent.pending,
    }
    masks = np.array(list(agent.masks.values()), bool).reshape(-1, agent.experience.n_actions)
    common = State({"masked": np.array(list(agent.masks), np.int64), "masks": masks}, about)
    parts = {"experience": keep_experience(agent.experience), "common": common}
    if isinstance(agent, Efex) and _is_known(agent):
        parts["efex"] = _keep_efex(agent)
    return State.joined(**parts)


def put_back(agent: Agent, state: State, *, left: frozenset[int] = frozenset()) -> None:
    """Make a prepared agent what it was when it was kept.

    An agent of which efex does not know what it holds goes through its whole experience again: it is told what it was
    told then, and must choose as it did. `left` are the positions at which an episode was left.
    """
    common, experience = state.part("common"), read_experience(state.part("experience"))
    n_actions = agent.experience.n_actions
    if experience.n_actions != n_actions:
        raise StorageError(f"the experience must be of {n_actions} actions, not {experience.n_actions}")
    positions = common.array("masked", np.int64, least=0, below=len(experience))
    masks = common.array("masks", np.bool_, (len(positions), n_actions))
    pending = None if common.about.get("pending") is None else common.whole("pending", most=n_actions - 1)
    told = dict(zip(positions.tolist(), masks))
    if not _is_known(agent):
        _walk_again(agent, experience, told, pending, left)
        return
    agent.experience, agent.masks, agent.pending = experience, told, pending
    if isinstance(agent, Efex):
        _put_back_efex(agent, state.part("efex"))
    # Last: putting an agent together draws from its generator.
    _seeds(agent).spawn(common.whole("spawned", most=MOST_SPAWNED))
    try:
        agent.rng.bit_generator.state = common.about["generator"]
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise StorageError(f"generator must be the state of a PCG64: {error!r}") from error


def _is_known(agent: Agent) -> bool:
    """Return whether all that the agent holds is known; a class derived from these may hold more."""
    return type(agent) in (RandomAgent, Efex, EfexPaper)


def _seeds(agent: Agent) -> Any:
    return agent.rng.bit_generator.seed_seq


def _keep_efex(agent: Efex) -> State:
    assert agent._learner is not None
    parts = {
        "learner": agent._learner.keep(),
        "ledger": agent._ledger.keep(),
        "arrivals": agent._arrivals.keep(),
        "urge": agent._urge.keep(),
        "cadence": agent.cadence.keep(),
        "values": State({"values": agent.values}, {"since_plan": agent._since_plan}),
    }
    if agent._since_plan % agent.replan:
        plan = agent._plan
        parts["planned"] = keep_belief(plan.belief)
        parts["values"].about.update(gain=plan.gain, rounds=plan.rounds)
    return State.joined(**parts)


def _put_back_efex(agent: Efex, state: State) -> None:
    experience = agent.experience
    learner = agent._learner = agent._new_learner()
    learner.put_back(state.part("learner"))
    n_states = learner.layout.n_states
    agent._ledger = Ledger.kept(state.part("ledger"), learner.model, experience, agent.masks)
    agent._arrivals = Arrivals(agent._ledger.path[:1], experience.first(1))
    agent._arrivals.put_back(state.part("arrivals"))
    agent._urge.put_back(state.part("urge"))
    agent.cadence.put_back(state.part("cadence"))
    values = state.part("values")
    agent.values = values.array("values", np.float64, (n_states,))
    agent._since_plan = values.whole("since_plan")
    if agent._since_plan % agent.replan:
        # What is foreseen counts as one walk of every row.
        most = len(experience) + n_states * experience.n_actions
        belief = read_belief(state.part("planned"), most=most)
        if (belief.n_states, belief.n_actions) != (n_states, experience.n_actions):
            raise StorageError("what was planned for must be the model's states")
        gain, rounds = values.number("gain"), values.whole("rounds")
        agent._plan = Plan(belief, agent.discount, agent.values, gain, rounds)


def _walk_again(
    agent: Agent, experience: Experience, masks: dict[int, Mask], pending: int | None, left: frozenset[int]
) -> None:
    """Tell the agent all it was told before, and make sure that it does what it did."""
    symbols, actions = experience.symbols, experience.actions.tolist()
    terminated, last = set(experience.terminated.tolist()), len(symbols) - 1
    begins = True
    for position, (symbol, action) in enumerate(zip(symbols, actions)):
        ends = action < 0 and (position < last or pending is None)
        if ends and position not in left:
            agent.end(symbol, terminated=position in terminated)
        else:
            chosen = (agent.begin if begins else agent.act)(symbol, masks.get(position))
            if ends:
                agent.leave()
            elif chosen != (pending if action < 0 else action):
                raise EfexError(
                    f"{type(agent).__name__} took action {action} at position {position} of the run it is to go on "
                    f"with, and now takes {chosen}: it is not the same agent, or draws at random from elsewhere than "
                    "self.rng; start anew with resume=False"
                )
        begins = ends
