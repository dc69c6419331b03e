"""Run folders and model files: versioned, checked, free of code, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as serialise

from efex.agents.base import Recovery
from efex.errors import EfexError, StorageError
from efex.experience import Alphabet, Experience
from efex.graph.export import read_json, replacing
from efex.model.blocks import Blocks
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.symbols import decode_symbol, encode_symbol

if TYPE_CHECKING:
    from efex.run import Run

VERSION = 1
Arrays = dict[str, NDArray[Any]]

EXPERIENCE, MODEL, GRAPH, TRUTH, SUMMARY, MAP = (
    "experience.safetensors",
    "model.safetensors",
    "graph.json",
    "truth.json",
    "summary.json",
    "map.png",
)
FILES = (EXPERIENCE, MODEL, GRAPH, TRUTH, SUMMARY, MAP)


def save(run: Run, folder: str | Path) -> Path:
    """Write a run to `folder`: experience, model, graph, summary and picture; return the folder."""
    path = make_folder(folder)
    for name in FILES:
        # Whatever another run left here would pass for this one's.
        (path / name).unlink(missing_ok=True)
    write_arrays(path / EXPERIENCE, *_experience_parts(run))
    write_arrays(path / MODEL, *_model_parts(run))
    run.graph.write(path / GRAPH)
    if run.truth is not None:
        run.truth.write(path / TRUTH)
    write_json(path / SUMMARY, run.summary())
    run.plot(path / MAP)
    return path


def _experience_parts(run: Run) -> tuple[Arrays, dict[str, Any]]:
    experience = run.experience
    arrays: Arrays = {
        "observations": experience.observations,
        "actions": experience.actions,
        "terminated": experience.terminated,
    }
    if run.true_nodes is not None:
        arrays["true_nodes"] = run.true_nodes
    symbols = [encode_symbol(symbol) for symbol in experience.alphabet.symbols]
    return arrays, {"n_actions": experience.n_actions, "symbols": symbols, "settings": run.settings}


def _model_parts(run: Run) -> tuple[Arrays, dict[str, Any]]:
    model, path, utility, closed = run.recovery
    arrays: Arrays = {
        "counts": model.counts,
        "starts": model.starts,
        "action": model.blocks.action,
        "source": model.blocks.source,
        "target": model.blocks.target,
        "sizes": np.asarray(model.layout.sizes, np.int64),
        "path": path,
    }
    if utility is not None:
        arrays["utility"] = utility
    if closed is not None:
        arrays["closed"] = closed
    return arrays, {"pseudocount": model.pseudocount}


def load(folder: str | Path) -> Run:
    """Return the run that was saved in `folder`."""
    from efex.run import Run

    path = Path(folder)
    if not path.is_dir():
        raise StorageError(f"there is no run folder at {path}")
    arrays, about = read_arrays(path / EXPERIENCE)
    parts, model_about = read_arrays(path / MODEL)
    try:
        experience = Experience.from_flat(
            arrays["observations"],
            arrays["actions"],
            n_actions=int(about["n_actions"]),
            alphabet=Alphabet(decode_symbol(symbol) for symbol in about["symbols"]),
            terminated=arrays["terminated"],
        )
        blocks = Blocks(CloneLayout(tuple(parts["sizes"].tolist())), parts["action"], parts["source"], parts["target"])
        pseudocount = float(model_about["pseudocount"])
        model = Model(blocks, experience.n_actions, parts["counts"], parts["starts"], pseudocount)
        recovery = Recovery(model, parts["path"], parts.get("utility"), parts.get("closed"))
        settings = dict(about["settings"])
        if len(recovery.path) != len(experience):
            raise StorageError(f"{EXPERIENCE} and {MODEL} are of different runs")
    except (KeyError, TypeError, ValueError, EfexError) as error:
        raise StorageError(f"{path} does not hold a run that efex wrote: {error!r}") from error
    truth = read_json(path / TRUTH) if (path / TRUTH).exists() else None
    return Run(experience, recovery, settings, true_nodes=arrays.get("true_nodes"), truth=truth)


def make_folder(folder: str | Path) -> Path:
    """Create `folder` if need be and make sure it can be written to; return it."""
    path = Path(folder)
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


def write_arrays(path: Path, arrays: Arrays, about: dict[str, Any]) -> None:
    """Write arrays and what is to be known about them, with a version and a checksum."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(about, sort_keys=True)
    metadata = {"efex": str(VERSION), "about": text, "checksum": _checksum(whole, text)}
    with replacing(path) as draft:
        draft.write_bytes(serialise(whole, metadata))


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Return what `write_arrays` wrote; a missing, damaged, foreign or newer file is a StorageError."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, not a dict
    except (OSError, SafetensorError, ValueError, TypeError, KeyError) as error:
        raise StorageError(f"{path} cannot be read as an efex file: {error}") from error
    version = metadata.get("efex")
    if version != str(VERSION):
        raise StorageError(f"{path} has version {version!r}; this efex reads version {VERSION}")
    if metadata.get("checksum") != _checksum(arrays, metadata.get("about", "")):
        raise StorageError(f"{path} is damaged: its checksum does not fit its content")
    return arrays, json.loads(metadata["about"])


def _checksum(arrays: Arrays, text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}{array.dtype}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
