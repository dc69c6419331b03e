"""Experience, model and belief as arrays and back; whatever does not fit together is refused before it is used."""

from __future__ import annotations

import numpy as np

from efex.arrays import Arrays, State
from efex.belief import Belief
from efex.errors import StorageError
from efex.experience import Alphabet, Experience
from efex.graph.export import MOST_ACTIONS, check_pairs
from efex.model.blocks import Blocks
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.symbols import decode_symbol, encode_symbol

MOST_WEIGHT = 1e9
"""A pseudocount or prior above this no file is believed to have."""


def keep_experience(experience: Experience) -> State:
    """Return an experience as arrays; they are not copied."""
    arrays: Arrays = {
        "observations": experience.observations,
        "actions": experience.actions,
        "terminated": experience.terminated,
    }
    symbols = [encode_symbol(symbol) for symbol in experience.alphabet.symbols]
    return State(arrays, {"n_actions": experience.n_actions, "symbols": symbols})


def read_experience(state: State) -> Experience:
    """Return the experience that was kept."""
    n_actions = state.whole("n_actions", least=1, most=MOST_ACTIONS)
    encoded = state.about.get("symbols")
    if not isinstance(encoded, list):
        raise StorageError("symbols must be a list")
    alphabet = Alphabet(decode_symbol(symbol) for symbol in encoded)
    if len(alphabet) != len(encoded):
        raise StorageError("symbols must be listed once each")
    observations = state.array("observations", np.int32, least=0, below=len(alphabet))
    n = len(observations)
    actions = state.array("actions", np.int32, (n,), least=-1, below=n_actions)
    terminated = state.array("terminated", np.int64, least=0, below=n)
    if n == 0 or actions[-1] != -1 or (actions[terminated] != -1).any() or (np.diff(terminated) <= 0).any():
        raise StorageError("episodes must end where they are said to end")
    return Experience.from_flat(observations, actions, n_actions=n_actions, alphabet=alphabet, terminated=terminated)


def keep_model(model: Model) -> State:
    """Return a model as arrays; they are not copied."""
    blocks = model.blocks
    arrays = {
        "counts": model.counts,
        "starts": model.starts,
        "action": blocks.action,
        "source": blocks.source,
        "target": blocks.target,
        "sizes": np.asarray(model.layout.sizes, np.int64),
    }
    return State(arrays, {"pseudocount": model.pseudocount})


def read_model(state: State, *, n_actions: int) -> Model:
    """Return the model that was kept."""
    starts = state.array("starts", np.float64, least=0)
    check_pairs("a model", len(starts), n_actions)
    sizes = state.array("sizes", np.int64, least=1, below=len(starts) + 1)
    if sum(sizes.tolist()) != len(starts):
        raise StorageError("sizes must be those of as many states as there are starts")
    n = len(sizes)
    action = state.array("action", np.int32, least=0, below=n_actions)
    source, target = (state.array(name, np.int32, (len(action),), least=0, below=n) for name in ("source", "target"))
    blocks = Blocks(CloneLayout(tuple(sizes.tolist())), action, source, target)
    if (np.diff(blocks.keys) <= 0).any():
        raise StorageError("blocks must be sorted, each listed once")
    held = state.arrays.get("counts")
    kind = np.float64 if held is not None and held.dtype == np.float64 else np.float32
    counts = state.array("counts", kind, least=0)
    return Model(blocks, n_actions, counts, starts, state.positive("pseudocount", most=MOST_WEIGHT))


def keep_belief(belief: Belief) -> State:
    """Return a belief as arrays; they are not copied."""
    arrays: Arrays = {"start": belief.start, "target": belief.target, "count": belief.count, "closed": belief.closed}
    if belief.doubt is not None:
        arrays["doubt"] = belief.doubt
    if belief.thrown is not None:
        arrays["thrown"] = belief.thrown
    about = {"prior": belief.prior, "by_chance": belief.by_chance}
    return State(arrays, {**about, "n_states": belief.n_states, "n_actions": belief.n_actions})


def read_belief(state: State, *, most: int = 2**40) -> Belief:
    """Return the belief that was kept, which has counted `most` steps at most: tables are made as long as that."""
    n_states, n_actions = state.whole("n_states", least=1), state.whole("n_actions", least=1)
    rows = n_states * n_actions
    target = state.array("target", np.int64, least=0, below=n_states)
    start = state.array("start", np.int64, (rows + 1,), least=0, below=len(target) + 1)
    if start[0] != 0 or start[-1] != len(target) or (np.diff(start) < 0).any():
        raise StorageError("start must say where the targets of every row begin")
    count = state.array("count", np.int64, (len(target),), least=1, below=most + 1)
    if count.sum() > most:
        raise StorageError(f"counts must be of {most} steps at most")
    prior = state.positive("prior", most=MOST_WEIGHT)
    # Where it is not told, nothing was valued otherwise where chance rules.
    by_chance = state.positive("by_chance", most=MOST_WEIGHT) if state.has("by_chance") else prior
    closed = state.array("closed", np.bool_, (rows,))
    doubt = state.array("doubt", np.float64, (rows,), least=0, below=1) if "doubt" in state.arrays else None
    thrown = state.array("thrown", np.bool_, (len(target),)) if "thrown" in state.arrays else None
    return Belief(n_states, n_actions, prior, by_chance, start, target, count, closed, doubt, thrown)
