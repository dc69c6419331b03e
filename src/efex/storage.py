"""Run folders: experience, model, graph, summary and picture; read back whole, or refused."""

from __future__ import annotations

import json
import warnings
from os.path import isdir, isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from efex.agents.base import Recovery
from efex.arrays import State, read_arrays, write_arrays
from efex.checks import place
from efex.errors import EfexError, StorageError
from efex.experience import Experience
from efex.graph.action_names import check_action_names
from efex.graph.export import read_json, replacing
from efex.parts import keep_experience, keep_model, read_experience, read_model

if TYPE_CHECKING:
    from efex.run import Run

EXPERIENCE, MODEL, GRAPH, TRUTH, SUMMARY, MAP = (
    "experience.safetensors",
    "model.safetensors",
    "graph.json",
    "truth.json",
    "summary.json",
    "map.png",
)
FILES = (EXPERIENCE, MODEL, GRAPH, TRUTH, SUMMARY, MAP)
CHECKPOINT = "checkpoint.safetensors"
"""What a run goes on from; `efex.checkpoint` writes it."""

GOING_ON = "what its checkpoint holds goes on with efex.explore(..., folder=, resume=True) and a larger number of steps"
"""What to do about a run whose other files are damaged."""

MOST_TIMES = 2**40
"""More walks than this no known step is believed to count as."""

UNFIT = (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError, MemoryError, EfexError)
"""What comes of content that is not what efex wrote."""


def save(run: Run, folder: str | Path, *, goes_on: bool = False) -> Path:
    """Write a run to `folder`: experience, model, graph, summary and picture; return the folder.

    Unless the run `goes_on`, a checkpoint that is there is another run's, and is removed too.
    """
    path = make_folder(folder)
    for name in FILES if goes_on else (*FILES, CHECKPOINT):
        # Whatever another run left here would pass for this one's.
        (path / name).unlink(missing_ok=True)
    write_arrays(path / EXPERIENCE, _keep_walk(run))
    write_arrays(path / MODEL, _keep_recovery(run.recovery))
    run.graph.write(path / GRAPH)
    if run.truth is not None:
        run.truth.write(path / TRUTH)
    write_json(path / SUMMARY, run.summary())
    try:
        run.plot(path / MAP)
    except Exception as error:
        # The map itself is saved already, and can be drawn again.
        warnings.warn(f"{path / MAP} could not be drawn: {error!r}; all else of the run is saved", stacklevel=2)
    return path


def _keep_walk(run: Run) -> State:
    experience = keep_experience(run.experience)
    nodes = {} if run.true_nodes is None else {"true_nodes": run.true_nodes}
    return State(experience.arrays | nodes, experience.about | {"settings": run.settings})


def _keep_recovery(recovery: Recovery) -> State:
    model = keep_model(recovery.model)
    beside = {
        "path": recovery.path,
        "utility": recovery.utility,
        "closed": recovery.closed,
        "information": recovery.information,
        "carried": recovery.carried,
        "foreseen": recovery.foreseen,
    }
    return State(model.arrays | {name: array for name, array in beside.items() if array is not None}, model.about)


def load(folder: str | Path) -> Run:
    """Return the run that was saved in `folder`.

    >>> import efex
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     run = efex.explore(efex.make("chain", length=5), steps=50, progress=False, folder=folder)
    ...     efex.load(folder).graph.equivalent_to(run.graph)
    True
    """
    path = place("folder", folder)
    if not isdir(path):  # says no where Path.is_dir raises, say of a folder that must not be entered
        raise StorageError(f"there is no run folder at {path}")
    if isfile(path / CHECKPOINT) and not isfile(path / EXPERIENCE):
        raise StorageError(
            f"the run in {path} was not finished: it has a {CHECKPOINT} and no {EXPERIENCE}; "
            "go on with efex.explore(..., folder=, resume=True)"
        )
    if not isfile(path / EXPERIENCE):
        raise StorageError(
            f"there is no run in {path}: it has no {EXPERIENCE}; give the folder that explore, learn or run.save wrote"
        )
    try:
        return _read(path)
    except StorageError as error:
        copy = f"put back a copy of {path}, or make the run again"
        raise StorageError(f"{error}; {GOING_ON if isfile(path / CHECKPOINT) else copy}") from error


