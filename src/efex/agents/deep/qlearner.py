"""QLearner: one or several Q networks with target networks, trained by double Q-learning. All of JAX is in here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from efex.checks import fraction, whole
from efex.errors import EfexError
from efex.planning import check_discount

try:
    import jax
    import jax.numpy as jnp
    import optax
except ImportError as error:
    raise EfexError('the deep agents need JAX and Optax, which are not installed: pip install "efex[deep]"') from error

LEAST_ROOM = 32
"""There is room for this many states from the beginning; it doubles when they are more."""

Tree = TypeVar("Tree")


@dataclass(frozen=True)
class Settings:
    """How Q values are learned: the width of a network's two layers, and `updates` batches of `batch` steps per step.

    A target network is a copy of its network, made every `sync` updates.
    """

    hidden: int = 32
    discount: float = 0.95
    learning_rate: float = 1e-3
    batch: int = 64
    updates: int = 4
    sync: int = 4

    def __post_init__(self) -> None:
        for name in ("hidden", "batch", "updates", "sync"):
            whole(name, getattr(self, name), at_least=1)
        check_discount(self.discount)
        fraction("learning_rate", self.learning_rate)


class Batch(NamedTuple):
    """Steps to learn from, one after the other along the first axis, at once along the second.

    `ended` says that the episode terminated in the state after, `allowed` which actions there are in it, and `heads`
    which networks learn from the step; these two have a third axis.
    """

    state: NDArray[np.int32]
    action: NDArray[np.int32]
    reward: NDArray[np.float32]
    after: NDArray[np.int32]
    ended: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    heads: NDArray[np.bool_]


class Weights(NamedTuple):
    """The weights of all networks, by head: a row per state (its one-hot code times a matrix), then two layers."""

    rows: jax.Array
    shift: jax.Array
    inner: jax.Array
    inner_shift: jax.Array
    outer: jax.Array
    outer_shift: jax.Array


class Networks(NamedTuple):
    """All that a learner knows: what is trained, its targets, the fixed priors, and the optimiser's memory."""

    weights: Weights
    targets: Weights
    priors: Weights
    optimiser: Any
    updates: jax.Array


class QLearner:
    """Learns Q values for states 0, 1, 2, ... by `heads` networks that share nothing but the steps they see.

    With a `prior` above zero, a head is the sum of a trained network and a fixed random one, scaled by it.
    """

    def __init__(
        self,
        n_states: int,
        n_actions: int,
        *,
        heads: int = 1,
        prior: float = 0.0,
        settings: Settings | None = None,
        rng: np.random.Generator,
    ) -> None:
        self.heads, self.n_actions, self.prior = heads, n_actions, prior
        self.settings = Settings() if settings is None else settings
        self._rng = rng
        self._networks = self._fresh(room_for(n_states))

    @property
    def room(self) -> int:
        """How many states there is room for."""
        return int(self._networks.weights.rows.shape[1])

    def make_room(self, n_states: int) -> None:
        """Take in more states; what is known of the others stays."""
        if n_states > self.room:
            self._networks = _kept(self._fresh(room_for(n_states)), self._networks)

    def values(self, state: int) -> NDArray[np.float32]:
        """Return Q(state, action) by head and action."""
        found = _values(self._networks.weights, self._networks.priors, np.int32(state))
        return np.asarray(found, np.float32)

    def update(self, batch: Batch) -> float:
        """Take one step of Adam per entry of the batch's first axis; return the mean squared error before them."""
        self._networks, errors = _updated(self._networks, batch, self.settings)
        return float(errors[0])

    def _fresh(self, room: int) -> Networks:
        one, other = jax.random.split(jax.random.key(int(self._rng.integers(2**32))))
        shape = (self.heads, room, self.settings.hidden, self.n_actions)
        weights, priors = _random_weights(one, shape), _random_weights(other, shape)
        priors = priors._replace(outer=self.prior * priors.outer)
        memory = optax.adam(self.settings.learning_rate).init(weights)
        return Networks(weights, weights, priors, memory, jnp.zeros((), jnp.int32))


