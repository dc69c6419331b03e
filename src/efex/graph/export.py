"""Graphs for other programs: NetworkX, GraphML, DOT, POMDP, and JSON that reads back."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from efex.checks import place
from efex.errors import InvalidArgumentError, StorageError
from efex.graph.action_names import action_text
from efex.graph.latent import LatentGraph
from efex.graph.pomdp import to_pomdp
from efex.symbols import Symbol, decode_symbol, encode_symbol, symbol_text

FORMAT = "efex-graph"
VERSION = 1
MOST_ACTIONS = 1_000_000
"""More actions than this no file is believed to have: tables are made as long as it says."""
MOST_PAIRS = 100_000_000
"""More pairs of a node and an action than this no file is believed to have: a table of them takes a gigabyte."""


def to_networkx(graph: LatentGraph) -> Any:
    """Return a networkx.MultiDiGraph: nodes carry `observation` and their tags, edges all that an Edge has.

    Where actions have names, edges carry `action_name` too.
    """
    import networkx as nx  # takes a while to load, and only this needs it

    exported = nx.MultiDiGraph()
    for node, observation in enumerate(graph.observations):
        exported.add_node(node, observation=observation, **graph.tags.get(node, {}))
    for edge in graph.edges():
        about = edge._asdict()
        ends = about.pop("source"), about.pop("target")
        if graph.action_names is not None:
            about["action_name"] = graph.action_names[edge.action]
        exported.add_edge(*ends, **about)
    return exported


def write(graph: LatentGraph, path: str | Path) -> Path:
    """Write the graph to `path`, as .graphml, .dot, .json or .POMDP by its ending, and return the path."""
    target = place("path", path)
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        raise InvalidArgumentError(f"path must end in {', '.join(WRITERS)}, not {target.suffix!r}: {target}")
    with replacing(target) as draft:
        writer(graph, draft)
    return target


def read_json(path: str | Path) -> LatentGraph:
    """Return the graph that `write` put into a .json file, with its tags and blocked pairs.

    >>> import efex
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> graph = efex.make("chain", length=5).truth.tag(4, room="kitchen")
    >>> with TemporaryDirectory() as folder:
    ...     read_json(graph.write(Path(folder, "graph.json"))).plan(0, tag="room").expected_steps
    4.0
    """
    file = place("path", path)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise StorageError(
                f"{path} holds {content['format']!r} version {content['version']!r}; "
                f"this efex reads {FORMAT!r} version {VERSION}"
            )
        if content.pop("checksum", None) not in (None, _checksum(content)):
            raise StorageError(f"{path} is damaged: its checksum does not fit; if you edited it, delete the checksum")
        if type(content["n_actions"]) is not int or not 0 <= content["n_actions"] <= MOST_ACTIONS:
            raise StorageError(f"{path} must have 0 to {MOST_ACTIONS} actions, not {content['n_actions']!r}")
        check_pairs(f"{path}", len(content["nodes"]), content["n_actions"])
        graph = from_content(content)
        hash(graph.observations)  # what cannot be looked up is no symbol
        return graph
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
    except json.JSONDecodeError as error:
        raise StorageError(f"{path} is not a graph that efex wrote as .json: {error}") from error
    except (
        *(ValueError, KeyError, TypeError, AttributeError, IndexError),
        *(OverflowError, RecursionError, MemoryError),
    ) as error:
        raise StorageError(f"{path} does not hold a graph that efex wrote: {error!r}") from error


def check_pairs(what: str, n_nodes: int, n_actions: int) -> None:
    """Refuse what has more pairs of a node and an action than there is room for in tables."""
    if n_nodes * n_actions > MOST_PAIRS:
        raise StorageError(
            f"{what} must have at most {MOST_PAIRS:,} pairs of a node and an action, not {n_nodes:,} nodes with "
            f"{n_actions:,} actions each"
        )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to, which becomes `path` once written whole: no reader ever meets half a file."""
    draft = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(f"{path} cannot be written: {reason}; choose a folder that exists") from error
    finally:
        if draft.is_file():
            draft.unlink()


