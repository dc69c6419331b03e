"""Learning a map from experience that somebody else gathered."""

from __future__ import annotations

from efex.agents.base import Recovery
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.model.allocation import ClonePolicy, allocation_for
from efex.model.fit import fit
from efex.model.methods import Method
from efex.model.pseudocount import ROW, Pseudocount
from efex.randomness import stream
from efex.run import Fit


def learn(
    experience: Experience,
    *,
    clones: ClonePolicy = "auto",
    method: Method = "em+viterbi",
    pseudocount: Pseudocount = ROW,
    restarts: int = 1,
    iterations: int = 100,
    tolerance: float = 1e-6,
    patience: int = 5,
    seed: int = 0,
) -> Fit:
    """Return the map learned from `experience`, which `Experience.from_episodes` makes of any lists.

    `clones` is how many states an observation may have: "auto", a number, or a mapping from symbols to numbers. EM runs
    for `iterations` or until a step's log-likelihood changes by less than `tolerance`; `method` says what follows it:
    nothing ("em"), Viterbi training ("em+viterbi") or variational Bayes ("em+vb"). The best of `restarts` random starts
    is kept, and its places are split and merged until that has found nothing better `patience` times in a row; 0 leaves
    it at EM.
    """
    if not isinstance(experience, Experience):
        raise InvalidArgumentError(
            f"experience must be an efex.Experience, not {type(experience).__name__}; "
            "make one with Experience.from_episodes"
        )
    model = fit(
        experience,
        allocation_for(clones),
        method=method,
        pseudocount=pseudocount,
        restarts=restarts,
        iterations=iterations,
        tolerance=tolerance,
        patience=patience,
        rng=stream(seed, "learn"),
    )
    path = model.decode(experience).path
    learned = Fit(experience, Recovery(model, path), {"method": method, "seed": seed})
    if clones != "auto":
        learned.warn_of_missing_clones()
    return learned
