from __future__ import annotations

import json
import math
import re

import networkx as nx
import numpy as np
import pytest
from graph_examples import grid, stochastic_graphs
from hypothesis import given

from efex.errors import InvalidArgumentError, StorageError
from efex.graph import LatentGraph
from efex.graph.export import read_json

SYMBOLS = [None, True, 1, 1.0, -0.5, math.inf, "a", 'say "hi"\\', "ü\n<&>", b"\x00\xff", (1, ("x", b"y"), None), ""]


@pytest.fixture
def odd() -> LatentGraph:
    """Return a chain through one symbol of every kind."""
    steps = [(node, 0, (node + 1) % len(SYMBOLS)) for node in range(len(SYMBOLS))]
    return LatentGraph.from_walks(SYMBOLS, 2, steps, starts=[0, 3], utility=np.arange(len(SYMBOLS)))


def same(first: LatentGraph, second: LatentGraph) -> bool:
    kinds = [[(type(symbol), symbol) for symbol in graph.observations] for graph in (first, second)]
    return kinds[0] == kinds[1] and first.starts == second.starts and list(first.edges()) == list(second.edges())


def test_json_reads_back_every_symbol(odd, tmp_path):
    again = read_json(odd.write(tmp_path / "map.json"))
    assert same(odd, again)
    assert again.utility.tolist() == odd.utility.tolist()
    assert again.coordinates is None


def test_json_says_what_it_is_and_keeps_exact_counts(tmp_path):
    graph = grid(3, symbols=2)
    path = graph.write(tmp_path / "map.json")
    content = json.loads(path.read_text())
    assert (content["format"], content["version"]) == ("efex-graph", 1)
    assert {edge["count"] for edge in content["edges"]} == {None}
    again = read_json(path)
    assert same(graph, again)
    assert np.array_equal(again.coordinates, graph.coordinates)


@given(stochastic_graphs())
def test_json_round_trip(tmp_path_factory, graph):
    assert same(graph, read_json(graph.write(tmp_path_factory.mktemp("json") / "map.json")))


def test_graphml_reads_back(odd, tmp_path):
    again = nx.read_graphml(odd.write(tmp_path / "map.graphml"), node_type=int, force_multigraph=True)
    assert nx.utils.graphs_equal(nx.MultiDiGraph(again.edges()), nx.MultiDiGraph(odd.to_networkx().edges()))
    assert again.nodes[6]["observation"] == "a"
    assert again.nodes[9]["observation"] == repr(b"\x00\xff")
    assert {(d["action"], d["probability"], d["count"]) for *_, d in again.edges(data=True)} == {(0, 1.0, 1.0)}


def test_graphml_holds_exact_counts_and_control_characters(tmp_path):
    graph = LatentGraph.from_matrices(["\x00", "b"], [np.eye(2)])
    again = nx.read_graphml(graph.write(tmp_path / "map.graphml"), force_multigraph=True)
    assert again.nodes["0"]["observation"] == repr("\x00")
    assert all(math.isinf(data["count"]) for *_, data in again.edges(data=True))


def test_networkx_has_every_edge():
    graph = grid(4, symbols=3, slip=0.2)
    exported = graph.to_networkx()
    assert exported.number_of_nodes() == 16
    assert exported.number_of_edges() == graph.n_edges
    assert [exported.nodes[node]["observation"] for node in exported] == list(graph.observations)
    totals = {}
    for source, _, data in exported.edges(data=True):
        key = source, data["action"]
        totals[key] = totals.get(key, 0) + data["probability"]
    assert list(totals.values()) == pytest.approx([1.0] * 64)


def test_dot_escapes_labels(odd, tmp_path):
    text = odd.write(tmp_path / "map.DOT").read_text(encoding="utf-8")
    assert text.startswith("digraph {\n")
    assert text.endswith("}\n")
    assert r'7 [label="say \"hi\"\\"];' in text
    assert r'8 [label="ü\n<&>"];' in text
    assert text.count(" -> ") == odd.n_edges
    unquoted = re.sub(r'"(\\.|[^"\\])*"', "", text)
    assert '"' not in unquoted


def test_a_failed_write_leaves_nothing(tmp_path):
    graph = LatentGraph.from_matrices([object()], [[[1.0]]])
    with pytest.raises(InvalidArgumentError, match="observations must be"):
        graph.write(tmp_path / "map.json")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_ending_names_the_known(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"\.graphml, \.dot, \.json"):
        grid(2, symbols=2).write(tmp_path / "map.xml")


@pytest.mark.parametrize("name", ["map.json", "map.dot", "map.graphml", "map.png"])
def test_an_unwritable_folder_is_a_storage_error(name, tmp_path):
    (tmp_path / "file").write_text("")
    graph = grid(2, symbols=2)
    for folder in ("missing", "file"):
        with pytest.raises(StorageError, match="cannot be written"):
            (graph.plot if name.endswith("png") else graph.write)(tmp_path / folder / name)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "efex-graph", "version": 2}', '{"format": "efex-graph", "version": 1}']
)
def test_a_foreign_file_is_a_storage_error(text, tmp_path):
    path = tmp_path / "map.json"
    path.write_text(text)
    with pytest.raises(StorageError):
        read_json(path)
    with pytest.raises(StorageError):
        read_json(tmp_path / "missing.json")
