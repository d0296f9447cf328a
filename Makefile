# Everything a fresh machine needs is installed here, into .venv: Python 3.11+, make and a package index suffice.
PYTHON ?= python3
PORT ?= 8080
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all check format serve bench fuzz soak load lock clean

help: ## List the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Paddock needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@$(BIN)/python -m compileall -q src
	@touch $@

setup: $(STAMP) ## Install everything into .venv

demo: $(STAMP) ## Show what Paddock does, on real examples
	@$(BIN)/python -m paddock demo

test: $(STAMP) ## Run the core suite: minutes
	@$(BIN)/python -m tests

test-all: $(STAMP) ## Run every test: the core suite and the rest
	@$(BIN)/python -m tests --all

check: $(STAMP) ## Formatting, lint, strict types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

format: $(STAMP) ## Rewrite the code in the project's format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

serve: $(STAMP) ## Start the server: MCP over HTTP, on this machine
	@exec $(BIN)/paddock serve --port $(PORT)

bench: $(STAMP) ## Measure; prints ratios
	@$(BIN)/python -m bench

fuzz: $(STAMP) ## Feed hostile input to everything that reads some: a minute each
	@$(BIN)/python -m tests.fuzz $(ARGS)

soak: $(STAMP) ## 20,000 runs while processes are killed; prints what leaked
	@$(BIN)/python -m bench.soak $(ARGS)

load: $(STAMP) ## 200 clients at one server; prints what was lost, mixed up or left behind, and what a server needs
	@$(BIN)/python -m bench.load $(ARGS)
	@$(BIN)/python -m bench.sizing
	@$(BIN)/python -m bench --only load --only load-p99 --only rest

lock: $(STAMP) ## Pin exact versions and hashes again
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --output-file requirements.lock pyproject.toml

clean: ## Remove what the other commands made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
