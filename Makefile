# Each target installs its dependencies into a virtual environment in this directory. `make` without a
# target lists the targets.

PYTHON ?= $(shell for each in python3.11 python3; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>&- && echo $$each && break; done)

VENV := .venv
BIN := $(VENV)/bin
# Each stamp represents a set of packages in the same virtual environment. Each set contains the one
# before, and a target depends on the smallest set that is sufficient.
PACKAGE := $(VENV)/.package
TEST := $(VENV)/.test
CHECK := $(VENV)/.check
DOCS := $(VENV)/.docs
# Without byte code: Python compiles only the modules that it loads, which are few. constraints.txt has
# hashes, with which pip refuses every file that is not listed there.
PIP := $(BIN)/python -m pip install -q --no-compile -c constraints.txt
# pyenv builds Python without `--enable-optimizations`, which makes loops a quarter to a third slower.
# Operators run with an optimized build, so the benchmarks prefer the Python of the Linux distribution.
BENCH_PYTHON ?= $(shell for each in /usr/bin/python3 $(PYTHON); do \
	$$each -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>&- && echo $$each && break; done)
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready
FOREIGN := tests/real/foreign
FOREIGN_VENV := .venv-foreign
FOREIGN_READY := $(FOREIGN_VENV)/.ready
# tools.pythons makes one environment for each Python, and names the Python in INTERPRETER.
PYTHONS_VENV := .venv-pythons

# The two distributions and the examples, all installed from source.
PROJECTS := $(wildcard packages/*/pyproject.toml)
EXAMPLES := $(wildcard examples/*/pyproject.toml)
# In the virtual environment $(1): a pip that verifies hashes, and what these projects require. An
# editable project has no hash, so it is installed afterwards, without dependencies.
define install
	sed -n '/^pip==/,/[^\\]$$/p' constraints.txt > $(1)/pip.txt
	$(1)/bin/python -m pip install -q --no-compile --require-hashes -r $(1)/pip.txt
	$(1)/bin/python -m tools.requirements $(PROJECTS) $(2) > $(1)/requirements.txt
	$(1)/bin/python -m pip install -q --no-compile -c constraints.txt hatchling editables -r $(1)/requirements.txt
	$(1)/bin/python -m pip install -q --no-compile --no-index --no-deps --no-build-isolation $(foreach each,$(PROJECTS) $(2),-e $(dir $(each)))
