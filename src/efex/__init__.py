"""efex recovers the hidden map of an environment by exploring it."""

from importlib.metadata import version

from efex import adapters, agents, measures, worlds
from efex.errors import EfexError
from efex.experience import Experience
from efex.explore import explore
from efex.graph import LatentGraph
from efex.learn import learn
from efex.navigate import Navigator
from efex.storage import load
from efex.transfer import transfer
from efex.worlds import make

__version__ = version("efex")

__all__ = [
    "EfexError",
    "Experience",
    "LatentGraph",
    "Navigator",
    "adapters",
    "agents",
    "explore",
    "learn",
    "load",
    "make",
    "measures",
    "transfer",
    "worlds",
]

worlds.register()
