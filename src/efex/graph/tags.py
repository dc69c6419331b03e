"""Tags: what a user notes down about nodes, kept with the graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from efex.errors import InvalidArgumentError

Tag = str | int | float | bool
"""What a tag can hold."""

Tags = Mapping[int, Mapping[str, Tag]]
"""The tags of every node that has any."""

TAKEN = ("observation", "label")
"""Names that a node's attributes have in exported files already."""


def check_tags(tags: Tags, n_nodes: int) -> dict[int, dict[str, Tag]]:
    """Return a copy of the tags in the order of the nodes, or say what they must be."""
    for node, noted in tags.items():
        _check_node(node, n_nodes)
        if not isinstance(noted, Mapping):
            raise InvalidArgumentError(f"the tags of node {node} must be a mapping from names to values, not {noted!r}")
    return {
        int(node): {key: _checked(key, value) for key, value in tags[node].items()}
        for node in sorted(tags)
        if tags[node]
    }


def _check_node(node: Any, n_nodes: int) -> None:
    if isinstance(node, bool) or not isinstance(node, int | np.integer) or not 0 <= node < n_nodes:
        raise InvalidArgumentError(f"tags must be given to a node 0 to {n_nodes - 1}, not to {node!r}")


def _checked(key: Any, value: Any) -> Tag:
    if not isinstance(key, str) or not key.isidentifier() or key in TAKEN:
        raise InvalidArgumentError(
            f"a tag's name must be one word of letters, digits and _ other than {' and '.join(TAKEN)}, not {key!r}"
        )
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, str | int | float) or (isinstance(plain, float) and not math.isfinite(plain)):
        raise InvalidArgumentError(f"tag {key} must be a string, a finite number, True or False, not {value!r}")
    return plain


def add_tags(tags: Tags, node: int, noted: Mapping[str, Tag], *, n_nodes: int) -> dict[int, Mapping[str, Tag]]:
    """Return the tags with more noted down at `node`; of two with one name the new one stays."""
    _check_node(node, n_nodes)
    return {**tags, node: {**tags.get(node, {}), **noted}}


def rename_tags(tags: Tags, new: Sequence[int] | NDArray[np.int64]) -> dict[int, dict[str, Tag]]:
    """Return the tags of the nodes after node i became `new[i]`, or was dropped where that is negative.

    Nodes that became one have the tags of all; of two with one name, the first node's stays.
    """
    renamed: dict[int, dict[str, Tag]] = {}
    for node in sorted(tags):
        if new[node] >= 0:
            there = renamed.setdefault(int(new[node]), {})
            there.update({key: value for key, value in tags[node].items() if key not in there})
    return renamed


def nodes_tagged(tags: Tags, wanted: str | tuple[str, Tag]) -> list[int]:
    """Return the nodes that have a tag of that name, or of that name and value."""
    if isinstance(wanted, str):
        return [node for node, noted in tags.items() if wanted in noted]
    if not isinstance(wanted, tuple) or len(wanted) != 2:
        raise InvalidArgumentError(f"tag must be a name or a pair of a name and a value, not {wanted!r}")
    key, value = wanted
    # True == 1 in Python; as tags they are two different things.
    return [
        node
        for node, noted in tags.items()
        if key in noted and noted[key] == value and isinstance(noted[key], bool) == isinstance(value, bool)
    ]
