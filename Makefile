# Readgate: `make serve` to use it, `make test` to change it. `make help` lists the rest.
# Every environment is made from a hashed lock file; a stamp makes it once and again when the lock changes.

# `python3` where it is new enough, else the newest named interpreter.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && { echo $$p; exit; }; done; echo none)
VENV := .venv
BIN := $(VENV)/bin
ENGINE := .engine
LOCKS := requirements/serve.txt requirements/dev.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help serve install test lint format types imports coverage engine test-engine check lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

define install # $(1): lock, $(2): stamp
	@test "$(PYTHON)" != none || { echo "Readgate needs python 3.11, 3.12 or 3.13; set PYTHON=/path/to/one" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing $(1) into $(VENV) (once; about a minute) ..."
	@$(BIN)/python -m pip install --quiet --require-hashes -r $(1)
	@$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	@touch $(2)
endef

$(BIN)/.serve: requirements/serve.txt pyproject.toml
	$(call install,requirements/serve.txt,$@)

$(BIN)/.dev: requirements/dev.txt pyproject.toml
	$(call install,requirements/dev.txt,$@)

install: $(BIN)/.serve ## set up what `serve` needs, and no more

serve: $(BIN)/.serve ## serve on http://127.0.0.1:8000 with the embedded engine and the demo upstream
	@$(BIN)/readgate serve

test: $(BIN)/.dev ## run the tests (no GPU, Redis, key or network needed)
	$(BIN)/python -m pytest $(PYTEST)

lint: $(BIN)/.dev ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(BIN)/.dev ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(BIN)/.dev ## pyright, strict
	$(BIN)/pyright

imports: $(BIN)/.dev ## who may import whom
	$(BIN)/lint-imports

coverage: ## after a test run with --cov: the pure core and the verdicts are covered branch by branch
	$(BIN)/coverage report --include='canvas/*,guards/verdict.py' --fail-under=100
	$(BIN)/coverage report --fail-under=85

engine: ## the separate environment with real vLLM on CPU, and its tiny checkpoint
	bash tools/engine/setup.sh $(ENGINE)

test-engine: engine ## the engine contract against real vLLM, and ONNX against transformers
	$(ENGINE)/venv/bin/python -m pytest tests/engine $(PYTEST)

check: lint types imports ## what CI runs
	$(MAKE) test PYTEST='--cov --cov-report= $(PYTEST)'
	$(MAKE) coverage
	$(MAKE) test-engine

LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --custom-compile-command 'make lock' pyproject.toml requirements/build.in

lock: $(BIN)/.dev ## resolve the lock files again (one resolution for Python 3.11 to 3.13, all platforms)
	$(BIN)/$(LOCK) --extra dev --output-file requirements/dev.txt
	$(BIN)/$(LOCK) --extra serve --constraints requirements/dev.txt --output-file requirements/serve.txt

clean: ## remove the environments and caches
	rm -rf $(VENV) $(ENGINE) .hypothesis .pytest_cache .ruff_cache .coverage
