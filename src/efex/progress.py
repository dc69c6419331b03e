"""Progress: one line that says how far an exploration is and what it has found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from efex.agents import Agent
from efex.graph import LatentGraph
from efex.status import first_wait

REFRESH = 25
"""Steps between two updates of the display."""


class Progress(Protocol):
    """Something that is told of every step."""

    def resume(self, actions: list[int], true_nodes: list[int]) -> None:
        """Take note of the steps that an earlier process took: actions from each observation, -1 where none was."""

    def step(self, agent: Agent, action: int | None, true_nodes: list[int]) -> None:
        """Take note of the step that just happened."""


class Silent:
    """Shows nothing."""

    def resume(self, actions: list[int], true_nodes: list[int]) -> None:
        """Ignore the steps."""

    def step(self, agent: Agent, action: int | None, true_nodes: list[int]) -> None:
        """Ignore the step."""


class Bar:
    """A progress bar with coverage of the truth where it is known, and the agent's own figures.

    Where there is no terminal to draw it on, a line is written at every tenth instead.
    """

    def __init__(self, bar: Any, task: Any, truth: Any, total: int) -> None:
        self._bar, self._task, self._truth, self._total = bar, task, truth, total
        self._walked: set[tuple[int, int, int]] = set()
        self._covered = 0.0
        self._steps = 0

    def step(self, agent: Agent, action: int | None, true_nodes: list[int]) -> None:
        """Move the bar; a reset, which has no action, is not a step."""
        if action is None:
            return
        self._count(true_nodes[-2], action, true_nodes[-1])
        tenth = self._steps * 10 // self._total > (self._steps - 1) * 10 // self._total
        if self._steps % REFRESH == 0 or tenth:
            figures = self._figures(agent)
            self._bar.update(self._task, completed=self._steps, figures=figures)
            if tenth and not self._bar.console.is_terminal:
                self._bar.console.print(f"{self._steps}/{self._total} steps, {figures}", highlight=False)

    def resume(self, actions: list[int], true_nodes: list[int]) -> None:
        """Move the bar to where an earlier process came."""
        for action, source, target in zip(actions, true_nodes, true_nodes[1:]):
            if action >= 0:
                self._count(source, action, target)
        self._bar.update(self._task, completed=self._steps)

    def _count(self, source: int, action: int, target: int) -> None:
        self._steps += 1
        edge = (source, action, target)
        if self._truth is not None and edge not in self._walked:
            self._walked.add(edge)
            self._covered += self._truth.get(edge, 0.0)

    def _figures(self, agent: Agent) -> str:
        figures = [f"{name} {value:.3g}" for name, value in agent.status.items()]
        if self._truth is not None:
            figures.insert(0, f"coverage {self._covered / sum(self._truth.values()):.2f}")
        return ", ".join(figures)


@contextmanager
def progress_display(truth: LatentGraph | None, steps: int, *, enabled: bool) -> Iterator[Progress]:
    """Show a bar while the block runs, or nothing when it is not enabled."""
    if not enabled:
        yield Silent()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    known = None if truth is None else {(e.source, e.action, e.target): e.probability for e in truth.edges()}
    columns = (
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
    )
    with RichProgress(*columns) as bar:
        waiting = first_wait()
        if not bar.console.is_terminal:
            bar.console.print(f"exploring {waiting}".strip())
        yield Bar(bar, bar.add_task("explore", total=steps, figures=waiting), known, steps)