def room_for(n_states: int) -> int:
    """Return the power of two, `LEAST_ROOM` or more, that holds so many states: shapes change rarely."""
    return max(LEAST_ROOM, 1 << max(n_states - 1, 0).bit_length())


def _random_weights(key: jax.Array, shape: tuple[int, int, int, int]) -> Weights:
    """Return random weights that keep the scale of what passes through them, with all shifts at zero."""
    heads, room, hidden, actions = shape
    first, second, third = jax.random.split(key, 3)
    return Weights(
        jax.random.normal(first, (heads, room, hidden)),
        jnp.zeros((heads, hidden)),
        jax.random.normal(second, (heads, hidden, hidden)) * (2 / hidden) ** 0.5,
        jnp.zeros((heads, hidden)),
        jax.random.normal(third, (heads, hidden, actions)) * hidden**-0.5,
        jnp.zeros((heads, actions)),
    )


def _kept(fresh: Tree, old: Tree) -> Tree:
    """Return `fresh` with the smaller arrays of `old` in their places."""
    kept: Tree = jax.tree.map(lambda new, was: new.at[tuple(map(slice, was.shape))].set(was), fresh, old)
    return kept


def _q(weights: Weights, states: jax.Array) -> jax.Array:
    """Return the networks' outputs by head, state and action."""
    hidden = jax.nn.relu(weights.rows[:, states] + weights.shift[:, None])
    hidden = jax.nn.relu(hidden @ weights.inner + weights.inner_shift[:, None])
    return hidden @ weights.outer + weights.outer_shift[:, None]


@jax.jit
def _values(weights: Weights, priors: Weights, state: jax.Array) -> jax.Array:
    return (_q(weights, state[None]) + _q(priors, state[None]))[:, 0]


@partial(jax.jit, static_argnames="settings")
def _updated(networks: Networks, batches: Batch, settings: Settings) -> tuple[Networks, jax.Array]:
    """Return the networks after one update per batch, and the error before each."""
    adam = optax.adam(settings.learning_rate)

    def update(now: Networks, batch: Batch) -> tuple[Networks, jax.Array]:
        goals = _goals(now, batch, settings.discount)
        error, gradient = jax.value_and_grad(_error)(now.weights, now.priors, batch, goals)
        change, memory = adam.update(gradient, now.optimiser)
        weights = optax.apply_updates(now.weights, change)
        count = now.updates + 1
        targets = optax.periodic_update(weights, now.targets, count, settings.sync)
        return Networks(weights, targets, now.priors, memory, count), error

    return jax.lax.scan(update, networks, batches)


def _goals(networks: Networks, batch: Batch, discount: float) -> jax.Array:
    """Return r + γ Q'(s', argmax_a Q(s', a)) by head and step: the network chooses, its target network judges."""
    after = jnp.asarray(batch.after)
    prior = _q(networks.priors, after)
    chosen = jnp.where(batch.allowed, _q(networks.weights, after) + prior, -jnp.inf).argmax(axis=-1)
    judged = _at(_q(networks.targets, after) + prior, chosen)
    return jnp.asarray(batch.reward) + discount * jnp.where(batch.ended, 0.0, judged)


def _error(weights: Weights, priors: Weights, batch: Batch, goals: jax.Array) -> jax.Array:
    """Return the mean squared error of the Q values of a batch, over the heads that learn from each step."""
    state, learns = jnp.asarray(batch.state), jnp.asarray(batch.heads).T
    q = _at(_q(weights, state) + _q(priors, state), jnp.broadcast_to(batch.action, goals.shape))
    return jnp.sum(learns * (q - goals) ** 2) / jnp.maximum(learns.sum(), 1)


def _at(values: jax.Array, actions: jax.Array) -> jax.Array:
    return jnp.take_along_axis(values, actions[..., None], axis=-1)[..., 0]
