"""The one graph noun. Truth and estimate are both a LatentGraph, so recovery is a function of two graphs."""

from efex.graph.equivalence import Witness
from efex.graph.latent import Edge, LatentGraph
from efex.graph.plan import Plan
from efex.symbols import Symbol

__all__ = ["Edge", "LatentGraph", "Plan", "Symbol", "Witness"]
