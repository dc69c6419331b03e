"""The loop: connect an agent to an environment, record what happens, return the map."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium

from efex.adapters import AgentView
from efex.agents import Agent, ClonePolicy, make_agent
from efex.checks import whole
from efex.interruption import interrupts_between_steps
from efex.model.allocation import Growing
from efex.progress import progress_display
from efex.randomness import stream
from efex.record import Record
from efex.run import Run
from efex.storage import make_folder


def explore(
    env: gymnasium.Env[Any, Any],
    *,
    steps: int,
    seed: int = 0,
    agent: str | Agent = "efex",
    clones: ClonePolicy = "auto",
    observe: Callable[[Any], Any] | None = None,
    episode_steps: int | None = None,
    progress: bool = True,
    folder: str | Path | None = None,
) -> Run:
    """Return what `agent` found out about `env` in `steps` steps.

    `env` is any Gymnasium environment with Discrete actions; they are counted from 0, and `info["action_mask"]` is
    heeded. Its episodes end as it says, or after `episode_steps`. Observations may be numbers, strings, arrays, or
    lists, tuples and mappings of these; `observe` turns anything else, or anything finer than you care for, into one
    of them.

    `agent` is "efex", "efex-paper" (which needs `clones`), "random", one of the baselines "max", "bonus-dqn" and
    "bootstrapped-dqn", or an agent of `efex.agents`. `clones` is how many states an observation may have: "auto", a
    number, or a mapping from symbols to numbers.

    The same `seed` gives the same run. With a `folder` the run is saved there, in place of any other, also when it is
    interrupted. The run holds the map as `run.graph`, and `run.decode` finds a walk on it.
    """
    steps = whole("steps", steps, at_least=1)
    view = AgentView(env, observe=observe, episode_steps=episode_steps)
    explorer = make_agent(agent, clones=clones)
    explorer.prepare(view.n_actions, rng=stream(seed, "agent"), symbols=view.symbols)
    record = Record(
        view, explorer, env, {"agent": agent if isinstance(agent, str) else type(agent).__name__, "seed": int(seed)}
    )
    if folder is not None:
        make_folder(folder)
    try:
        with progress_display(record.truth, steps, enabled=progress) as display, interrupts_between_steps() as check:
            for action, node in walk(view, explorer, steps=steps, seed=int(seed)):
                record.true_nodes.append(node)
                display.step(explorer, action, record.true_nodes)
                check()
        run = record.run()
    except BaseException as error:
        # Ctrl-C, or an environment that fails: what was found so far is kept.
        if folder is not None and explorer.experience.n_steps:
            record.rescue(folder, error)
        raise
    if folder is not None:
        run.save(folder)
    if getattr(explorer, "clones", None) != Growing():
        run.warn_of_missing_clones()
    return run


def walk(view: AgentView, agent: Agent, *, steps: int, seed: int) -> Iterator[tuple[int | None, int]]:
    """Let `agent` take `steps` steps, episode after episode; yield every action (None for a reset) and true node.

    The environment is seeded once, at its first reset.
    """
    taken = 0
    while taken < steps:
        moment = view.reset(seed=seed if taken == 0 else None)
        yield None, moment.info.get("node", -1)
        action = agent.begin(moment.symbol, moment.mask)
        while True:
            moment = view.step(action)
            taken += 1
            yield action, moment.info.get("node", -1)
            if moment.terminated or moment.truncated or taken == steps:
                break
            action = agent.act(moment.symbol, moment.mask)
        agent.end(moment.symbol, terminated=moment.terminated)
