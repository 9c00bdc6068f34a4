# Larder. Needs git, make and Python 3.11, 3.12 or 3.13 with venv; everything else is installed below this folder.
#
#   make demo            the whole system on this machine, told as a story
#   make up / make down  the same system, to play with
#   make test            what CI runs

.DEFAULT_GOAL := setup
.PHONY: setup up down status demo page-address test test-unit lint package stage deploy destroy clean

# The first interpreter that can run Larder. Override: make PYTHON=python3.12
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
  $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && echo $$python && break; \
  done)
# Byte code that isn't kept is made anew by every process, and the tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE

RUN := .venv/bin/python
UNIT := tests/unit

# Both virtual environments and the embedding model. Does nothing if they are up to date.
setup:
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 found. Name one: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) infra/environments.py

# SET="NAME=VALUE ..." changes settings of the functions: make up SET="KB_ALLOW_PRIVATE_NETWORKS=true"
# DOCKER=1 takes PostgreSQL and the emulator from infra/compose.yaml, for up and for down.
up: setup
	@$(RUN) -m infra.$(if $(DOCKER),compose,local) up $(foreach setting,$(SET),--set $(setting))

down:
	@test ! -e .venv/.larder-stamp || $(RUN) -m infra.$(if $(DOCKER),compose,local) down

status: setup
	@$(RUN) -m infra.local status

# URL=https://... takes a page of yours through the same steps.
demo: page-address setup
	@$(RUN) -m examples.demo $(if $(URL),--url '$(URL)')

# Whoever mistyped it need not wait for the set-up to hear so.
page-address:
	@case '$(URL)' in ''|http://?*|https://?*) ;; *) \
	  echo "URL='$(URL)' is no page: an address starts with http:// or https://" >&2; exit 2;; esac

lint: setup
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	.venv/bin/lint-imports

test-unit: setup
	$(RUN) -m pytest -q -n 2 $(UNIT)

# One run of pytest, so that its last line counts everything. A file stays in one process, since tests in it share
# what is slow to start; files come in their order, so that the slow ones of tests/e2e don't come last. Three for two
# cores: whoever waits for the emulator leaves a fifth of a core to somebody else.
test: lint
	$(RUN) -m pytest -n 3 --dist loadfile --no-loadscope-reorder

# build/: the template, the code and the layer of dependencies for AWS. CA=FILE.pem, also with deploy, holds the
# authorities that the database's certificate must come from. ARCH=arm64, also with deploy, is for that Architecture.
package: setup
	$(RUN) -m infra.build_layer $(if $(ARCH),--architecture $(ARCH)) $(if $(CA),--ca '$(CA)')
	$(RUN) -m infra.package

# Whoever forgot it need not wait for the package to hear so.
stage:
	@test -n "$(STAGE)" || { echo "Which stage? make $(firstword $(MAKECMDGOALS)) STAGE=dev" >&2; exit 1; }

# PARAMETERS=file.json holds the template's parameters; one that is left out keeps its value.
deploy: stage package
	$(RUN) -m infra.deploy $(STAGE) $(if $(PARAMETERS),--parameters $(PARAMETERS))

destroy: stage setup
	$(RUN) -m infra.deploy $(STAGE) --destroy

clean: down
	rm -rf .venv .venv-emulator .local build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
