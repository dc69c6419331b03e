"""Damaged files: every one is refused in words, or reads back exactly."""

import json
import random
import shutil
import struct
from collections import Counter

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save as serialise

import efex
from efex import arrays
from efex.errors import EfexError, StorageError
from efex.graph.export import read_json

BINARY = ("experience.safetensors", "model.safetensors", "checkpoint.safetensors")
TEXT = ("truth.json", "graph.json")
OPTIONS = {"steps": 60, "progress": False}


def grid():
    return efex.make("grid2d", size=3, unique_fraction=0.5, seed=0)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    efex.explore(grid(), folder=folder, **OPTIONS)
    return folder


def opened(path):
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata())  # noqa: SIM118


def sealed(tensors, about, **metadata):
    """Return a file with this content whose checksum fits: what somebody who knows the format could make."""
    text = about if isinstance(about, str) else json.dumps(about, sort_keys=True)
    whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    checksum = arrays._checksum(whole, text)
    return serialise(whole, {"efex": "1", "about": text, "checksum": checksum} | metadata)


def truncated(path, draw):
    content = path.read_bytes()
    return content[: draw.randrange(len(content))]


def flipped(path, draw):
    content = bytearray(path.read_bytes())
    # Headers are short and hold the most: half of the damage goes there.
    end = len(content) if draw.random() < 0.5 else min(len(content), 3_000)
    for _ in range(draw.choice([1, 1, 1, 2, 8])):
        content[draw.randrange(end)] ^= 1 << draw.randrange(8)
    return bytes(content)


def inserted(path, draw):
    content = path.read_bytes()
    at = draw.randrange(len(content))
    return content[:at] + draw.randbytes(draw.choice([1, 4, 8, 1000])) + content[at:]


def cut_out(path, draw):
    content = path.read_bytes()
    at = draw.randrange(len(content))
    return content[:at] + content[at + draw.choice([1, 4, 8, 100]) :]


def oversized_header(path, draw):
    length = draw.choice([0, 1, 7, 2**20, 2**31, 2**40, 2**63, 2**64 - 1, draw.getrandbits(64)])
    return struct.pack("<Q", length) + path.read_bytes()[8:]


def foreign(path, draw):
    heads = [
        b"PK\x03\x04",
        b"\x80\x04cos\nsystem\n",
        b"\x93NUMPY",
        b"{}",
        b"",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"null",
    ]
    return draw.choice(heads) + draw.randbytes(draw.choice([0, 10, 500]))


def newer(path, draw):
    if path.suffix == ".json":
        return path.read_bytes().replace(b'"version": 1', f'"version": {draw.randrange(2, 99)}'.encode())
    tensors, metadata = opened(path)
    return sealed(tensors, metadata["about"], efex=draw.choice(["0", "2", "99", "", "1.0"]))


def swapped(path, draw):
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        one, other = draw.sample(sorted(content), 2)
        content[one], content[other] = content[other], content[one]
        return json.dumps(content).encode()
    tensors, metadata = opened(path)
    one, other = draw.sample(sorted(tensors), 2)
    tensors[one], tensors[other] = tensors[other], tensors[one]
    return serialise(tensors, metadata) if draw.random() < 0.5 else sealed(tensors, metadata["about"])


ODD = [None, True, -1, 0, 2**31, 2**62, 2**63, 10**400, 1e308, float("nan"), "", "x" * 1000, [], [[]], {}, {"tuple": 3}]
DEEP = "[" * 60_000 + "]" * 60_000


