# Every target sets up what it needs, in .venv; nothing is installed anywhere else.
# `make` alone says what there is.

PYTHON ?= $(shell for each in python3.11 python3; do \
	$$each -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>&- && echo $$each && break; done)

VENV := .venv
BIN := $(VENV)/bin
# Each stamp stands for a set of packages in the same virtual environment; a later set adds to the
# one before, and a target names the smallest that it needs.
PACKAGE := $(VENV)/.package
TEST := $(VENV)/.test
CHECK := $(VENV)/.check
DOCS := $(VENV)/.docs
# Without byte code: Python makes it for the modules that it loads, which are few.
PIP := $(BIN)/python -m pip install -q --no-compile -c constraints.txt
# A Python built without `--enable-optimizations`, as pyenv builds it, runs loops a quarter to a third
# slower. Operators run with an optimized build, so the Python of the distribution is preferred here.
BENCH_PYTHON ?= $(shell for each in /usr/bin/python3 $(PYTHON); do \
	$$each -c 'import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>&- && echo $$each && break; done)
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready
FOREIGN := tests/real/foreign
FOREIGN_VENV := .venv-foreign
FOREIGN_READY := $(FOREIGN_VENV)/.ready

# The two distributions, each installed from its source; an extra of one brings the other.
PROJECTS := $(wildcard packages/*/pyproject.toml)
EDITABLE := -e 'packages/steersman[dev]' -e packages/steersman-cluster
EXAMPLES := $(wildcard examples/*/pyproject.toml)
# What the peers' programs import is in another virtual environment.
CODE := $(wildcard packages/*/src tests tools examples docs/code bench/__main__.py bench/living.py bench/harness bench/measures bench/instructions)
PYTHON_ONLY_TESTS := $(wildcard tests/unit tests/cluster tests/simulation examples docs/code)
# The marks are explained in pyproject.toml.
CHECK_TESTS = tests/architecture tests/docs tests/typing $(shell grep -rl --include 'test_*.py' 'mark.needs_tools' tests)
# With FLAKY_TESTS=FILE, failed tests run once more, alone; FILE gets those that pass then.
PYTEST := $(BIN)/python -m $(if $(FLAKY_TESTS),tools.rerun $(FLAKY_TESTS),pytest) -q

# The version is pinned; a nag about a newer one would only be noise, and a look at the network.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install check test docs fuzz control-plane test-real test-deep demo bench bench-check bench-living generate constraints clean

help: ## say what there is
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

install: $(PACKAGE) ## the package, its command line, the embedded cluster and the examples, in .venv

$(PACKAGE): pyproject.toml $(PROJECTS) constraints.txt $(EXAMPLES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip uninstall -q -y setuptools # Python 3.11 brings it, and nothing here needs it
	$(PIP) hatchling editables
	$(PIP) --no-build-isolation $(EDITABLE) $(EXAMPLES:%/pyproject.toml=-e %)
	touch $@

# Dependency groups need a newer pip than some distributions bring.
$(TEST): $(PACKAGE)
	$(PIP) pip
	$(PIP) --group test
	touch $@

$(DOCS): $(TEST)
	$(PIP) --group docs
	touch $@

$(CHECK): $(DOCS)
	$(PIP) --group check
	touch $@

check: $(CHECK) ## format, lint, types, layers, architecture, and all else that needs tools
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy $(CODE)
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache --no-logo
	$(PYTEST) -n 2 --dist loadfile -m 'needs_tools and not deep' $(CHECK_TESTS)

test: $(TEST) ## everything that needs only Python
	$(PYTEST) -n 2 --dist loadfile -m 'not needs_tools and not deep' $(PYTHON_ONLY_TESTS)

docs: $(DOCS) ## the documentation as a site, in docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo docs/_build/html/index.html

fuzz: $(TEST) ## ten minutes of nonsense in the embedded API server's ear, and two at its socket
	$(BIN)/python -m tests.fuzz --minutes 10 --seed $$(date +%j%H%M)000
	$(BIN)/python -m tests.fuzz.sockets --minutes 2

control-plane: $(PACKAGE) ## find or build etcd, kube-apiserver, kube-controller-manager, kubectl
	$(BIN)/python -m steersman_cluster.testing.binaries

# Tests there wait for servers half of the time. The slowest files have the fewest tests, and by
# number of tests they would come last, one after the other.
test-real: $(DOCS) control-plane $(FOREIGN_READY) ## the same questions, put to a real kube-apiserver
	$(BIN)/python -m tests.real.foreign.go_programs
	$(PYTEST) -n 3 --dist loadfile --no-loadscope-reorder -m 'not deep' --durations 40 tests/real

test-deep: $(CHECK) fuzz control-plane $(FOREIGN_READY) ## what takes long: fuzzing, long properties, many failovers, other projects' suites
	$(BIN)/python -m tests.real.foreign.go_programs
	$(PYTEST) -n 2 --dist loadfile -m 'deep or hypothesis' --hypothesis-profile deep $(PYTHON_ONLY_TESTS) tests/real
	$(BIN)/python -m tests.real.failover --rounds 50

$(FOREIGN_READY): $(FOREIGN)/requirements.txt
	test -x $(FOREIGN_VENV)/bin/python || $(PYTHON) -m venv $(FOREIGN_VENV)
	$(FOREIGN_VENV)/bin/python -m pip install -q -r $(FOREIGN)/requirements.txt
	touch $@

demo: $(PACKAGE) ## the example operator, on an embedded cluster
	$(BIN)/steersman demo

# MEASURES="cold-sync reconcile" selects; `python -m bench --help` names them all.
bench: control-plane $(BENCH_READY) ## our numbers, with the same work done by others beside them
	$(BENCH_VENV)/bin/python -m bench $(MEASURES)

bench-check: $(PACKAGE) ## instructions of small workloads, which do not depend on how busy this machine is
	$(BIN)/python -m bench.instructions

bench-living: $(BENCH_READY) ## whole runs of a cluster in a minute, and how a large one grows
	$(BENCH_VENV)/bin/python -m bench.living

$(BENCH_READY): $(PROJECTS) constraints.txt bench/requirements.txt
	test -x $(BENCH_VENV)/bin/python || $(BENCH_PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install -q -c constraints.txt pip hatchling editables
	$(BENCH_VENV)/bin/python -m pip install -q -c constraints.txt --no-build-isolation -r bench/requirements.txt $(EDITABLE) -e examples/appservice
	touch $@

generate: control-plane ## the built-in kinds again, from what a real API server says about them
	$(BIN)/python -m tools.openapi
	$(BIN)/python -m tools.gotypes
	$(BIN)/python -m steersman.kinds.generate

constraints: ## every pin at its newest release; look at the diff, then run everything
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip hatchling editables
	$(BIN)/python -m pip install -q --upgrade --no-build-isolation --group test --group check --group docs $(EDITABLE)
	$(BIN)/python -m pip freeze --all --exclude-editable --exclude setuptools > constraints.txt
	touch $(PACKAGE) $(TEST) $(DOCS) $(CHECK)

clean: ## nothing left but what git knows
	rm -rf $(VENV) $(BENCH_VENV) $(FOREIGN_VENV) dist docs/_build .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
