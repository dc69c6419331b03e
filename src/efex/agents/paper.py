"""EfexPaper: Algorithm 1 with the paper's settings, for good."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from efex.agents.efex import Efex
from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.model.allocation import ClonePolicy
from efex.model.methods import Method
from efex.model.pseudocount import PAPER, positive
from efex.model.restarts import Fresh, Warm


class EfexPaper(Efex):
    """The paper's agent: α = 2e-3 per target for belief and learning alike, γ = 0.9999, clones fixed beforehand.

    The paper leaves open when the model is refitted and where EM starts: `refit` and `start` choose. EM runs
    `iterations` times, 20 from a warm start and 100 from a fresh one unless told otherwise.

    >>> import efex
    >>> world = efex.make("chain", length=5)
    >>> run = efex.explore(world, steps=50, agent=EfexPaper(clones=1), progress=False)
    >>> run.graph.equivalent_to(world.truth)
    True
    """

    def __init__(
        self,
        *,
        clones: ClonePolicy,
        refit: Literal["episode", "step"] = "episode",
        start: Literal["warm", "fresh"] = "warm",
        iterations: int | None = None,
        discount: float = 0.9999,
        prior: float = PAPER,
        pseudocount: float = PAPER,
        method: Method = "em+viterbi",
        replan: int = 1,
    ) -> None:
        if clones == "auto":
            raise InvalidArgumentError('agent "efex-paper" needs clones=, a number or a mapping; the paper fixes them')
        if start not in ("warm", "fresh"):
            raise InvalidArgumentError(f'start must be "warm" or "fresh", not {start!r}')
        if refit not in ("episode", "step"):
            raise InvalidArgumentError(f'refit must be "episode" or "step", not {refit!r}')
        positive("prior", prior)
        restart = Warm() if start == "warm" else Fresh()
        if iterations is not None:
            restart = replace(restart, iterations=whole("iterations", iterations, at_least=1))
        super().__init__(
            clones=clones,
            fixed_clones=True,
            discount=discount,
            prior=prior,
            pseudocount=pseudocount,
            method=method,
            refit=refit,
            refit_growth=0.0,
            start=restart,
            replan=replan,
            scrutiny=0.0,
            telling=0.0,
            restlessness=0.0,
            hedged=False,
            prompt=0,
        )
