"""Tags: noted down, kept by what is done with a graph, and written to files."""

import json
import re

import networkx as nx
import numpy as np
import pytest
from graph_examples import grid, split

from efex.errors import InvalidArgumentError, StorageError
from efex.graph import LatentGraph
from efex.graph.export import read_json
from efex.graph.tags import nodes_tagged

EVERY_KIND = {"room": 'a "big" <hall>', "floor": 2, "warmth": 21.5, "open": True, "node": 0}


@pytest.fixture
def tagged():
    return grid(3, symbols=2).tag(4, **EVERY_KIND).tag(1, room="kitchen")


def test_a_tag_is_noted_on_a_new_graph():
    graph = grid(2, symbols=2)
    tagged = graph.tag(3, room="kitchen").tag(3, room="hall", floor=1).tag(0, floor=2)
    assert graph.tags == {}
    assert tagged.tags == {0: {"floor": 2}, 3: {"room": "hall", "floor": 1}}
    assert list(tagged.tags) == [0, 3]


def test_tags_of_numpy_become_plain_values():
    value = grid(2, symbols=2).tag(np.int64(3), floor=np.int64(2)).tags[3]["floor"]
    assert type(value) is int


@pytest.mark.parametrize(
    ("node", "tags", "says"),
    [
        (4, {"room": "hall"}, "node 0 to 3"),
        (-1, {"room": "hall"}, "node 0 to 3"),
        (True, {"room": "hall"}, "node 0 to 3"),
        ("a", {"room": "hall"}, "node 0 to 3"),
        (0, {"room": None}, "tag room must be"),
        (0, {"room": ("a", "b")}, "tag room must be"),
        (0, {"warmth": float("nan")}, "finite"),
        (0, {"observation": "a"}, "other than observation and label"),
        (0, {"two words": 1}, "one word"),
    ],
)
def test_what_is_no_tag_is_refused(node, tags, says):
    with pytest.raises(InvalidArgumentError, match=says):
        grid(2, symbols=2).tag(node, **tags)


def test_true_and_one_are_two_different_tags():
    tags = {0: {"open": True}, 1: {"open": 1}, 2: {"open": 1.0}, 3: {"closed": 1}}
    assert nodes_tagged(tags, "open") == [0, 1, 2]
    assert nodes_tagged(tags, ("open", True)) == [0]
    assert nodes_tagged(tags, ("open", 1)) == [1, 2]


def test_tags_follow_their_nodes_when_they_are_renamed(tagged):
    order = np.random.default_rng(0).permutation(9)
    renamed = tagged.relabel(order)
    assert renamed.tags == {int(order[node]): tags for node, tags in tagged.tags.items()}
    assert renamed.relabel(np.argsort(order)).tags == tagged.tags


def test_merged_nodes_have_the_tags_of_all_and_the_first_ones_word():
    twice = split(grid(3, symbols=9), 4)
    merged = twice.tag(9, room="attic", floor=3).tag(4, room="hall").tag(0, room="cellar").merge_equivalent()
    assert merged.n_nodes == 9
    assert merged.tags == {0: {"room": "cellar"}, 4: {"room": "hall", "floor": 3}}


def test_tags_stay_with_the_nodes_that_pruning_leaves():
    graph = LatentGraph.from_walks("abcd", 1, [(1, 0, 2)] + [(2, 0, 3)] * 5 + [(3, 0, 2)] * 5, starts=[2])
    pruned = graph.tag(0, room="gone").tag(1, room="gone").tag(3, room="hall").prune(min_count=2)
    assert pruned.observations == ("c", "d")
    assert pruned.tags == {1: {"room": "hall"}}


def test_json_keeps_tags_and_reads_files_without(tagged, tmp_path):
    path = tagged.write(tmp_path / "map.json")
    again = read_json(path)
    assert again.tags == tagged.tags
    kinds = {key: type(value) for key, value in again.tags[4].items()}
    assert kinds == {key: type(value) for key, value in EVERY_KIND.items()}
    content = json.loads(path.read_text())
    del content["checksum"]
    assert "tags" not in content["nodes"][0]
    for edge in content["edges"]:
        del edge["low"], edge["high"]
    for node in content["nodes"]:
        node.pop("tags", None)
    path.write_text(json.dumps(content))
    assert read_json(path).tags == {}
    assert list(read_json(path).edges()) == list(tagged.edges())


def test_json_with_a_wrong_tag_is_a_storage_error(tagged, tmp_path):
    path = tagged.write(tmp_path / "map.json")
    content = json.loads(path.read_text().replace('"floor"', '"two words"'))
    del content["checksum"]
    path.write_text(json.dumps(content))
    with pytest.raises(StorageError, match="one word"):
        read_json(path)


def test_a_blocked_pair_survives_json(tmp_path):
    blocked = grid(2, symbols=2).block(0, 1)
    assert np.array_equal(read_json(blocked.write(tmp_path / "map.json")).closed, blocked.closed)


def test_tags_are_attributes_in_networkx_and_graphml(tagged, tmp_path):
    assert tagged.to_networkx().nodes[4] == {"observation": tagged.observations[4], **EVERY_KIND}
    again = nx.read_graphml(tagged.write(tmp_path / "map.graphml"), node_type=int, force_multigraph=True)
    assert {key: again.nodes[4][key] for key in EVERY_KIND} == EVERY_KIND
    assert again.nodes[1]["room"] == "kitchen"
    assert "room" not in again.nodes[0]


def test_graphml_holds_one_tag_of_several_kinds_and_control_characters(tmp_path):
    graph = grid(2, symbols=2).tag(0, mark=1).tag(1, mark="\x00").tag(2, mark=True)
    again = nx.read_graphml(graph.write(tmp_path / "map.graphml"), node_type=int, force_multigraph=True)
    assert [again.nodes[node].get("mark") for node in range(4)] == [1, repr("\x00"), True, None]


def test_tags_are_attributes_in_dot(tagged, tmp_path):
    text = tagged.write(tmp_path / "map.dot").read_text(encoding="utf-8")
    assert r'"room"="a \"big\" <hall>", "floor"="2", "warmth"="21.5", "open"="True", "node"="0"];' in text
    assert '"' not in re.sub(r'"(\\.|[^"\\])*"', "", text)
