"""Worlds: environments whose hidden graph is known exactly, so that recovery can be judged."""

from efex.worlds.registry import make, register, world_names
from efex.worlds.topology import Topology, from_picture
from efex.worlds.world import GraphWorld

__all__ = ["GraphWorld", "Topology", "from_picture", "make", "register", "world_names"]
