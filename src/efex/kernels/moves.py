"""What actions do to where one is, seen in what comes back: after one that undoes another, a full turn, a way back."""

import numpy as np
from numba import njit

QUARTERS = 4
"""How many turns in the same direction make a full one."""

LONGEST = 10
"""How many steps a way there and back may take, turns included."""


@njit(cache=True)
def count_returns(observations, actions, n_actions):
    """Return, for every action and one right after it, how often both led back to what was seen, of how many times.

    Only an action that changed what is seen has certainly led anywhere.
    """
    back, times = np.zeros((n_actions, n_actions)), np.zeros((n_actions, n_actions))
    for t in range(len(actions) - 2):
        if actions[t] >= 0 and actions[t + 1] >= 0 and observations[t] != observations[t + 1]:
            times[actions[t], actions[t + 1]] += 1
            back[actions[t], actions[t + 1]] += observations[t] == observations[t + 2]
    return back, times


@njit(cache=True)
def count_rounds(observations, actions, turn):
    """Return how often QUARTERS turns by the same action brought back what was seen, of how many times.

    It must have changed in between. `turn` says by how many quarters every action turns.
    """
    back = times = 0
    for begin in range(len(actions) - QUARTERS):
        t, changed = begin, False
        while t < begin + QUARTERS and actions[t] >= 0 and turn[actions[t]] != 0 and actions[t] == actions[begin]:
            changed |= observations[t] != observations[t + 1]
            t += 1
        if t == begin + QUARTERS and changed:
            times += 1
            back += observations[begin] == observations[t]
    return back, times


@njit(cache=True)
def count_ways_back(observations, actions, turn, ahead):
    """Return how often `ahead`, about-turn, `ahead` and about-turn brought back what was seen, of how many times.

    It may begin anywhere on that round; the first of the two steps must have changed what is seen, for it to have led
    anywhere, and so the way back is free.
    """
    back = times = 0
    for begin in range(len(actions) - 1):
        heading = first = steps = 0
        moved = False
        for t in range(begin, min(begin + LONGEST, len(actions) - 1)):
            if actions[t] == ahead:
                steps += 1
                if steps == 1:
                    first, moved = heading, observations[t] != observations[t + 1]
                elif steps > 2 or (heading - first) % QUARTERS != QUARTERS // 2:
                    break
            elif actions[t] >= 0 and turn[actions[t]] != 0:
                heading += turn[actions[t]]
            else:
                break
            if steps == 2 and heading % QUARTERS == 0:
                times += moved
                back += moved and observations[begin] == observations[t + 1]
                break
    return back, times


@njit(cache=True)
def count_about_turns(observations, actions, n_actions):
    """Return, for every step and turn, how often step, turn, turn, step brought back what was seen, of how many times.

    Both steps must have changed it, and no turn.
    """
    back, times = np.zeros((n_actions, n_actions)), np.zeros((n_actions, n_actions))
    for t in range(len(actions) - 4):
        step, turn = actions[t], actions[t + 1]
        if step < 0 or turn < 0 or step == turn or actions[t + 2] != turn or actions[t + 3] != step:
            continue
        here, there = observations[t], observations[t + 1]
        if here != there and there == observations[t + 2] == observations[t + 3] != observations[t + 4]:
            times[step, turn] += 1
            back[step, turn] += here == observations[t + 4]
    return back, times


@njit(cache=True)
def count_echoes(observations, actions, turn, ahead):
    """Return by quarters how often `ahead`, such a turn and `ahead` brought back what was seen, of how many times.

    Both steps must have changed it, and no turn.
    """
    back, times = np.zeros(QUARTERS), np.zeros(QUARTERS)
    for begin in range(len(actions) - 1):
        if actions[begin] != ahead or observations[begin] == observations[begin + 1]:
            continue
        t, heading = begin + 1, 0
        while t < min(begin + LONGEST, len(actions) - 1) and actions[t] >= 0 and turn[actions[t]] != 0:
            if observations[t] != observations[t + 1]:
                break
            heading += turn[actions[t]]
            t += 1
        if t < len(actions) - 1 and actions[t] == ahead and observations[t] != observations[t + 1]:
            times[heading % QUARTERS] += 1
            back[heading % QUARTERS] += observations[begin] == observations[t + 1]
    return back, times
