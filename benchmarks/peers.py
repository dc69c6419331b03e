"""efex beside AALpy, a library for active automata learning, on the same systems: steps until the model is right.

Every step is counted that a system takes, whatever it is for: a learner's own queries and those by which it looks for
counterexamples alike; an answer from a learner's cache costs nothing. `right` is how many steps and resets had been
taken when the learner first had a model equivalent to the truth (probabilities within TOLERANCE where the system is
stochastic): AALpy's when it hands a hypothesis to its equivalence oracle, efex's when it is looked at, every `--look`
steps. `stops` is when AALpy's learner ended by itself; efex goes on until the cut-off. No learner is told that it is
right, and no oracle knows the truth.

Run: python benchmarks/peers.py --systems cave-different --methods "L*" efex --seeds 0 1
A system may also be the file of a Markov decision process that AALpy can read, such as first_grid.dot of its models.
Results are kept as lines of JSON in `--file`; what is there is not run again, and `--report` only prints. Those of
efex count for one commit and one `--look`; those of changes that were not committed are always run again.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from aalpy.base import SUL
from aalpy.learning_algs import run_hW, run_KV, run_Lsharp, run_Lstar, run_stochastic_Lstar
from aalpy.learning_algs.resetless.resetless_oracles import RandomhWOracle
from aalpy.oracles import RandomWordEqOracle, StatePrefixEqOracle
from aalpy.utils import load_automaton_from_file

import efex
from efex.agents import Agent
from efex.graph import LatentGraph
from efex.run import Fit
from efex.worlds import GraphWorld

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from systems.cave import ALIKE, DIFFERENT, Cave
from systems.mail import LOGIN, PLAIN, WHOLE, MailServer

TOLERANCE = 0.1
"""How far probabilities may be off in a right model of a stochastic system."""


def mail(names: tuple[str, ...]) -> LatentGraph:
    """Return a mail server's machine, found by exhaustive search."""
    server = MailServer(names)
    truth = server.probe()
    server.close()
    return truth


SYSTEMS: dict[str, Callable[[], LatentGraph]] = {
    "cave-different": lambda: Cave(DIFFERENT).truth,
    "cave-alike": lambda: Cave(ALIKE).truth,
    "mail": lambda: mail(PLAIN),
    "mail-login": lambda: mail(LOGIN),
    "mail-whole": lambda: mail(WHOLE),
    "slippery-grid": lambda: efex.make("grid2d", size=3, unique_fraction=0.5, slip=0.1, seed=0).truth,
}


def system_of(name: str) -> LatentGraph:
    """Return a system by its name or file, observations as whole numbers."""
    if name in SYSTEMS:
        truth = SYSTEMS[name]()
    else:
        model = load_automaton_from_file(name, automaton_type="mdp")
        truth = as_graph(model, sorted(model.get_input_alphabet()))
    return replace(truth, observations=tuple(truth.codes.tolist()))


class CutOffError(Exception):
    """As many steps were taken as there may be."""


class System(SUL):
    """A graph as AALpy walks it: every step and reset counted, no more steps than `cutoff`."""

    def __init__(self, truth: LatentGraph, *, seed: int, cutoff: int) -> None:
        super().__init__()
        self.world = GraphWorld(truth, episode_steps=None, seed=seed)
        self.cutoff, self.steps, self.resets = cutoff, 0, 0

    def pre(self) -> None:
        """Begin again."""
        self.shown, _ = self.world.reset()
        self.resets += 1

    def post(self) -> None:
        """Leave everything as it is."""

    def step(self, letter: int | None) -> int:
        """Take an action and return what is seen; None only looks."""
        if letter is not None:
            if self.steps == self.cutoff:
                raise CutOffError
            self.shown, *_ = self.world.step(letter)
            self.steps += 1
        return self.shown


