"""The loop: connect an agent to an environment, record what happens, return the map."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium

from efex.adapters import AgentView
from efex.adapters.environment import Moment
from efex.agents import Agent, ClonePolicy, make_agent
from efex.checkpoint import Checkpoints
from efex.checks import flag, whole
from efex.errors import InvalidArgumentError
from efex.interruption import interrupts_between_steps
from efex.model.allocation import Growing
from efex.progress import progress_display
from efex.randomness import stream
from efex.record import Record
from efex.resuming import Resumption, is_replayed
from efex.run import Run
from efex.stopping import Until, stopping_rule
from efex.storage import make_folder, save


def explore(
    env: gymnasium.Env[Any, Any],
    *,
    steps: int,
    seed: int = 0,
    agent: str | Agent = "efex",
    clones: ClonePolicy = "auto",
    observe: Callable[[Any], Any] | None = None,
    episode_steps: int | None = None,
    until: Until = None,
    progress: bool = True,
    folder: str | Path | None = None,
    resume: bool = False,
    replay: bool | None = None,
) -> Run:
    """Return what `agent` found out about `env` in `steps` steps.

    `env` is any Gymnasium environment with Discrete actions; they are counted from 0, and `info["action_mask"]` is
    heeded. If it has a list `action_names`, actions are called that on the map. Its episodes end as it says, or after
    `episode_steps`. Observations may be numbers, strings, arrays, or lists, tuples and mappings of these; `observe`
    turns anything else, or anything finer than you care for, into one of them.

    `agent` is "efex", "efex-paper" (which needs `clones`), "random", one of the baselines "max", "bonus-dqn" and
    "bootstrapped-dqn", or an agent of `efex.agents` with settings of its own, say `efex.agents.Efex(discount=0.99)`.
    `clones` is how many states an observation may have: "auto", a number, or a mapping from symbols to numbers.

    The same `seed` gives the same run. `until` ends it before `steps`: "complete" when the map has nothing left to try
    and nothing new was met for long (`efex.stopping.seems_complete` says it precisely), or a function that is asked
    after every step, given the agent as it was when it chose that step.

    With a `folder` the run is saved there, also when it is interrupted, and checkpoints are written on the way; another
    run is replaced once there is something to save. `resume` goes on from the last checkpoint, if there is one: `steps`
    counts the whole run. The environment is brought back by replaying all actions from the first reset on, after which
    the run ends exactly where it would have ended; this is done if it is a world, or registered with Gymnasium and not
    as nondeterministic, or if `replay` says so. If not, or if it shows something else this time, the run goes on with a
    new episode.

    The run holds the map as `run.graph`, and `run.decode` finds a walk on it.

    >>> import efex
    >>> world = efex.make("grid2d", size=3, unique_fraction=0.5, seed=0)
    >>> run = efex.explore(world, steps=5_000, until="complete", progress=False)
    >>> run.summary()["stopped"], run.graph.equivalent_to(world.truth)
    ('complete', True)
    """
    steps, seed = whole("steps", steps, at_least=1), whole("seed", seed, at_least=0)
    if flag("resume", resume) and folder is None:
        raise InvalidArgumentError("resume=True needs folder=, the folder of the run to go on with")
    flag("progress", progress)
    if replay is not None:
        flag("replay", replay)
    view = AgentView(env, observe=observe, episode_steps=episode_steps)
    if isinstance(agent, type):
        made = f"make it first: {agent.__name__}(...)"
        raise InvalidArgumentError(f"agent must be a name or an agent, not the class {agent.__name__}; {made}")
    explorer = make_agent(agent, clones=clones)
    explorer.action_names = view.action_names
    explorer.prepare(view.n_actions, rng=stream(seed, "agent"), symbols=view.symbols)
    name = agent if isinstance(agent, str) else type(agent).__name__
    settings: dict[str, Any] = {"agent": name, "seed": seed}
    if view.action_names is not None:
        settings["actions"] = list(view.action_names)
    record = Record(view, explorer, env, settings)
    stops = stopping_rule(until, explorer)
    home = None if folder is None else make_folder(folder)
    asked = {"seed": seed, "episode_steps": episode_steps, "observe": observe is not None}
    checkpoints = Checkpoints(home, record, asked, seed=seed)
    reset_seed: int | None = seed
    if resume and checkpoints.exist:
        resumption = Resumption(checkpoints)
        if finished := resumption.finished_run(steps, stops):
            return finished
        reset_seed = resumption.return_to_environment(seed, replayed=is_replayed(env, record, replay))
    try:
        with progress_display(record.truth, steps, enabled=progress) as display, interrupts_between_steps() as check:
            display.resume(explorer.experience.actions.tolist(), record.true_nodes)
            for step in walk(view, explorer, steps=steps, seed=reset_seed, stops=stops):
                record.true_nodes.append(record.told(step.node))
                checkpoints.step(step)
                display.step(explorer, step.action, record.true_nodes)
                check()
        at_limit = explorer.experience.n_steps == steps
        record.settings["stopped"] = "steps" if at_limit else "complete" if until == "complete" else "until"
        run = record.run()
    except BaseException as error:
        # Ctrl-C, or an environment that fails: what was found so far is kept.
        if home is not None and explorer.experience.n_steps:
            checkpoints.rescue(error)
            record.rescue(home, error)
        raise
    if home is not None:
        save(run, home, goes_on=True)
        checkpoints.finish()
    if getattr(explorer, "clones", None) != Growing():
        run.warn_of_missing_clones()
    return run


class Step(NamedTuple):
    """One action (None for a reset), the true node it led to, what was seen there, and whether it is the run's last."""

    action: int | None
    node: Any
    moment: Moment
    last: bool


def walk(
    view: AgentView,
    agent: Agent,
    *,
    steps: int,
    seed: int | None,
    stops: Callable[[Agent], bool] = lambda agent: False,
) -> Iterator[Step]:
    """Let `agent` take its steps, episode after episode, until it has taken `steps` or `stops` says so; yield each.

    The agent goes on from where it is. The environment is seeded once, at its first reset.
    """
    taken, action = agent.experience.n_steps, agent.pending
    last = taken >= steps
    while not last:
        if action is None:
            moment = view.reset(seed=seed)
            seed = None
            yield Step(None, moment.info.get("node", -1), moment, False)
            action = agent.begin(moment.symbol, moment.mask)
        while True:
            moment = view.step(action)
            taken += 1
            last = taken >= steps or bool(stops(agent))
            yield Step(action, moment.info.get("node", -1), moment, last)
            if last or moment.terminated or moment.truncated:
                break
            action = agent.act(moment.symbol, moment.mask)
        agent.end(moment.symbol, terminated=moment.terminated)
        action = None
