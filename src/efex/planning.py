"""Planning: value and policy iteration on a belief's mean transitions, with information gain as the reward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from efex.belief import Belief
from efex.errors import InvalidArgumentError
from efex.kernels import planning as kernel

TIE = 1e-9
"""Actions whose values differ by less than this, relative to the best, are equally good."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Relative values h of all states under a belief: v = g + (1 - γ) h and Σ h = 0, theory (13).

    The gain g is the information per step; what an action is worth beyond it is u + γ c · h / B.
    """

    belief: Belief
    discount: float
    relative: NDArray[np.float64]
    gain: float
    rounds: int

    @property
    def values(self) -> NDArray[np.float64]:
        """v of the paper: the discounted information to come, times 1 - γ, in nats."""
        return self.gain + (1 - self.discount) * self.relative

    def action_values(self, state: int) -> NDArray[np.float64]:
        """Return u(z, a) + γ c_az · h / B_az for every action at `state`, in nats, theory (13)."""
        b, lo = self.belief, state * self.belief.n_actions
        if not 0 <= state < b.n_states:
            raise InvalidArgumentError(f"state must be 0 to {b.n_states - 1}, not {state}")
        reached = [kernel.reach(row, b.start, b.target, b.count, self.relative) for row in range(lo, lo + b.n_actions)]
        rows = slice(lo, lo + b.n_actions)
        return b.information_gain[rows] + self.discount * np.array(reached) * b.scale[rows]

    def best_actions(
        self,
        state: int,
        *,
        mask: NDArray[np.bool_] | None = None,
        values: NDArray[np.float64] | None = None,
        bonus: NDArray[np.float64] | float = 0.0,
    ) -> NDArray[np.int64]:
        """Return every action that is as good as the best one at `state`, among those the mask allows.

        `values` are what actions are worth where that is not what they are worth at `state`, and `bonus` what they are
        worth besides, in nats.
        """
        lo, n = state * self.belief.n_actions, self.belief.n_actions
        # A mask is what the environment says now; it overrules what the belief took to be closed.
        allowed = ~self.belief.closed[lo : lo + n] if mask is None else mask
        worth = self.action_values(state) if values is None else values
        q = np.where(allowed if allowed.any() else True, worth + bonus, -np.inf)
        return np.flatnonzero(q >= q.max() - TIE * abs(q.max()))


def value_iteration(
    belief: Belief,
    *,
    discount: float,
    values: NDArray[np.float64],
    tolerance: float = 1e-3,
    limit: int = 1_000_000,
) -> Plan:
    """Return the plan after sweeps of v(z) ← max_a (1 - γ) u + γ t̄ · v from `values`, theory (12).

    Stops when the changes of one sweep span less than tolerance * (1 - γ) * max u: what is left is a shift of all
    values alike, which changes no action and takes 1 / (1 - γ) sweeps to settle.
    """
    v = _checked(belief, discount, values).copy()
    reward = belief.information_gain
    goal = tolerance * (1 - discount) * float(reward.max(initial=0.0))
    sweeps = kernel.value_sweeps(
        *(belief.start, belief.target, belief.count, belief.scale, belief.closed, belief.prior),
        *(reward, discount, v, belief.n_actions, goal, limit),
    )
    gain = float(v.mean())
    return Plan(belief, discount, (v - gain) / (1 - discount), gain, sweeps)


def policy_iteration(
    belief: Belief,
    *,
    discount: float,
    relative: NDArray[np.float64],
    tolerance: float = 1e-11,
    limit: int = 1_000,
) -> Plan:
    """Return the plan whose values are those of its own greedy policy, found from `relative` values, theory (13)."""
    h = _checked(belief, discount, relative).copy()
    gain, rounds, _ = kernel.iterate_policy(
        *(belief.start, belief.target, belief.count, belief.scale, belief.closed),
        *(belief.information_gain, discount, h, belief.n_actions, TIE, tolerance, limit),
    )
    return Plan(belief, discount, h, gain, rounds)


def check_discount(discount: float) -> None:
    """Raise InvalidArgumentError unless the discount is at least 0 and below 1."""
    if not 0 <= discount < 1:
        raise InvalidArgumentError(f"discount must be at least 0 and below 1, not {discount}")


def _checked(belief: Belief, discount: float, values: NDArray[np.float64]) -> NDArray[np.float64]:
    check_discount(discount)
    if values.shape != (belief.n_states,) or not np.isfinite(values).all():
        raise InvalidArgumentError(f"values must be {belief.n_states} finite numbers, one per state")
    return np.asarray(values, np.float64)
