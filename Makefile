# Every target builds what it needs first; a second call finds it there.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# The first Python of at least 3.11 on the path.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
PY := $(VENV)/bin/python
# A changed requirement file changes the name of its stamp, and with it what is out of date.
BASE := $(VENV)/.base-$(shell cksum < requirements/base.txt | tr -dc 0-9)
PEERS := $(VENV)/peers/.done-$(shell cksum < requirements/peers.txt | tr -dc 0-9)
DEV := $(VENV)/.dev-$(shell cksum < requirements/dev.txt | tr -dc 0-9)
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes
# Checks read the models, they serve nobody: harmless values keep them away from a database that matters.
NOBODY := env -u DATABASE_URL -u BROKER_URL -u CHANNEL_URL DATA_DIR=$(CURDIR)/data

.PHONY: help up test check bench bench-peers demo eval drills mutants messages pins clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Countersign needs Python 3.11 or newer and found none. Nothing was installed."; \
		echo "Install it, or name one: make $(or $(MAKECMDGOALS),up) PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Making $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "The virtual environment could not be made."; \
		echo "On Debian and Ubuntu the module is a package of its own: apt-get install python3-venv"; exit 1; }

$(BASE): | $(VENV)/bin/python
	@echo "Installing what Countersign runs on"
	@$(PIP) -r requirements/base.txt
	@rm -f $(VENV)/.base-* && touch $@

$(DEV): $(BASE)
	@echo "Installing what the tests need"
	@$(PIP) -r requirements/dev.txt
	@rm -f $(VENV)/.dev-* && touch $@

up: $(BASE) ## start everything; Ctrl-C stops it
	@exec $(PY) -m config.up --stop-with-parent

test: $(DEV) ## run all tests; PYTEST_ARGS narrows them
	@exec $(PY) -m pytest $(PYTEST_ARGS)

check: $(DEV) ## format, lint, types, layers, migrations, translations
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(NOBODY) $(PY) -m mypy .
	@$(NOBODY) $(VENV)/bin/lint-imports --no-cache
	@$(NOBODY) $(PY) manage.py check --fail-level WARNING
	@$(NOBODY) SECRET_KEY=$$(head -c 48 /dev/urandom | base64) PUBLIC_URL=https://check.invalid \
		ALLOWED_HOSTS=check.invalid $(PY) manage.py check --deploy --fail-level WARNING
	@$(NOBODY) $(PY) manage.py makemigrations --check --dry-run
	@$(PY) -m config.messages --check

bench: $(DEV) ## measure steps per second on the full path
	@exec $(PY) -m bench $(BENCH_ARGS)

$(PEERS): $(DEV)
	@echo "Installing the systems to compare with, in an environment of their own"
	@rm -rf $(VENV)/peers && $(PY) -m venv $(VENV)/peers
	@$(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/peers.txt
	@touch $@

bench-peers: $(PEERS) ## measure other systems beside ours, on the same work
	@exec $(PY) -m bench.peers --python $(VENV)/peers/bin/python $(BENCH_ARGS)

demo: $(BASE) ## tell the main story through the REST API
	@exec $(PY) -m demo $(DEMO_ARGS)

eval: $(BASE) ## score the contract review; DATA=folder
	@exec $(PY) -m evals.contracts $(DATA)

drills: $(DEV) ## break things on purpose and count the damage
	@exec $(PY) -m pytest -m drills $(PYTEST_ARGS)

mutants: $(DEV) ## switch guards off one by one: each must make its test fail
	@exec $(PY) -m tests.mutants $(MUTANT_ARGS)

messages: $(DEV) ## collect and compile the translations
	@$(PY) -m config.messages

pins: $(DEV) ## compile requirements/*.in to exact versions with hashes
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make pins" $(PIN_ARGS) requirements/base.in -o requirements/base.txt
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make pins" $(PIN_ARGS) requirements/dev.in -o requirements/dev.txt
	@$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make pins" $(PIN_ARGS) requirements/peers.in -o requirements/peers.txt

clean: ## remove what was built; data/ stays
	@rm -rf $(VENV) staticfiles .mypy_cache .ruff_cache .pytest_cache