def _read(path: Path) -> Run:
    from efex.run import Run

    walk, learned = read_arrays(path / EXPERIENCE), read_arrays(path / MODEL)
    name = EXPERIENCE
    try:
        experience, settings = read_experience(walk), dict(walk.about["settings"])
        check_action_names(settings.get("actions"), experience.n_actions)
        known = "true_nodes" in walk.arrays
        true_nodes = walk.array("true_nodes", np.int64, (len(experience),), least=0) if known else None
        name = MODEL
        recovery = _read_recovery(learned, experience)
    except UNFIT as error:
        raise StorageError(f"{path / name} does not hold what efex wrote: {error!r}") from error
    truth = read_json(path / TRUTH) if (path / TRUTH).exists() else None
    if truth is not None and true_nodes is not None and true_nodes.max(initial=-1) >= truth.n_nodes:
        raise StorageError(f"{path / EXPERIENCE} and {TRUTH} are of different worlds")
    return Run(experience, recovery, settings, true_nodes=true_nodes, truth=truth)


def _read_recovery(state: State, experience: Experience) -> Recovery:
    model = read_model(state, n_actions=experience.n_actions)
    n_states, n = model.layout.n_states, len(experience)
    path = state.array("path", np.int64, (None,), least=0, below=n_states)
    if len(path) != n or (model.layout.observation[path] != experience.observations).any():
        raise StorageError(f"{EXPERIENCE} and {MODEL} are of different runs")
    shapes = {"utility": (n_states,), "closed": (n_states, experience.n_actions), "information": (n_states,)}
    beside = {
        name: state.array(name, np.bool_ if name == "closed" else np.float64, shape)
        for name, shape in shapes.items()
        if name in state.arrays
    }
    if "carried" in state.arrays:
        beside["carried"] = _read_carried(state, path, n_actions=experience.n_actions)
    if "foreseen" in state.arrays:
        beside["foreseen"] = _read_foreseen(state, n_states, n_actions=experience.n_actions)
    return Recovery(model, path, **beside)


def _read_carried(state: State, path: NDArray[np.int64], *, n_actions: int) -> NDArray[np.int64]:
    """Return the steps that were known before; they are between states on the path."""
    carried = state.array("carried", np.int64, (None, 4), least=0, below=MOST_TIMES)
    if not _are_on(path, carried, n_actions=n_actions) or (carried[:, 3] < 1).any():
        raise StorageError("carried must be steps between states on the path, counted at least once")
    return carried


def _read_foreseen(state: State, n_states: int, *, n_actions: int) -> NDArray[np.int64]:
    """Return the steps that were foreseen; they are between states of the model."""
    foreseen = state.array("foreseen", np.int64, (None, 3), least=0, below=MOST_TIMES)
    if (foreseen[:, [0, 2]] >= n_states).any() or (foreseen[:, 1] >= n_actions).any():
        raise StorageError("foreseen must be steps between states of the model")
    return foreseen


def _are_on(path: NDArray[np.int64], steps: NDArray[np.int64], *, n_actions: int) -> bool:
    """Return whether the steps are between states on the path."""
    source, action, target = steps.T[:3]
    return bool(np.isin((source, target), path).all() and (action < n_actions).all())


def make_folder(folder: str | Path) -> Path:
    """Create `folder` if need be and make sure it can be written to; return it."""
    path = place("folder", folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".efex-probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise StorageError(
            f"folder {path} cannot be written to ({error.strerror or error}); choose another one"
        ) from error
    return path


def write_json(path: Path, content: Any) -> None:
    """Write `content` as JSON, whole or not at all."""
    with replacing(path) as draft:
        draft.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")
