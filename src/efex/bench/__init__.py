"""Benchmarks: what the core costs, as ratios inside one run, each beside its bar and a check that the result is right.

`efex bench` runs them; benchmarks/README.md keeps what it printed.
"""
