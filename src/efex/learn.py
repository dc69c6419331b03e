"""Learning a map from experience that somebody else gathered."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from efex import checks
from efex.adapters import Table, read_table
from efex.agents.base import Recovery
from efex.agents.closing import closed_pairs
from efex.agreement import agreement
from efex.checks import flag, whole
from efex.counting import counted
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.held_out import hold_out, nats_per_step
from efex.model.allocation import ClonePolicy, allocation_for
from efex.model.cscg import Model
from efex.model.fit import fit
from efex.model.marginal import weighed
from efex.model.methods import Method, check_method
from efex.model.moves import displacements
from efex.model.pseudocount import ROW, Pseudocount
from efex.randomness import stream
from efex.run import Fit
from efex.status import status_line


def learn(
    experience: Experience | str | Path,
    *,
    clones: ClonePolicy = "auto",
    method: Method = "em+viterbi",
    pseudocount: Pseudocount = ROW,
    restarts: int = 1,
    iterations: int = 100,
    tolerance: float = 1e-6,
    patience: int = 5,
    held_out: float = 0.0,
    seed: int = 0,
    progress: bool = False,
) -> Fit:
    """Return the map learned from `experience`, which `Experience.from_episodes` makes of any lists, or from a file.

    A file is a .csv or .parquet table with the columns episode, action and observation, see `efex.adapters.read_table`;
    where its actions have names, the graph's `action_names` and `settings["actions"]` list them by number.

    `clones` is how many states an observation may have: "auto", a number, or a mapping from symbols to numbers. EM runs
    for `iterations` or until a step's log-likelihood changes by less than `tolerance`; `method` says what follows it:
    nothing ("em"), Viterbi training ("em+viterbi") or variational Bayes ("em+vb"). Places are then split and merged
    until that has found nothing better `patience` times in a row; 0 leaves it at EM. All of it is done `restarts` times
    from different random starts, and the best map is kept.

    `held_out` is a share of the episodes that the map is not learned from, or the last part where there is one episode
    only. The map's `report` says how well they are predicted and how far restarts agree.

    >>> walk = Experience.from_episodes([("abracadabra " * 20, None)])
    >>> found = learn(walk, restarts=2, held_out=0.1)
    >>> found.graph.n_nodes, found.report.agreement
    (12, 1.0)
    >>> print(found.report)  # doctest: +ELLIPSIS
                     learned from  215 steps in 1 episode
                     observations  6
                            nodes  12 (...
    """
    flag("progress", progress)
    tolerance = checks.tolerance("tolerance", tolerance)
    check_method(method)
    allocation = allocation_for(clones)
    walks, names = _walks(experience)
    if walks.n_steps == 0:
        what = "experience" if isinstance(experience, Experience) else experience
        raise InvalidArgumentError(
            f"{what} must hold at least one step, from one observation of an episode to the next; "
            f"it holds {counted(len(walks), 'observation')} in {counted(walks.n_episodes, 'episode')}"
        )
    settings: dict[str, Any] = {"method": method, "seed": seed}
    if names is not None:
        settings["actions"] = list(names)
    kept, out = (walks, None) if held_out == 0 else hold_out(walks, held_out, rng=stream(seed, "held out"))
    models = []
    with status_line(enabled=progress) as say:
        for number in range(whole("restarts", restarts, at_least=1)):
            say(f"learning from {counted(kept.n_steps, 'step')}, {number + 1} of {restarts}")
            models.append(
                fit(
                    kept,
                    allocation,
                    method=method,
                    pseudocount=pseudocount,
                    iterations=iterations,
                    tolerance=tolerance,
                    patience=patience,
                    rng=stream(seed, f"learn {number}" if number else "learn"),
                )
            )
    learned = _best(models, kept, settings)
    if out is not None:
        _score(learned, out)
    if clones != "auto":
        learned.warn_of_missing_clones()
    return learned


def _walks(given: Experience | str | Path) -> Table:
    if isinstance(given, str | Path):
        return read_table(given)
    if not isinstance(given, Experience):
        raise InvalidArgumentError(
            f"experience must be an efex.Experience or the path of a table, not {type(given).__name__}; "
            "make one with Experience.from_episodes"
        )
    return Table(given)


def _best(models: list[Model], experience: Experience, settings: dict[str, Any]) -> Fit:
    """Return the best of the models, by the marginal likelihood of its decoded path, and how far they agree."""
    paths = [model.decode(experience).path for model in models]
    best = 0
    if len(models) > 1:
        least = min(model.pseudocount * model.layout.n_states for model in models)
        moves = displacements(experience)
        best = int(np.argmax([weighed(path, experience, least=least, moves=moves).score for path in paths]))
        shares = [agreement(one, other) for one, other in combinations(paths, 2)]
        settings |= {"restarts": len(models), "agreement": float(np.mean(shares))}
    closed = closed_pairs(paths[best], models[best].layout, experience, masks={})
    return Fit(experience, Recovery(models[best], paths[best], closed=closed), settings)


def _score(learned: Fit, walks: Experience) -> None:
    """Note how well the walks that were held out are predicted, by the map and by the trivial graph."""
    learned.settings.update(
        held_out_steps=walks.n_steps,
        held_out_episodes=walks.n_episodes,
        held_out_nats=nats_per_step(learned.graph, walks, pseudocount=learned.recovery.model.pseudocount),
        held_out_first_order_nats=nats_per_step(learned.first_order, walks),
    )
