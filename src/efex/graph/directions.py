"""Directions in words: places that a user names, and a plan as a table or as JSON."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from efex.errors import InvalidArgumentError
from efex.graph.action_names import action_text
from efex.graph.plan import Plan
from efex.graph.tags import Tag
from efex.near import near
from efex.symbols import encode_symbol, symbol_text

if TYPE_CHECKING:
    from efex.graph.latent import LatentGraph

NUMBER = re.compile("0|[1-9][0-9]*")
"""A node's number, in the one way to write it."""


def named_nodes(graph: LatentGraph, text: str, *, name: str = "a place") -> list[int]:
    """Return the nodes that a text names: a number is a node, anything else an observation or a tag.

    `name` is what the place is called in messages.

    An observation that looks like a number is named observation=7; one that no number is written like, such as 01, by
    itself. A tag is named room=kitchen, or by its name alone.

    >>> import efex
    >>> graph = efex.make("chain", length=5).truth.tag(2, room="kitchen")
    >>> named_nodes(graph, "3"), named_nodes(graph, "room=kitchen"), named_nodes(graph, "observation=1")
    ([3], [2], [1])
    """
    shown = [symbol_text(symbol) for symbol in graph.observations]
    if NUMBER.fullmatch(text):
        if len(text) > len(str(graph.n_nodes)) or int(text) >= graph.n_nodes:
            hint = f"; the observation is observation={text}" if text in shown else ""
            raise InvalidArgumentError(f"{name} must be a node 0 to {graph.n_nodes - 1}, not {text}{hint}")
        return [int(text)]
    key, equals, value = text.partition("=")
    if found := [
        node for node, words in enumerate(shown) if words == text or (key == "observation" and words == value)
    ]:
        return found
    if found := [
        node for node, tags in graph.tags.items() if key in tags and (not equals or value in _spellings(tags[key]))
    ]:
        return found
    raise InvalidArgumentError(
        f"{name} must be a node's number, an observation or a tag of the map, not {text!r}"
        + near(text, sorted(set(shown)))
    )


def named_node(graph: LatentGraph, text: str, *, name: str = "a place") -> int:
    """Return the one node that a text names."""
    nodes = named_nodes(graph, text, name=name)
    if len(nodes) > 1:
        some = ", ".join(map(str, nodes[:8])) + (", ..." if len(nodes) > 8 else "")
        raise InvalidArgumentError(
            f"{name} must be one node, but {text!r} are {len(nodes)}: {some}; give one by its number"
        )
    return nodes[0]


def _spellings(tag: Tag) -> set[str]:
    return {str(tag), str(tag).lower()} if isinstance(tag, bool) else {str(tag)}


def plan_table(graph: LatentGraph, plan: Plan) -> str:
    """Return the likeliest run of a plan as a table: after every step the node, and what it shows."""
    actions = ["", *(action_text(graph, action) for action in plan.actions)]
    width = max(6, *map(len, actions)) + 2
    shown = [symbol_text(graph.observations[node]).replace("\n", " ") for node in plan.nodes]
    lines = [_headline(graph, plan), f"{'step':>6}{'action':>{width}}{'node':>8}  shows"]
    lines += [
        f"{step:>6}{action:>{width}}{node:>8}  {words}".rstrip()
        for step, (action, node, words) in enumerate(zip(actions, plan.nodes, shown, strict=True))
    ]
    return "\n".join(lines)


def _headline(graph: LatentGraph, plan: Plan) -> str:
    if not plan.actions:
        return f"node {plan.nodes[0]} is a target already"
    actions = "action " if len(plan.actions) == 1 else "actions "
    between = " " if graph.action_names is None else ", "
    taken = actions + between.join(action_text(graph, action) for action in plan.actions)
    if math.isinf(plan.expected_steps):
        return f"{taken}; no policy is sure to arrive, and all goes like this with probability {plan.probability:.3g}"
    expected = f"expected steps {plan.expected_steps:.4g}"
    return f"{taken}; {expected}" + (
        "" if plan.probability == 1 else f", like this with probability {plan.probability:.3g}"
    )


def plan_content(graph: LatentGraph, plan: Plan) -> dict[str, Any]:
    """Return the plan as lists, numbers and text for JSON; null where the expected steps are infinite."""
    names = graph.action_names
    named = {} if names is None else {"action_names": [names[action] for action in plan.actions]}
    return {
        "source": plan.nodes[0],
        "targets": list(plan.targets),
        "expected_steps": plan.expected_steps if math.isfinite(plan.expected_steps) else None,
        "probability": plan.probability,
        "actions": list(plan.actions),
        **named,
        "nodes": list(plan.nodes),
        "observations": [encode_symbol(graph.observations[node]) for node in plan.nodes],
        "policy": plan.policy.tolist(),
    }