def _write_graphml(graph: LatentGraph, path: Path) -> None:
    import networkx as nx

    exported = to_networkx(graph)
    for node, observation in enumerate(graph.observations):
        exported.nodes[node]["observation"] = symbol_text(observation)
    for node, tags in graph.tags.items():
        exported.nodes[node].update({key: symbol_text(tag) for key, tag in tags.items() if isinstance(tag, str)})
    nx.write_graphml(exported, path)


def _write_dot(graph: LatentGraph, path: Path) -> None:
    lines = ["digraph {"]
    for node, observation in enumerate(graph.observations):
        tags = "".join(f', "{key}"={_quoted(str(tag))}' for key, tag in graph.tags.get(node, {}).items())
        lines.append(f"  {node} [label={_quoted(symbol_text(observation))}{tags}];")
    for source, action, target, probability, count, *_ in graph.edges():
        name = action_text(graph, action)
        label = _quoted(name if probability == 1 else f"{name}: {probability:.3g}")
        walked = "" if math.isinf(count) else f', count="{count:g}"'
        lines.append(f'  {source} -> {target} [label={label}, action="{action}"{walked}];')
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def _quoted(text: str) -> str:
    # In a label a backslash starts an escape of its own, such as \N for the node's name.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _write_json(graph: LatentGraph, path: Path) -> None:
    content = to_content(graph)
    content["checksum"] = _checksum(content)
    path.write_text(json.dumps(content, allow_nan=False, indent=1), encoding="utf-8")


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def to_content(graph: LatentGraph) -> dict[str, Any]:
    """Return the graph as lists, numbers and text, as a .json file holds it."""
    nodes: list[dict[str, Any]] = [{"observation": encode_symbol(observation)} for observation in graph.observations]
    for node, tags in graph.tags.items():
        nodes[node]["tags"] = dict(tags)
    named = {} if graph.action_names is None else {"action_names": list(graph.action_names)}
    return {
        "format": FORMAT,
        "version": VERSION,
        "n_actions": graph.n_actions,
        **named,
        "starts": list(graph.starts),
        "nodes": nodes,
        "coordinates": None if graph.coordinates is None else graph.coordinates.tolist(),
        "utility": None if graph.utility is None else graph.utility.tolist(),
        "closed": None if graph.closed is None else graph.closed.tolist(),
        "edges": [
            {**edge._asdict(), "count": None if math.isinf(edge.count) else edge.count} for edge in graph.edges()
        ],
    }


def from_content(content: dict[str, Any]) -> LatentGraph:
    """Return the graph that `to_content` took apart."""
    edges = content["edges"]
    observations: list[Symbol] = [decode_symbol(node["observation"]) for node in content["nodes"]]
    counts = [math.inf if edge["count"] is None else edge["count"] for edge in edges]
    return LatentGraph(
        observations=tuple(observations),
        n_actions=int(content["n_actions"]),
        source=np.array([edge["source"] for edge in edges], np.int64),
        action=np.array([edge["action"] for edge in edges], np.int64),
        target=np.array([edge["target"] for edge in edges], np.int64),
        probability=np.array([edge["probability"] for edge in edges], np.float64),
        count=np.array(counts, np.float64),
        starts=tuple(content["starts"]),
        coordinates=None if content["coordinates"] is None else np.array(content["coordinates"], np.float64),
        utility=None if content["utility"] is None else np.array(content["utility"], np.float64),
        closed=None if content["closed"] is None else np.array(content["closed"], bool),
        tags={number: node["tags"] for number, node in enumerate(content["nodes"]) if "tags" in node},
        action_names=content.get("action_names"),
    )


def _write_pomdp(graph: LatentGraph, path: Path) -> None:
    path.write_text(to_pomdp(graph), encoding="utf-8")


WRITERS: dict[str, Callable[[LatentGraph, Path], None]] = {
    ".graphml": _write_graphml,
    ".dot": _write_dot,
    ".json": _write_json,
    ".pomdp": _write_pomdp,
}
