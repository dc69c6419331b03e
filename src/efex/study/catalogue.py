"""All studies that ship with efex, by name."""

from __future__ import annotations

from collections.abc import Callable

from efex.study.paper import ablation, chain, scaling, sensitivity, topologies, visual
from efex.study.study import Study

STUDIES: dict[str, Callable[[], Study]] = {
    "chain": chain.study,
    "topologies": topologies.study,
    "topologies-vb": topologies.variational_study,
    "scaling": scaling.study,
    "sensitivity": sensitivity.study,
    "ablation": ablation.study,
    "visual": visual.study,
}
