# `make chat` and `make test` do all their own set-up. Everything else is a part of those two.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
FOLDERS := corpus evaluate graph jargon_db learn prompts samples service tools ui

.PHONY: help setup chat test check links clean

help:
	@echo "make chat    install, build the sample knowledge base and open the chat window on http://localhost:8000"
	@echo "make test    install with the test tools; lint, check types, run every test"
	@echo "make setup   install only"
	@echo "make clean   remove the environment and build products (a knowledge base stays)"

# torch first and pinned: with it in place nothing else pulls a build for graphics cards.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Argot needs Python 3.11 or newer; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --quiet -c constraints.txt -e '.[chat]'
	touch $@

$(VENV)/.test: $(VENV)/.installed
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --quiet -c constraints.txt -e '.[chat,test]'
	touch $@

setup: $(VENV)/.installed

chat: setup
	$(BIN)/argot serve --samples

test: $(VENV)/.test check
	$(BIN)/python -m pytest

check: $(VENV)/.test links
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Type checkers do not follow setuptools' package-dir; these links are for them alone.
links:
	@mkdir -p .links/argot
	@for file in argot/*.py argot/py.typed; do ln -sfn ../../$$file .links/argot/$$(basename $$file); done
	@for folder in $(FOLDERS); do ln -sfn ../../$$folder .links/argot/$$folder; done

clean:
	rm -rf $(VENV) .links build dist *.egg-info
