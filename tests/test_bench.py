"""The benchmarks' table, and the parts of it that are quick; timings themselves are never tested."""

import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from efex.bench import scale, table, utility
from efex.bench.measuring import Line
from efex.cli import app
from efex.utility import information_gain


def line(figure: float, *, right: bool = True) -> Line:
    return Line("something", figure, "s", 1.0, "compared with the truth", right)


@pytest.mark.parametrize(
    ("lines", "met"),
    [([line(0.5)], True), ([line(0.5), line(1.5)], False), ([line(0.5, right=False)], False)],
)
def test_a_missed_bar_or_a_wrong_result_fails_the_command(monkeypatch, lines, met):
    monkeypatch.setattr(table, "CASES", {"mine": lambda: iter(lines)})
    monkeypatch.setattr(table, "product_time", lambda: 0.1)
    result = CliRunner().invoke(app, ["bench", "mine"])
    assert result.exit_code == (0 if met else 1)
    rows = [row for row in result.output.splitlines() if row.startswith("| something")]
    assert len(rows) == len(lines)
    assert ("WRONG" in result.output) == any(not each.right for each in lines)


def test_an_unknown_benchmark_is_named():
    result = CliRunner().invoke(app, ["bench", "nothing"])
    assert result.exit_code != 0
    assert "nothing" in str(result.exception or result.output)


def test_the_sampled_utility_estimates_the_closed_form_from_below():
    row = np.array([3.0, 1.0, 0.5, 0.5])
    rng = np.random.default_rng(0)
    few, many = (np.mean([utility.sampled_gain(row, n, rng) for _ in range(400)]) for n in (3, 300))
    exact = float(information_gain(row))
    assert few < 0.9 * exact
    assert many == pytest.approx(exact, rel=0.02)


def test_the_scale_report_counts_every_step():
    found = scale.report(6)
    assert found["sound"]
    assert found["steps"] == 700
    assert found["entries"] >= found["blocks"]


def test_importing_efex_loads_nothing_heavy():
    heavy = "import efex, sys; print({'scipy.special', 'matplotlib', 'jax', 'joblib'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True).stdout == "set()\n"
