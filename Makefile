# Everything runs in .venv, made here on first use: only Python 3.11 or newer and make are needed.
# Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# Test processes: one per core, but no more than this; each keeps to one BLAS thread (see `test`).
MAX_WORKERS ?= 8
PYTEST_ARGS ?=

# The real datasets: tests marked `data` are skipped without them.
PELLUCID_DATA ?= $(abspath $(wildcard ../shared/data))
ifneq ($(strip $(PELLUCID_DATA)),)
export PELLUCID_DATA
else
unexport PELLUCID_DATA
endif

# Figures are drawn to files: no display is needed.
export MPLBACKEND ?= Agg

ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 BLIS_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1
DOCTESTED  := $(wildcard README.md docs/*.rst docs/*.md docs/guide/*.rst docs/guide/*.md)
BENCHMARKS := $(filter-out benchmarks/_%,$(sort $(wildcard benchmarks/*.py)))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint bench docs clean
.PRECIOUS: $(VENV)/.made $(VENV)/.installed-%

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.installed-plot ## fit a first model and show what it says
	$(BIN)/python -m pellucid.cli.demo

test: $(VENV)/.installed-dev ## run the tests and every documented example, with coverage
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto --maxprocesses=$(MAX_WORKERS) \
		--doctest-modules --doctest-glob='*.md' --doctest-glob='*.rst' \
		--cov --cov-report=term \
		$(wildcard tests) src/pellucid $(DOCTESTED) $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev ## check style, types, layers and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src
	$(BIN)/lint-imports
	$(BIN)/codespell

bench: $(VENV)/.installed-bench ## run every benchmark in turn
	@set -e; for script in $(BENCHMARKS); do \
		echo "== $$script"; \
		$(BIN)/python "$$script"; \
	done

docs: $(VENV)/.installed-docs ## build the documentation into docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -E -W --keep-going -b html docs docs/_build/html

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist htmlcov report.html .coverage .coverage.* coverage.xml
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -rf docs/_build docs/auto_examples docs/generated
	find src tests benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# ---- the environment: one stamp per extra, so pip runs again only when pyproject.toml changes

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "pellucid needs Python 3.11 or newer, but '$(PYTHON)' is missing or older."; \
		echo "Name another one, for example: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
		exit 1; } >&2
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make virtual environments: its venv or ensurepip module is missing."; \
		echo "On Debian and Ubuntu, install the package python3-venv; elsewhere, use a full Python."; \
		exit 1; } >&2
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed-%: pyproject.toml $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
