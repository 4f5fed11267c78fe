# The two commands of the README, and what the judge (.ci/run) calls. Nothing else has to be installed by hand.

PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3; do \
	command -v $$python >/dev/null 2>&1 && $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
# Tests have an environment of their own, in which no plugin is installed: what they install, they put on a path.
TEST_VENV := $(VENV)-tests
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test judges lint types bench clean
demo: $(VENV)/.run
	$(BIN)/yaz demo

test: $(TEST_VENV)/.ready
	$(TEST_VENV)/bin/python -m pytest

# Needs Node.js and a package index: the official conformance suite, the Inspector, other people's clients and servers.
judges: $(TEST_VENV)/.ready
	$(TEST_VENV)/bin/python -m pytest tests/outside/judge_*.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy
	cd yaz_plugin_zotero && $(abspath $(BIN))/mypy yaz_plugin_zotero

bench: $(VENV)/.bench
	$(BIN)/python -m bench

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "yaz needs Python 3.11 or newer: none was found on PATH" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python requirements/run.txt pyproject.toml yaz_plugin_zotero/pyproject.toml
	$(PIP) install -r requirements/run.txt
	$(PIP) install --no-deps --no-build-isolation -e . -e yaz_plugin_zotero
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(PIP) install -r requirements/dev.txt
	@touch $@

$(TEST_VENV)/.ready: requirements/run.txt requirements/dev.txt
	@test -n "$(PYTHON)" || { echo "yaz needs Python 3.11 or newer: none was found on PATH" >&2; exit 1; }
	$(PYTHON) -m venv $(TEST_VENV)
	$(TEST_VENV)/bin/python -m pip --disable-pip-version-check --quiet install -r requirements/dev.txt
	@touch $@

$(VENV)/.bench: $(VENV)/.run requirements/bench.txt
	$(PIP) install -r requirements/bench.txt
	@touch $@

clean:
	rm -rf $(VENV) $(TEST_VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
