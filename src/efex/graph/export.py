"""Graphs for other programs: NetworkX, GraphML, DOT, and JSON that reads back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from efex.errors import InvalidArgumentError, StorageError
from efex.graph.latent import LatentGraph
from efex.symbols import Symbol, decode_symbol, encode_symbol, symbol_text

FORMAT = "efex-graph"
VERSION = 1


def to_networkx(graph: LatentGraph) -> Any:
    """Return a networkx.MultiDiGraph: nodes carry `observation`, edges `action`, `probability`, `count`."""
    import networkx as nx  # takes a while to load, and only this needs it

    exported = nx.MultiDiGraph()
    for node, observation in enumerate(graph.observations):
        exported.add_node(node, observation=observation)
    for source, action, target, probability, count in graph.edges():
        exported.add_edge(source, target, action=action, probability=probability, count=count)
    return exported


def write(graph: LatentGraph, path: str | Path) -> Path:
    """Write the graph to `path`, as .graphml, .dot or .json by its ending, and return the path."""
    target = Path(path)
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        raise InvalidArgumentError(f"path must end in {', '.join(WRITERS)}, not {target.suffix!r}: {target}")
    with replacing(target) as draft:
        writer(graph, draft)
    return target


def read_json(path: str | Path) -> LatentGraph:
    """Return the graph that `write` put into a .json file."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise StorageError(
                f"{path} holds {content['format']!r} version {content['version']!r}; "
                f"this efex reads {FORMAT!r} version {VERSION}"
            )
        return from_content(content)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError(f"{path} does not hold a graph that efex wrote: {error!r}") from error


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
    nx.write_graphml(exported, path)


def _write_dot(graph: LatentGraph, path: Path) -> None:
    lines = ["digraph {"]
    lines += [
        f"  {node} [label={_quoted(symbol_text(observation))}];" for node, observation in enumerate(graph.observations)
    ]
    for source, action, target, probability, count in graph.edges():
        label = f"{action}" if probability == 1 else f"{action}: {probability:.3g}"
        walked = "" if math.isinf(count) else f', count="{count:g}"'
        lines.append(f'  {source} -> {target} [label="{label}", action="{action}"{walked}];')
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def _quoted(text: str) -> str:
    # In a label a backslash starts an escape of its own, such as \N for the node's name.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _write_json(graph: LatentGraph, path: Path) -> None:
    path.write_text(json.dumps(to_content(graph), allow_nan=False, indent=1), encoding="utf-8")


def to_content(graph: LatentGraph) -> dict[str, Any]:
    """Return the graph as lists, numbers and text, as a .json file holds it."""
    nodes = [{"observation": encode_symbol(observation)} for observation in graph.observations]
    return {
        "format": FORMAT,
        "version": VERSION,
        "n_actions": graph.n_actions,
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
    )


WRITERS: dict[str, Callable[[LatentGraph, Path], None]] = {
    ".graphml": _write_graphml,
    ".dot": _write_dot,
    ".json": _write_json,
}