def as_graph(model: Any, letters: Sequence[Any]) -> LatentGraph:
    """Return a Moore machine or Markov decision process of AALpy as a graph."""
    index = {id(state): i for i, state in enumerate(model.states)}
    moves = np.zeros((len(letters), len(index), len(index)))
    for state in model.states:
        for letter, target in state.transitions.items():
            for reached, chance in target if isinstance(target, list) else [(target, 1.0)]:
                moves[letters.index(letter), index[id(state)], index[id(reached)]] += chance
    return LatentGraph.from_matrices(
        [state.output for state in model.states], list(moves), starts=[index[id(model.initial_state)]]
    )


def bare(graph: LatentGraph, begins: bool) -> LatentGraph:
    """Return a graph without its start unless one `begins` there again: else it is right to know all nodes."""
    return graph if begins else replace(graph, starts=())


def run_peer(method: str, truth: LatentGraph, *, seed: int, cutoff: int) -> dict[str, Any]:
    """Let a learner of AALpy learn a system; return when it was right and when it stopped."""
    random.seed(seed)  # AALpy draws from the global generator
    system, letters = System(truth, seed=seed, cutoff=cutoff), list(range(truth.n_actions))
    if method == "L*_MDP":
        oracle: Any = RandomWordEqOracle(letters, system, num_walks=150, min_walk_len=5, max_walk_len=15)
    elif method == "hW":
        oracle = RandomhWOracle(num_testing_steps=1_000)
    else:
        oracle = StatePrefixEqOracle(letters, system, walks_per_state=25, walk_len=20)
    result: dict[str, Any] = {"right": None, "resets": None, "stops": None}
    search = oracle.find_cex

    def watched(model: Any) -> Any:
        if result["right"] is None:
            graph, begins = as_graph(model, letters), method != "hW"
            tolerance = TOLERANCE if method == "L*_MDP" else 0.0
            if bare(graph, begins).equivalent_to(bare(truth, begins), tolerance=tolerance):
                result.update(right=system.steps, resets=system.resets)
        return search(model)

    oracle.find_cex = watched
    learn = {"L*": run_Lstar, "KV": run_KV, "L#": run_Lsharp, "hW": run_hW}
    try:
        if method == "L*_MDP":
            run_stochastic_Lstar(letters, system, oracle, print_level=0)
        else:
            learn[method](letters, system, oracle, automaton_type="moore", print_level=0)
        result["stops"] = system.steps
    except CutOffError:
        pass
    return result


EPISODES = {"efex": None, "efex-100": 100}
"""After how many steps efex begins anew."""

METHODS = ("L*", "KV", "L#", "hW", "L*_MDP", *EPISODES)


def run_efex(method: str, truth: LatentGraph, *, seed: int, cutoff: int, look: int) -> dict[str, Any]:
    """Let efex explore a system; return when its map was first seen to be right."""
    tolerance = TOLERANCE if (truth.probability < 1).any() else 0.0
    world = GraphWorld(truth, episode_steps=EPISODES[method], seed=seed)
    found: dict[str, Any] = {"right": None, "resets": None, "stops": None}
    begins = EPISODES[method] is not None

    def is_right(agent: Agent) -> bool:
        experience = agent.experience
        if experience.n_steps % look == 0 and experience.n_steps:
            graph = Fit(experience, agent.recover()).graph
            if bare(graph, begins).equivalent_to(bare(truth, begins), tolerance=tolerance):
                found.update(right=experience.n_steps, resets=experience.n_episodes)
        return found["right"] is not None

    agent = method.removesuffix("-100")
    efex.explore(world, steps=cutoff, seed=seed, agent=agent, until=is_right, progress=False)
    return found


DIRTY = "+dirty"
KEY = ("system", "method", "seed", "cutoff", "version", "look", "episode_steps")
"""What a result is known by; the last three are efex's alone."""