def spoiled(value, draw):
    """Return a JSON value with something odd somewhere in it."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(sorted(value))
        if draw.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return value | {key: spoiled(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        return [*value[:at], spoiled(value[at], draw), *value[at + 1 :]]
    return draw.choice(ODD)


def attacked_text(path, draw):
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        del content["checksum"]
        return json.dumps(spoiled(content, draw)).encode()
    tensors, metadata = opened(path)
    if draw.random() < 0.1:
        return sealed(tensors, draw.choice(["", "{", "null", "[1]", DEEP, '{"n_actions": 1e999}', "\x00"]))
    return sealed(tensors, spoiled(json.loads(metadata["about"]), draw))


def attacked_arrays(path, draw):
    if path.suffix == ".json":
        return attacked_text(path, draw)
    tensors, metadata = opened(path)
    name = draw.choice(sorted(tensors))
    array = tensors[name]
    kind = draw.randrange(5)
    if kind == 0:
        del tensors[name]
    elif kind == 1:
        tensors[name] = array.astype(draw.choice([np.int8, np.int32, np.int64, np.float32, np.float64, np.bool_]))
    elif kind == 2:
        tensors[name] = array.reshape(1, *array.shape) if draw.random() < 0.5 else array[: len(array) // 2]
    elif array.size:
        flat = array.reshape(-1).copy()
        worst = [np.nan, np.inf, -1.0, 1e300] if array.dtype.kind == "f" else [-1, 2**31 - 1, 2**62, -(2**31), 7]
        with np.errstate(all="ignore"):
            flat[draw.randrange(flat.size)] = np.array(draw.choice(worst)).astype(array.dtype)
        tensors[name] = flat.reshape(array.shape)
    return sealed(tensors, metadata["about"])


def overblown(path, draw):
    """Return a file that asks for tables larger than any memory."""
    if path.suffix == ".json":
        content = json.loads(path.read_text()) | {"n_actions": 1_000_000, "action_names": None}
        del content["checksum"]
        content |= {"coordinates": None, "utility": None, "closed": None}
        content["nodes"] *= draw.choice([20, 2_000])
        return json.dumps(content).encode()
    tensors, metadata = opened(path)
    return sealed(tensors, _with_actions(json.loads(metadata["about"])))


def _with_actions(about):
    grown = {key: _with_actions(value) if isinstance(value, dict) else value for key, value in about.items()}
    return grown | {"n_actions": 1_000_000} if "n_actions" in about else grown


DAMAGE = [
    *(truncated, flipped, flipped, inserted, cut_out, oversized_header, foreign, newer, swapped),
    *(attacked_text, attacked_arrays, overblown),
]
KNOWN = (attacked_text, attacked_arrays, swapped, overblown)
"""Damage whose checksum fits: what is read then is what the file says."""


def read(folder, name):
    """Read a file as efex would; return all that came of it, to compare."""
    if name in TEXT:
        return json.dumps(efex.graph.export.to_content(read_json(folder / name)))
    if name == "checkpoint.safetensors":
        run = efex.explore(grid(), folder=folder, resume=True, **OPTIONS | {"steps": 63})
    else:
        run = efex.load(folder)
    return json.dumps(
        [run.summary(), run.graph.n_edges, run.experience.symbols, run.recovery.path.tolist()], default=str
    )


def tally(sound, folder, n, *, seed):
    """Damage `n` files and read them; return how often each outcome was met."""
    draw, outcomes = random.Random(seed), Counter()
    shutil.copytree(sound, folder, dirs_exist_ok=True)
    whole = {name: read(shutil.copytree(sound, folder / f"as {name}"), name) for name in (*BINARY, *TEXT)}
    for _ in range(n):
        name, damage = draw.choice((*BINARY, *TEXT)), draw.choice(DAMAGE)
        content = damage(sound / name, draw)
        (folder / name).write_bytes(content)
        try:
            came = read(folder, name)
        except StorageError:
            outcomes["refused"] += 1
        except EfexError:
            # What the file says is sound, but not of this run, or cannot be true.
            assert damage in KNOWN, (name, damage)
            outcomes["refused"] += 1
        else:
            assert came == whole[name] or damage in KNOWN, (name, damage)
            outcomes["exact" if came == whole[name] else "what it says"] += 1
        if name == "checkpoint.safetensors":
            shutil.copytree(sound, folder, dirs_exist_ok=True)
        else:
            shutil.copy(sound / name, folder / name)
    return outcomes


@pytest.mark.filterwarnings("ignore:the environment does not repeat itself")
def test_no_damaged_file_is_believed(sound, tmp_path):
    outcomes = tally(sound, tmp_path / "damaged", 500, seed=0)
    assert outcomes["refused"] > 400


def test_a_graph_that_no_memory_holds_is_refused(sound, tmp_path):
    content = json.loads(overblown(sound / "graph.json", random.Random(0)))
    content["nodes"] = content["nodes"][:1] * 20_000
    (tmp_path / "graph.json").write_text(json.dumps(content))
    with pytest.raises(StorageError, match=r"at most 100,000,000 pairs .*, not 20,000 nodes with 1,000,000 actions"):
        read_json(tmp_path / "graph.json")


def test_a_model_that_no_memory_holds_is_refused(sound, tmp_path):
    folder = shutil.copytree(sound, tmp_path / "run")
    tensors, metadata = opened(sound / "experience.safetensors")
    about = json.loads(metadata["about"]) | {"n_actions": 1_000_000}
    (folder / "experience.safetensors").write_bytes(sealed(tensors, about))
    tensors, metadata = opened(sound / "model.safetensors")
    more = 20_000 - len(tensors["starts"])
    tensors["starts"] = np.append(tensors["starts"], np.ones(more))
    tensors["sizes"][-1] += more
    tensors = {name: tensors[name] for name in tensors if name not in ("utility", "closed", "information", "foreseen")}
    (folder / "model.safetensors").write_bytes(sealed(tensors, metadata["about"]))
    with pytest.raises(StorageError, match=r"at most 100,000,000 pairs .*, not 20,000 nodes with 1,000,000 actions"):
        efex.load(folder)


def test_a_file_that_does_not_fit_into_memory_is_one_that_cannot_be_read(sound, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(efex.graph.export, "from_content", full)
    with pytest.raises(StorageError, match="does not hold a graph"):
        read_json(sound / "graph.json")


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore:the environment does not repeat itself")
def test_ten_thousand_damaged_files(sound, tmp_path):
    outcomes = tally(sound, tmp_path / "damaged", 10_000, seed=1)
    print(f"\n10,000 damaged files: {dict(outcomes)}")
    assert outcomes.total() == 10_000
