# `make` alone lists what there is to do; every target sets up .venv first, once.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# Two at a time: each half has a PostgreSQL and a Spark of its own, and tests of one file stay together, the longest
# files first (tests/conftest.py).
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help install demo test lint format bench versions soak mutants lock clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

install: $(READY) ## set up .venv with the locked versions

demo: $(READY) ## from nothing to all engines side by side on a small road, in a minute or three
	@$(BIN)/lrb demo

test: $(READY) ## all tests, on a real PostgreSQL and a real Spark
	@$(PYTEST) $(TESTS)

lint: $(READY) ## ruff, mypy, sqlfluff
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/sqlfluff lint --disable-progress-bar sql stored_procs

format: $(READY) ## let ruff and sqlfluff rewrite what they can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/sqlfluff fix --disable-progress-bar sql stored_procs

bench: $(READY) ## measure the rates that docs/results.md names (several minutes)
	@$(BIN)/python -m tests.bench

versions: $(READY) ## the tests of the database on every PostgreSQL that is here, or in FOLDERS="..."
	@$(BIN)/python -m tests.versions $(FOLDERS)

mutants: $(READY) ## plant faults in right outputs and in a right engine, and see that they are caught (minutes)
	@$(BIN)/python -m tests.mutants

soak: $(READY) ## kill runs 200 times, and stream for three simulated hours; no answer is lost (half an hour)
	@$(BIN)/python -m tests.engines.soak 200
	@$(BIN)/python -m tests.engines.stream_soak

lock: $(READY) ## resolve requirements.lock anew
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.10 --all-extras \
		--no-header --no-annotate --no-emit-index-url pyproject.toml --output-file requirements.lock

clean: ## remove .venv and caches
	@rm -rf .venv .mypy_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo 'Linear Road needs Python 3.10 or newer: make PYTHON=python3.12'; exit 1; }
	@echo 'installing into .venv (about 500 MB, once)'
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@# Where it was written in full, Python would not start in the C locale below a folder whose name is not ASCII.
	@for site in .venv/lib/python3*/site-packages; do echo ../../../.. > "$$site/_linear_road.pth"; done
	@# Half a minute now spares every command that uses Spark five seconds; it works without, too.
	@$(BIN)/python -m driver.spark.prepare 2> /dev/null || true
	@touch $@
