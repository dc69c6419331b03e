"""POMDP files, read back by a small parser of the format."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from graph_examples import grid, stochastic_graphs
from hypothesis import given

from efex.errors import InvalidArgumentError
from efex.graph import LatentGraph

HEADERS = ("discount", "values", "states", "actions", "observations", "start")


def parse(text):
    """The content of a .POMDP file, probabilities as exact fractions of what is printed."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    header, entries = {}, []
    for line in filter(None, lines):
        key, _, rest = line.partition(":")
        if key in HEADERS:
            assert not entries, "headers come first"
            header[key] = rest.strip()
        else:
            *names, last = (part.strip() for part in rest.split(":"))
            name, value = last.split()
            entries.append((key, (*names, name), Fraction(value)))
    assert tuple(header) == HEADERS
    n, m, k = (int(header[name]) for name in ("states", "actions", "observations"))
    begin = [Fraction(1, n)] * n if header["start"] == "uniform" else list(map(Fraction, header["start"].split()))
    pomdp = SimpleNamespace(header=header, start=begin, T={}, O={}, R={})
    sizes = {"T": (m, n, n), "O": (m, n, k), "R": (m, n, n, k)}
    for kind, names, value in entries:
        assert len(names) == len(sizes[kind])
        chosen = [range(s) if name == "*" else [int(name)] for name, s in zip(names, sizes[kind], strict=True)]
        assert all(c[0] in range(s) for c, s in zip(chosen, sizes[kind], strict=True))
        if kind == "R":
            pomdp.R[names] = value
        else:
            table = getattr(pomdp, kind)
            for action in chosen[0]:
                table.setdefault((action, chosen[1][0]), {})[chosen[2][0]] = value
    assert set(pomdp.T) == set(pomdp.O) == {(action, node) for action in range(m) for node in range(n)}
    return pomdp


@given(stochastic_graphs())
def test_a_pomdp_reads_back_as_the_graph(graph):
    pomdp = parse(graph.to_pomdp())
    for (action, source), row in pomdp.T.items():
        assert sum(row.values()) == 1
        if graph.tried[source, action]:
            exact = graph.transition(action).toarray()[source]
            assert {target: float(p) for target, p in row.items()} == pytest.approx(
                {target: p for target, p in enumerate(exact) if p > 0}, abs=1e-11
            )
        else:
            assert row == {source: 1}
    assert all(row == {graph.codes[node]: 1} for (_, node), row in pomdp.O.items())
    assert sum(pomdp.start) == 1
    assert [node for node, share in enumerate(pomdp.start) if share > 0] == list(graph.starts)


def test_rows_sum_to_one_as_printed_whatever_their_shares():
    random = np.random.default_rng(0)
    matrix = random.dirichlet(np.full(50, 0.05), size=50)
    graph = LatentGraph.from_matrices(range(50), [matrix], starts=[0, 3, 7])
    pomdp = parse(graph.to_pomdp())
    assert all(sum(row.values()) == 1 and min(row.values()) >= 0 for row in pomdp.T.values())
    assert sum(pomdp.start) == 1
    assert pomdp.start[3] == pytest.approx(1 / 3, abs=1e-11)


def test_untried_and_closed_pairs_stay_and_say_so():
    graph = LatentGraph.from_walks("ab", 2, [(0, 0, 1)]).block(1, 1)
    lines = graph.to_pomdp().splitlines()
    for state, entry in (("untried", "T: 0 : 1 : 1 1"), ("untried", "T: 1 : 0 : 0 1"), ("closed", "T: 1 : 1 : 1 1")):
        assert lines[lines.index(entry) - 1] == f"# {state}, so it stays:"


def test_what_a_tag_says_is_paid():
    graph = grid(2, symbols=2).tag(3, reward=10).tag(1, reward=-0.5).tag(0, reward="much").tag(2, reward=True)
    paid = parse(graph.to_pomdp(discount=0.9)).R
    assert paid == {("*",) * 4: 0, ("*", "*", "1", "*"): Fraction(-1, 2), ("*", "*", "3", "*"): 10}


def test_headers_and_comments_hold_any_symbol(tmp_path):
    graph = LatentGraph.from_matrices(["ü\n# T: 0", (1, None)], [np.eye(2)])
    path = graph.write(tmp_path / "map.POMDP")
    text = path.read_text(encoding="utf-8")
    assert text == graph.to_pomdp()
    assert text.isascii()
    header = parse(text).header
    assert header["discount"] == "0.95"
    assert header["values"] == "reward"
    assert header["start"] == "uniform"
    assert "# observation 1 is (1, None)" in text


@pytest.mark.parametrize("discount", [0, 1.5, "high", None])
def test_a_discount_that_is_none_is_refused(discount):
    with pytest.raises(InvalidArgumentError, match="discount must be"):
        grid(2, symbols=2).to_pomdp(discount=discount)


def test_a_graph_without_nodes_is_no_pomdp():
    with pytest.raises(InvalidArgumentError, match="a node and an action"):
        LatentGraph.from_walks([], 1, []).to_pomdp()