endef
# The benchmark programs for other libraries are not listed: their imports are in another virtual
# environment.
CODE := $(wildcard packages/*/src tests tools examples docs/code bench/__main__.py bench/cluster_runs.py bench/harness bench/measures bench/instructions)
PYTHON_ONLY_TESTS := $(wildcard tests/unit tests/cluster tests/simulation tests/recorded examples docs/code)
# pyproject.toml explains the markers.
CHECK_TESTS = tests/architecture tests/docs tests/typing $(shell grep -rl --include 'test_*.py' 'mark.needs_tools' tests)
PROGRAM_TESTS = $(shell grep -rl --include 'test_*.py' 'mark.programs' tests examples)
# With FLAKY_TESTS=FILE, failed tests run once more, alone. FILE lists the tests that then pass.
PYTEST := $(BIN)/python -m $(if $(FLAKY_TESTS),tools.rerun $(FLAKY_TESTS),pytest) -q

# The versions are pinned. A check for a newer version would only print a warning and use the network.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Without byte code, each of the many subprocesses of the tests compiles hundreds of modules again.
unexport PYTHONDONTWRITEBYTECODE

# A project of this commit is upgraded before a release; the tag of the last release, once there is one.
PREVIOUS_RELEASE := e6b3940b1daef151ef255c07b27c5fa82d481a81

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install check check-types check-tests test test-programs test-pythons test-kubernetes docs fuzz control-plane test-real record test-deep demo release bench bench-check bench-cluster api-snapshot generate constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

install: $(PACKAGE) ## install the packages and the examples in .venv

$(PACKAGE): pyproject.toml $(PROJECTS) constraints.txt $(EXAMPLES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip uninstall -q -y setuptools # venv of Python 3.11 installs it, and nothing needs it
	$(call install,$(VENV),$(EXAMPLES))
	touch $@

$(TEST): $(PACKAGE)
	$(PIP) --group test
	touch $@

$(DOCS): $(TEST)
	$(PIP) --group docs
	touch $@

$(CHECK): $(DOCS)
	$(PIP) --group check
	touch $@

check: $(CHECK) ## check format, lint, types, layers, architecture, and run the tests that need tools
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-cache --no-logo
	$(MAKE) -j 2 --output-sync=target check-types check-tests

# The type checkers use one core, one after the other.
check-types: $(CHECK)
	$(BIN)/mypy $(CODE)
	$(BIN)/pyright

check-tests: $(CHECK)
	$(PYTEST) -n 2 --dist loadfile -m 'needs_tools and not deep' $(CHECK_TESTS)

test: $(TEST) ## run the tests that need only Python, and start no programs
	$(PYTEST) -n 2 --dist loadfile -m 'not needs_tools and not programs and not deep' $(PYTHON_ONLY_TESTS)

test-programs: $(TEST) ## run the tests that start programs: the command line, projects, demos, wheels
	$(PYTEST) -n 2 --dist loadfile -m 'programs and not needs_tools and not deep' $(PROGRAM_TESTS)

# VERSIONS="3.14 3.15" selects; WORKERS is the number of processes.
test-pythons: $(CHECK) ## run unit tests, cluster tests and an example on each supported Python
	$(BIN)/python -m tools.pythons $(WORKERS:%=--workers %) $(VERSIONS)

# VERSIONS="1.34 1.37" selects; WORKERS is the number of processes.
test-kubernetes: $(TEST) ## run client, informer and controller tests on each supported Kubernetes
	$(BIN)/python -m tools.kubernetes_versions $(WORKERS:%=--workers %) $(VERSIONS)

$(PYTHONS_VENV)/%/.ready: pyproject.toml $(PROJECTS) constraints.txt $(EXAMPLES)
	rm -rf $(@D)
	$(INTERPRETER) -m venv $(@D)
	$(@D)/bin/python -m pip uninstall -q -y setuptools # as in $(PACKAGE)
	$(call install,$(@D),$(EXAMPLES))
	$(@D)/bin/python -m pip install -q --no-compile -c constraints.txt --group test
	touch $@

docs: $(DOCS) ## build the documentation in docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo docs/_build/html/index.html

fuzz: $(TEST) ## fuzz the embedded API server for ten minutes, and its socket for two
	$(BIN)/python -m tests.fuzz --minutes 10 --seed $$(date +%j%H%M)000
	$(BIN)/python -m tests.fuzz.sockets --minutes 2

control-plane: $(PACKAGE) ## find or build etcd, kube-apiserver, kube-controller-manager, kubectl
	$(BIN)/python -m steersman_cluster.testing.binaries

# These tests wait for servers half of the time, hence four processes. tests/real/conftest.py has the
# order of the files.
# `make test-real VERIFY=` verifies no recording.
RECORDED := tests/recorded tests/real/test_kubectl_sessions.py
VERIFY := --real-responses verify tests/recorded
test-real: $(DOCS) control-plane ## run the tests against a real kube-apiserver, verify the recordings
	$(BIN)/python -m tests.real.foreign.go_programs chart bundle
	$(PYTEST) -n 4 --dist loadfile --no-loadscope-reorder -m 'not deep' --durations 40 tests/real $(VERIFY)

# Run it again: the recordings of the same server have the same bytes.
record: $(TEST) control-plane ## renew the recordings of what a real kube-apiserver responds
	$(PYTEST) -n 2 --dist loadfile --real-responses record $(RECORDED)

test-deep: $(CHECK) fuzz control-plane test-pythons test-kubernetes $(FOREIGN_READY) ## run the long tests: fuzzing, properties, failovers, steps of controllers, other projects, versions, mutants
	$(BIN)/python -m tests.real.foreign.go_programs
	$(PYTEST) -n 2 --dist loadfile -m 'deep or hypothesis' --hypothesis-profile deep $(PYTHON_ONLY_TESTS) tests/real
	$(PYTEST) -n 3 --dist loadfile --real-responses verify $(RECORDED)
	$(BIN)/python -m tests.real.failover --rounds 50
	$(BIN)/python -m tests.mutation
	$(BIN)/python -m tests.mutation.runtime --measure

$(FOREIGN_READY): $(FOREIGN)/requirements.txt
	test -x $(FOREIGN_VENV)/bin/python || $(PYTHON) -m venv $(FOREIGN_VENV)
	$(FOREIGN_VENV)/bin/python -m pip install -q -r $(FOREIGN)/requirements.txt
	touch $@

demo: $(PACKAGE) ## run the example operator on an embedded cluster
	$(BIN)/steersman demo

# PYTHONS names programs; the default is each supported Python that is found.
release: $(CHECK) ## build wheels, sdists, SBOMs, notes and checksums in dist, and try the wheels
	$(BIN)/python -m tools.release $(PYTHONS:%=--python %) --previous $(PREVIOUS_RELEASE)

# MEASURES="cold-sync reconcile" selects; `python -m bench --help` names them all.
bench: control-plane $(BENCH_READY) ## run the benchmarks of steersman and other libraries
	$(BENCH_VENV)/bin/python -m bench $(MEASURES)

bench-check: $(PACKAGE) ## count instructions of small workloads, independent of the machine's load
	$(BIN)/python -m bench.instructions

bench-cluster: $(BENCH_READY) ## measure complete runs of embedded clusters, and the growth of a large one
	$(BENCH_VENV)/bin/python -m bench.cluster_runs

$(BENCH_READY): $(PROJECTS) constraints.txt bench/requirements.txt
	test -x $(BENCH_VENV)/bin/python || $(BENCH_PYTHON) -m venv $(BENCH_VENV)
	$(call install,$(BENCH_VENV),examples/appservice/pyproject.toml)
	sed '/--hash/d; s/ *\\$$//' constraints.txt > $(BENCH_VENV)/constraints.txt
	$(BENCH_VENV)/bin/python -m pip install -q -c $(BENCH_VENV)/constraints.txt -r bench/requirements.txt
	touch $@

api-snapshot: $(TEST) ## record the public API, after a change of it
	$(BIN)/python -m tests.architecture.public_api.snapshot

generate: control-plane ## generate the built-in kinds from a real API server
	$(BIN)/python -m tools.openapi
	$(BIN)/python -m tools.gotypes
	$(BIN)/python -m steersman.kinds.generate

constraints: ## update every pin and its hashes; review the diff, then run all tests
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m tools.requirements $(PROJECTS) $(EXAMPLES) > $(VENV)/requirements.txt
	$(BIN)/python -m pip install -q --upgrade pip hatchling editables
	$(BIN)/python -m pip install -q --upgrade -r $(VENV)/requirements.txt --group test --group check --group docs
	$(BIN)/python -m pip freeze --all --exclude setuptools > constraints.txt
	$(BIN)/python -m tools.constraints constraints.txt

clean: ## remove virtual environments, build output and caches
	rm -rf .coverage-map $(VENV) $(BENCH_VENV) $(FOREIGN_VENV) $(PYTHONS_VENV) dist docs/_build .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
