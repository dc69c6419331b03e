"""State: arrays and what is to be known about them, as one file holds them; read back checked, or refused."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as serialise

from efex.errors import StorageError
from efex.graph.export import replacing

VERSION = 1
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class State:
    """Arrays by name, and beside them what JSON can hold."""

    arrays: Arrays = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def joined(cls, **parts: State) -> State:
        """Return one state of several, from which `part` takes each."""
        arrays = {f"{name}.{key}": array for name, part in parts.items() for key, array in part.arrays.items()}
        return cls(arrays, {name: part.about for name, part in parts.items()})

    def has(self, name: str) -> bool:
        """Return whether there is a part, or something told, of that name."""
        return name in self.about

    def part(self, name: str) -> State:
        """Return one of the states that were joined."""
        about = self.about.get(name)
        if not isinstance(about, dict):
            raise StorageError(f"{name} is missing")
        prefix = f"{name}."
        inside = {key.removeprefix(prefix): array for key, array in self.arrays.items() if key.startswith(prefix)}
        return State(inside, about)

    def array(
        self,
        name: str,
        kind: DTypeLike,
        shape: tuple[int | None, ...] = (None,),
        *,
        least: float | None = None,
        below: float | None = None,
    ) -> NDArray[Any]:
        """Return an array that is of this kind and shape (None: any length) and stays within these bounds."""
        array = self.arrays.get(name)
        if array is None:
            raise StorageError(f"{name} is missing")
        fits = array.ndim == len(shape) and all(want in (None, came) for want, came in zip(shape, array.shape))
        if array.dtype != np.dtype(kind) or not fits:
            raise StorageError(f"{name} must be {np.dtype(kind)} of shape {shape}, not {array.dtype} of {array.shape}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise StorageError(f"{name} must be finite")
        if array.size and ((least is not None and array.min() < least) or (below is not None and array.max() >= below)):
            raise StorageError(f"{name} must be at least {least} and below {below}")
        return array

    def whole(self, name: str, *, least: int = 0, most: int = 2**62) -> int:
        """Return a whole number within these bounds."""
        value = self.about.get(name)
        if type(value) is not int or not least <= value <= most:
            raise StorageError(f"{name} must be a whole number from {least} to {most}, not {value!r}")
        return value

    def positive(self, name: str, *, most: float) -> float:
        """Return a number above 0 and not above `most`."""
        value = self.number(name)
        if not 0 < value <= most:
            raise StorageError(f"{name} must be above 0 and at most {most:g}, not {value}")
        return value

    def number(self, name: str) -> float:
        """Return a finite number."""
        value = self.about.get(name)
        if isinstance(value, float | int) and not isinstance(value, bool) and abs(value) < math.inf:
            return float(value)
        raise StorageError(f"{name} must be a finite number, not {value!r}")


def write_arrays(path: Path, state: State) -> None:
    """Write a state to a file, with a version and a checksum."""
    whole = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
    text = json.dumps(state.about, sort_keys=True)
    metadata = {"efex": str(VERSION), "about": text, "checksum": _checksum(whole, text)}
    with replacing(path) as draft:
        draft.write_bytes(serialise(whole, metadata))


def read_arrays(path: Path) -> State:
    """Return what `write_arrays` wrote; a missing, damaged, foreign or newer file is a StorageError."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            version = metadata.get("efex")
            if version != str(VERSION):
                raise StorageError(f"{path} has version {version!r}; this efex reads version {VERSION}")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, not a dict
    except (
        *(OSError, SafetensorError, ValueError, TypeError, KeyError, AttributeError),
        *(OverflowError, MemoryError),
    ) as error:
        raise StorageError(f"{path} cannot be read as an efex file: {error}") from error
    text = metadata.get("about", "")
    if metadata.get("checksum") != _checksum(arrays, text):
        raise StorageError(f"{path} is damaged: its checksum does not fit its content")
    try:
        about = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path} does not say what it holds: {error}") from error
    if not isinstance(about, dict):
        raise StorageError(f"{path} does not say what it holds: {type(about).__name__} instead of an object")
    return State(arrays, about)


def _checksum(arrays: Arrays, text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}{array.dtype}{array.shape}".encode("utf-8", "surrogatepass"))
        digest.update(array.tobytes())
    return digest.hexdigest()
