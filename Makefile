# Two commands for a machine with Python 3.11+ and git: `make explore` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORLD ?= sparse-maze
STEPS ?= 10000
SEED ?= 0
UNIQUE_FRACTION ?= 0.3
OUT ?= runs/$(WORLD)-$(SEED)

.PHONY: explore test check verify clean

explore: $(VENV)/.installed  ## explore an aliased world and draw its map; WORLD=, STEPS=, SEED=, UNIQUE_FRACTION= choose
	$(BIN)/efex explore $(WORLD) --unique-fraction $(UNIQUE_FRACTION) --steps $(STEPS) --seed $(SEED) --out $(OUT)

test: $(VENV)/.installed-dev check  ## everything CI runs
	$(BIN)/python -m pytest -m "not verify"

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

verify: $(VENV)/.installed-dev  ## the long proofs: the paper's figures on this machine, the examples at full length
	$(BIN)/python -m pytest -m verify -s

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "efex needs Python 3.11 or later; set PYTHON=python3.12, say")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,labmaze]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) runs build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
