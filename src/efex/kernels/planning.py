"""Sparse Dirichlet rows: merging counts, information gain, and sweeps of value iteration."""

import numpy as np
from numba import njit

from efex.kernels.leaf import leaf

PATIENCE = 50
"""Sweeps after which few equations are rather solved at once."""

FEW = 256
"""How many equations are few."""


@njit(cache=True)
def merge_counts(start, target, count, keys, change, n_states):
    """Return (start, target, count) after adding `change` at the sorted `keys` = row * n_states + target.

    Both sides are sorted, so this is one linear merge; entries whose count reaches zero are dropped.
    """
    n_rows = len(start) - 1
    out_start = np.zeros(n_rows + 1, np.int64)
    out_target = np.empty(len(target) + len(keys), np.int64)
    out_count = np.empty(len(target) + len(keys), np.int64)
    size, k = 0, 0
    for row in range(n_rows):
        e = start[row]
        while e < start[row + 1] or (k < len(keys) and keys[k] < (row + 1) * n_states):
            has_key = k < len(keys) and keys[k] < (row + 1) * n_states
            has_entry = e < start[row + 1]
            if has_key and (not has_entry or keys[k] - row * n_states <= target[e]):
                at = keys[k] - row * n_states
            else:
                at = target[e]
            total = 0
            if has_entry and target[e] == at:
                total += count[e]
                e += 1
            while k < len(keys) and keys[k] == row * n_states + at:
                total += change[k]
                k += 1
            if total != 0:
                out_target[size] = at
                out_count[size] = total
                size += 1
        out_start[row + 1] = size
    return out_start, out_target[:size].copy(), out_count[:size].copy()


@njit(cache=True)
def row_information(start, count, totals, of_entry, of_total, prior, n_states):
    """Return Σ_j (b_j / B) h(b_j) - h(B) for every row; the targets never reached share one term."""
    n_rows = len(start) - 1
    gain = np.empty(n_rows)
    for row in range(n_rows):
        seen = start[row + 1] - start[row]
        weighted = (n_states - seen) * prior * of_entry[0]
        for e in range(start[row], start[row + 1]):
            weighted += (count[e] + prior) * of_entry[count[e]]
        gain[row] = weighted / (totals[row] + prior * n_states) - of_total[totals[row]]
    return gain


@leaf
def reach(row, start, target, count, values):
    """Return c · values of one row: the counted part of its mean transition, unscaled."""
    total = 0.0
    for e in range(start[row], start[row + 1]):
        total += count[e] * values[target[e]]
    return total


@leaf
def value_sweeps(start, target, count, scale, closed, prior, reward, discount, values, n_actions, tolerance, limit):
    """Sweep v(z) ← max_a (1 - γ) u + γ t̄ · v in place until the changes of one sweep span less than `tolerance`;
    return the number of sweeps."""
    n_states = len(values)
    for k in range(limit):
        total = values.sum()
        least, most = np.inf, -np.inf
        for z in range(n_states):
            best = -np.inf
            for row in range(z * n_actions, (z + 1) * n_actions):
                if not closed[row]:
                    mean = (reach(row, start, target, count, values) + prior * total) * scale[row]
                    best = max(best, (1 - discount) * reward[row] + discount * mean)
            if best == -np.inf:
                row = z * n_actions
                best = discount * (reach(row, start, target, count, values) + prior * total) * scale[row]
            change = best - values[z]
            values[z] = best
            total += change
            least, most = min(least, change), max(most, change)
        if most - least < tolerance:
            return k + 1
    return limit


@leaf
def improve(start, target, count, scale, closed, reward, discount, relative, n_actions, policy, tie):
    """Move every state's row in `policy` to its best one; a row that ties with the best stays. Return how many moved.

    Relative values sum to zero, so the prior's share of the mean transition drops out: q = u + γ c · h / B.
    A state all of whose rows are closed is an end, and keeps to its first row.
    """
    moved = 0
    for z in range(len(policy)):
        best, at, kept = -np.inf, z * n_actions, -np.inf
        for row in range(z * n_actions, (z + 1) * n_actions):
            if not closed[row]:
                q = reward[row] + discount * reach(row, start, target, count, relative) * scale[row]
                if q > best:
                    best, at = q, row
                if row == policy[z]:
                    kept = q
        if at != policy[z] and (kept == -np.inf or kept < best - tie * abs(best)):
            policy[z] = at
            moved += 1
    return moved


