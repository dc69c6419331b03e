"""Examples in docstrings run, and everything public has one."""

import doctest
import importlib
import inspect
from dataclasses import is_dataclass
from pathlib import Path

import pytest

import efex
import efex.graph
import efex.run
from efex.agents.transfer import Transfer
from efex.agreement import agreement
from efex.graph.export import read_json
from efex.graph.pomdp import to_pomdp
from efex.graph.routes import routes
from efex.held_out import hold_out

SOURCE = Path(efex.__file__).parent
MODULES = [
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]
# What `efex` offers, and what comes back from it: runs and graphs.
PUBLIC = [efex, *filter(inspect.ismodule, (getattr(efex, name) for name in efex.__all__)), efex.run, efex.graph]
# Not in the contract, but the guide or a docstring sends readers there.
BESIDES = [agreement, hold_out, read_json, routes, to_pomdp, Transfer]
EXEMPT = {
    **dict.fromkeys(("Agent.prepare", "Agent.begin", "Agent.act", "Agent.end"), "together in the example of Agent"),
    **dict.fromkeys(("AgentView.reset", "AgentView.step"), "Gymnasium's, and in the example of AgentView"),
    **dict.fromkeys(
        ("Agent.started", "Agent.moved", "Agent.choose", "Agent.finished", "Agent.recover"),
        "for a subclass to fill in, as in the example of Walker; nobody else calls them",
    ),
}


def offered(module):
    """The functions and classes that a module lists, or all that it defines where it lists none."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    names = getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")]
    return [value for value in (getattr(module, name) for name in names) if is_ours(value)]


def is_ours(value):
    return (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__.startswith("efex")


def methods(cls):
    """The docstrings of every public method: its own, and those of what it overrides. Gymnasium's are left out."""
    found = {}
    for name, _ in inspect.getmembers(cls, lambda value: inspect.isfunction(value) or inspect.ismethod(value)):
        above = [base for base in cls.__mro__ if name in vars(base)]
        is_field = name in getattr(cls, "__dataclass_fields__", ())
        if all(map(is_ours, above)) and not is_field and not name.startswith("_"):
            found[f"{above[-1].__name__}.{name}"] = [getattr(base, name).__doc__ for base in above]
    return found


def surface():
    """The docstrings of everything that a user may call, by name; records, protocols and errors are not called."""
    docstrings = {}
    for thing in [*BESIDES, *(thing for module in PUBLIC for thing in offered(module))]:
        if getattr(thing, "_is_protocol", False) or (inspect.isclass(thing) and issubclass(thing, BaseException)):
            continue
        called = methods(thing) if inspect.isclass(thing) else {}
        if called or not (is_dataclass(thing) or hasattr(thing, "_fields")):
            assert docstrings.get(thing.__name__, [thing.__doc__]) == [thing.__doc__], "one of two would be hidden"
            docstrings[thing.__name__] = [thing.__doc__]
        docstrings |= called
    return docstrings


def has_example(docstrings):
    examples = [example for text in docstrings for example in doctest.DocTestParser().get_examples(text or "")]
    return any(not example.options.get(doctest.SKIP) for example in examples)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", [name for name in surface() if name not in EXEMPT])
def test_everything_public_has_an_example(name):
    assert has_example(surface()[name]), f"{name} has no example in its docstring"


def test_the_contract_is_on_the_surface():
    contract = "explore learn load make transfer Navigator.go_to LatentGraph.difference Fit.decode Run.plot precision"
    assert {*contract.split(), *EXEMPT} <= surface().keys()


def test_what_has_no_example_is_noticed(monkeypatch):
    def stroll():
        """Return nothing."""

    stroll.__module__ = "efex.measures"
    monkeypatch.setattr(efex.measures, "stroll", stroll, raising=False)
    monkeypatch.setattr(efex.Navigator, "stroll", stroll, raising=False)
    assert not has_example(surface()["stroll"])
    assert not has_example(surface()["Navigator.stroll"])