def version(root: Path = Path(__file__).parents[1]) -> str:
    """Return which efex this is: the commit of the repository at `root`, the package's version where it is not its."""
    if Path(efex.__file__).is_relative_to(root / "src"):
        asked = ["git", "-C", str(root), "describe", "--always", "--exclude=*", f"--dirty={DIRTY}"]
        try:
            return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            pass
    return efex.__version__


def keyed(rows: Iterable[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return results by what they are known by, the latest of each."""
    return {tuple(row.get(name) for name in KEY): row for row in rows}


def report(rows: Iterable[dict[str, Any]]) -> str:
    """Return the results as a Markdown table: medians over seeds, the lowest and highest in brackets."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in keyed(rows).values():
        groups.setdefault((row["system"], _learner(row), row["cutoff"]), []).append(row)
    lines = [
        "| system | learner | right | steps to it | resets to it | steps until it stops | cut-off |",
        "|---" * 7 + "|",
    ]
    for (system, learner, cutoff), group in sorted(groups.items()):
        right = sum(row["right"] is not None for row in group)
        cells = [_spread([row[column] for row in group]) for column in ("right", "resets", "stops")]
        lines.append(f"| {system} | {learner} | {right} of {len(group)} | {' | '.join(cells)} | {cutoff:,} |")
    return "\n".join(lines)


def _learner(row: dict[str, Any]) -> str:
    """Return a learner's name, and of efex which version it was and how often its map was looked at."""
    if not row["method"].startswith("efex"):
        return str(row["method"])
    return f"{row['method']} {row.get('version', 'of unknown version')}, looked at every {row.get('look', '?')} steps"


def _spread(values: list[int | None]) -> str:
    """Return median and range, where what never happened counts as later than everything."""
    shown = sorted(float("inf") if value is None else value for value in values)
    words = ["never" if value == float("inf") else f"{value:,.0f}" for value in (median(shown), shown[0], shown[-1])]
    return words[0] if words[1] == words[2] else f"{words[0]} ({words[1]} to {words[2]})"


def main() -> None:
    """Run what is asked for and not yet there, then print all there is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", nargs="+", default=["cave-different"], help=f"{', '.join(SYSTEMS)}, or a file")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["L*", "KV", "L#", "hW", "efex"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--cutoff", type=int, default=200_000, help="the most steps a run may take")
    parser.add_argument("--look", type=int, default=100, help="how often efex's map is compared with the truth")
    parser.add_argument("--file", type=Path, default=Path("runs/peers.jsonl"), help="where results are kept")
    parser.add_argument("--report", action="store_true", help="print what is in the file")
    chosen = parser.parse_args()
    for name in chosen.systems:
        if name not in SYSTEMS and not Path(name).is_file():
            parser.error(f"--systems must be of {', '.join(SYSTEMS)}, or a file, not {name!r}")
    rows = [json.loads(line) for line in chosen.file.read_text().splitlines()] if chosen.file.exists() else []
    chosen.file.parent.mkdir(parents=True, exist_ok=True)
    done = {key for key in keyed(rows) if not str(key[KEY.index("version")]).endswith(DIRTY)}
    ours = version()
    for name in [] if chosen.report else chosen.systems:
        truth = system_of(name)
        for method, seed in ((method, seed) for seed in chosen.seeds for method in chosen.methods):
            key = {"system": name, "method": method, "seed": seed, "cutoff": chosen.cutoff}
            if method in EPISODES:
                key |= {"version": ours, "look": chosen.look, "episode_steps": EPISODES[method]}
            if done & keyed([key]).keys():
                print(f"taken from {chosen.file}: {name}, {method}, seed {seed}")
                continue
            if method in EPISODES:
                found = run_efex(method, truth, seed=seed, cutoff=chosen.cutoff, look=chosen.look)
            else:
                found = run_peer(method, truth, seed=seed, cutoff=chosen.cutoff)
            rows.append({**key, **found})
            with chosen.file.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(report(rows))


if __name__ == "__main__":
    main()