@njit(cache=True)
def downstream_first(start, target, count, policy):
    """Return an order of the states in which, cycles aside, a state comes after where its row mostly leads.

    Also returns that main target of every state (-1 for none), and for the state that closes a cycle of main targets
    the cycle's length (0 for all others): the cycle is that state and the ones right behind it in the order.
    """
    n_states = len(policy)
    order, main = np.empty(n_states, np.int64), np.full(n_states, -1, np.int64)
    cycle, depth_of = np.zeros(n_states, np.int64), np.full(n_states, -1, np.int64)
    stack = np.empty(n_states, np.int64)
    size = 0
    for first in range(n_states):
        z, depth = first, 0
        while z >= 0 and depth_of[z] == -1:
            depth_of[z] = depth
            stack[depth] = z
            depth += 1
            most = 0
            for e in range(start[policy[z]], start[policy[z] + 1]):
                if count[e] > most:
                    most, main[z] = count[e], target[e]
            z = main[z]
        if z >= 0 and depth > 0 and depth_of[z] >= 0 and depth_of[z] < depth and stack[depth_of[z]] == z:
            cycle[stack[depth - 1]] = depth - depth_of[z]
        while depth > 0:
            depth -= 1
            order[size] = stack[depth]
            size += 1
    return order, main, cycle


@leaf
def affine(row, main, start, target, count, factor, information, duration):
    """Return (Σ' w x, Σ' w t, w_main): the row's weights w = factor * c applied to all targets but `main`."""
    x, t, own = 0.0, 0.0, 0.0
    for e in range(start[row], start[row + 1]):
        w = factor * count[e]
        if target[e] == main:
            own = w
        else:
            x += w * information[target[e]]
            t += w * duration[target[e]]
    return x, t, own


@njit(cache=True)
def solve(start, target, count, scale, reward, discount, walked, policy, information, duration):
    """Solve the equations of the `walked` states for x and t at once, in place; the other states have none."""
    n = len(walked)
    place = np.full(len(policy), -1, np.int64)
    place[walked] = np.arange(n)
    left, right = np.eye(n), np.ones((n, 2))
    for k in range(n):
        row = policy[walked[k]]
        right[k, 0] = reward[row]
        for e in range(start[row], start[row + 1]):
            w, j = discount * scale[row] * count[e], target[e]
            if place[j] >= 0:
                left[k, place[j]] -= w
            else:
                right[k, 0] += w * information[j]
                right[k, 1] += w * duration[j]
    solved = np.linalg.solve(left, right)
    information[walked], duration[walked] = solved[:, 0], solved[:, 1]


@njit(cache=True)
def evaluate(start, target, count, scale, reward, discount, policy, information, duration, tolerance, limit):
    """Solve x = u + γ W x and t = 1 + γ W t in place, W = c / B on the policy's rows; return the number of sweeps.

    x is the information and t the number of steps expected before the prior's share of some row, or the discount,
    ends the stretch, theory (13). A sweep goes upstream and solves cycles of main targets at once, so where rows are
    deterministic one sweep is exact. Where chance rules it may take thousands, and few states are solved at once.
    """
    order, main, cycle = downstream_first(start, target, count, policy)
    walked = np.flatnonzero(start[policy] < start[policy + 1])
    for k in range(limit):
        if k == PATIENCE and len(walked) <= FEW:
            solve(start, target, count, scale, reward, discount, walked, policy, information, duration)
            return k
        worst, longest = 0.0, 0.0
        for p in range(len(order)):
            z = order[p]
            row = policy[z]
            x, t, own = affine(row, main[z], start, target, count, discount * scale[row], information, duration)
            x, t = x + reward[row], t + 1
            if cycle[z] > 0:
                # The value at the cycle's last state as an affine function of the one at z: bx + slope * x(z).
                bx, bt, slope = 0.0, 0.0, 1.0
                for q in range(p + 1, p + cycle[z]):
                    r = policy[order[q]]
                    cx, ct, w = affine(
                        r, main[order[q]], start, target, count, discount * scale[r], information, duration
                    )
                    bx, bt, slope = cx + reward[r] + w * bx, ct + 1 + w * bt, w * slope
                x, t = (x + own * bx) / (1 - own * slope), (t + own * bt) / (1 - own * slope)
            elif main[z] >= 0:
                x, t = x + own * information[main[z]], t + own * duration[main[z]]
            worst = max(worst, abs(t - duration[z]), abs(x - information[z]))
            longest = max(longest, t, x)
            information[z], duration[z] = x, t
        if worst <= tolerance * longest:
            return k + 1
    return limit


@njit(cache=True)
def iterate_policy(start, target, count, scale, closed, reward, discount, relative, n_actions, tie, tolerance, limit):
    """Improve and evaluate in turns until no row moves; write the relative values, return (gain, rounds, policy).

    With x and t as in `evaluate`, the gain g = Σ x / Σ t is the information per step, and h = x - g t.
    """
    n_states = len(relative)
    policy = np.full(n_states, -2, np.int64)
    information, duration = relative.copy(), np.ones(n_states)
    gain = 0.0
    for k in range(limit):
        moved = improve(start, target, count, scale, closed, reward, discount, relative, n_actions, policy, tie)
        if moved == 0:
            return gain, k, policy
        evaluate(start, target, count, scale, reward, discount, policy, information, duration, tolerance, 100_000)
        gain = information.sum() / duration.sum()
        for z in range(n_states):
            relative[z] = information[z] - gain * duration[z]
    return gain, limit, policy
