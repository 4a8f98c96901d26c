# Every target sets up what it needs, so `make demo` and `make test` are whole on a fresh machine.

.DEFAULT_GOAL := help
.PHONY: help setup lint format test demo bench clean

VENV := .venv
BIN := $(VENV)/bin
# How many test processes run at once; `logical` means one for each core.
WORKERS ?= logical
# What pytest is given beside the whole suite, such as TESTS="tests/rank -x".
TESTS ?=

# The first interpreter that can make the environment. A version manager's shim may exist and yet not run.
SUITABLE := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	if $$name -c '$(SUITABLE)' >/dev/null 2>&1; then echo $$name; break; fi; done)

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.development ## Install Ebbtide and the tools for working on it into .venv

lint: $(VENV)/.development ## Check style, format, types and import layers; change nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: $(VENV)/.development ## Sort imports, fix what has a safe fix, and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: $(VENV)/.development ## Run the tests
	$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses=8 --dist=worksteal $(TESTS)

demo: $(VENV)/.runtime ## See Ebbtide remember, recall and explain a year of memories
	$(BIN)/ebbtide demo

bench: $(VENV)/.development ## Measure, and print each number beside the one to reach
	@for script in $(sort $(wildcard benchmarks/[a-z]*.py)); do \
		echo "== $$script"; $(BIN)/python -m "benchmarks.$$(basename "$$script" .py)" || exit 1; done

clean: ## Remove caches and built packages; .venv and stores stay
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/pip:
	@"$(PYTHON)" -c '$(SUITABLE)' 2>/dev/null || { echo "Ebbtide needs Python 3.11 or newer with its venv module;" \
		"install it, or name it with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(BIN)/pip
	@echo "Installing Ebbtide into $(VENV) (once; about a minute) ..."
	@$(INSTALL) --editable .
	@touch $@

# The second stamp spares `make demo` an installation after this one.
$(VENV)/.development: pyproject.toml | $(BIN)/pip
	@echo "Installing Ebbtide and its tools into $(VENV) (once; about two minutes) ..."
	@$(INSTALL) --editable '.[all,dev]'
	@touch $(VENV)/.runtime $@
