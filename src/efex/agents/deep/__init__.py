"""The deep baselines of the paper's chain experiment. They need JAX and Optax: pip install "efex[deep]"."""

from efex.agents.deep.bonus import BonusDqn
from efex.agents.deep.bootstrapped import BootstrappedDqn
from efex.agents.deep.qlearner import Batch, QLearner, Settings

__all__ = ["Batch", "BonusDqn", "BootstrappedDqn", "QLearner", "Settings"]
