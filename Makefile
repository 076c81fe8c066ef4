# Everything a person or CI does here, on a machine that has Python >= 3.11 and nothing else.
# PYTHON picks the interpreter (`make test PYTHON=python3.13`), VENV the folder of the virtual environment.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
PYTEST := $(BIN)/python -m pytest
PARALLEL := --numprocesses auto --dist loadfile

# An environment may forbid .pyc files; starting the commands then takes three times as long.
unexport PYTHONDONTWRITEBYTECODE
# An environment may force OpenBLAS to an older processor's code, at half the speed.
unexport OPENBLAS_CORETYPE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-full unit lit lint types imports docs fuzz fuzz-slice conformance check mutants bench peers gpu ray pages protos clean

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Shardwright needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/base: $(STAMPS)/venv pyproject.toml
	@echo "Installing Shardwright into $(VENV)" >&2
	@$(PIP) install --editable .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/base
	@echo "Installing the tools of development into $(VENV)" >&2
	@$(PIP) install --editable '.[dev]'
	@touch $@

$(STAMPS)/jax: $(STAMPS)/base
	@echo "Installing JAX into $(VENV)" >&2
	@$(PIP) install --editable '.[jax,keras]'
	@touch $@

$(STAMPS)/peers: $(STAMPS)/dev $(STAMPS)/jax
	@$(PIP) install --editable '.[peers]' \
	  || echo "ArrayRecord cannot be installed here: the tests that need it are skipped" >&2
	@$(PIP) install --editable '.[corpus]' \
	  || echo "Flax, haiku, equinox and their kin cannot be installed here: their training steps are skipped" >&2
	@touch $@

# The oldest JAX that is supported, in a folder that comes before the newest.
$(STAMPS)/oldest-jax: $(STAMPS)/peers
	@$(PIP) install --no-deps --upgrade --target $(VENV)/oldest-jax 'jax==0.10.0' 'jaxlib==0.10.0'
	@touch $@

# The oldest xDSL that is supported, likewise.
$(STAMPS)/oldest-xdsl: $(STAMPS)/dev
	@$(PIP) install --no-deps --upgrade --target $(VENV)/oldest-xdsl 'xdsl==0.74.0'
	@touch $@

demo: $(STAMPS)/base ## partition and run two programs over a 4x2 mesh, on NumPy
	@$(BIN)/python examples/demo.py

WITH_OLDEST_XDSL := tests/lit $(addprefix tests/unit/,dialects passes tools serialization) tests/e2e/test_programs.py

test: $(STAMPS)/dev ## the default suite: under five minutes on two cores
	@$(PYTEST) $(PARALLEL)

test-full: $(STAMPS)/oldest-xdsl ## the default suite and the slow cases
	@$(PYTEST) $(PARALLEL) -m 'not peers'
	@PYTHONPATH=$(abspath $(VENV))/oldest-xdsl $(PYTEST) $(PARALLEL) $(WITH_OLDEST_XDSL)

unit: $(STAMPS)/dev ## the unit tests alone
	@$(PYTEST) tests/unit

lit: $(STAMPS)/dev ## the text tests alone
	@$(PYTEST) tests/lit

lint: $(STAMPS)/dev ## ruff: style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMPS)/dev ## pyright, strict
	@$(BIN)/pyright --pythonpath $(BIN)/python

imports: $(STAMPS)/dev ## import-linter: the layers of the house
	@$(BIN)/lint-imports --no-cache

docs: $(STAMPS)/dev ## the site, in build/site; a warning is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

RUNS ?= 1000
FUZZ := $(BIN)/python tests/whole/fuzz.py

fuzz: $(STAMPS)/dev ## random programs on all cores: RUNS=1000
	@$(FUZZ) --runs $(RUNS)

fuzz-slice: $(STAMPS)/dev ## the first random programs, two minutes of them
	@$(FUZZ) --runs 100000 --seed 0 --seconds 110

SUITE ?= ../array-api-tests

conformance: $(STAMPS)/dev ## the array API standard's suite, in a checkout of it: SUITE=../array-api-tests
	@$(BIN)/python tests/conformance/run.py $(SUITE)

check: lint types imports test docs fuzz-slice ## exactly what CI runs

ROOMS ?= layout,passes,rules
SAMPLE ?= 300
SEED ?= 0

mutants: $(STAMPS)/dev ## plant SAMPLE= small mistakes in ROOMS= by SEED=: does a test notice? (docs/mutants.md)
	@$(BIN)/python tests/mutants --rooms $(ROOMS) --sample $(SAMPLE) --seed $(SEED)

bench: $(STAMPS)/dev ## against JAX, on the same files in one run
	@$(MAKE) --no-print-directory $(STAMPS)/jax \
	  || echo "JAX cannot be installed here: the rows that need it are skipped" >&2
	@$(BIN)/python -m shardwright.benchmarks

WITH_OLDEST_JAX := $(addprefix tests/e2e/test_jax_,internals_peers.py jit_peers.py devices_peers.py by_hand_peers.py linalg_peers.py) tests/e2e/test_from_jax_peers.py

peers: $(STAMPS)/oldest-jax ## tests against JAX, models of public libraries, MLIR through jaxlib, and C++ riegeli
	@$(PYTEST) $(PARALLEL) -m peers
	@PYTHONPATH=$(abspath $(VENV))/oldest-jax $(PYTEST) $(PARALLEL) -m peers $(WITH_OLDEST_JAX)

gpu: $(STAMPS)/dev ## programs on the GPUs that there are, NCCL between them
	@$(PIP) install --editable '.[cupy,mpi]'
	@$(PYTEST) -m slow -rs tests/e2e/test_real_gpus.py

ray: $(STAMPS)/dev ## workers that are actors of Ray, on clusters of this machine
	@$(PIP) install --editable '.[ray]'
	@$(PYTEST) -m 'slow or not slow' -rs tests/e2e/test_ray.py
	@$(PYTEST) -m slow -rs tests/e2e/test_workers.py -k '[ray'

pages: $(STAMPS)/dev ## write the generated pages of docs
	@$(BIN)/python -m shardwright.docs.generators

PROTOC := $(VENV)-protoc/bin/python
SCHEMAS := $(wildcard serialization/protos/*.proto)

# The oldest protobuf that the generated code serves decides on the compiler; it cannot share an environment with ours.
$(PROTOC):
	@$(PYTHON) -m venv $(VENV)-protoc
	@$@ -m pip --disable-pip-version-check --no-input -qq install 'grpcio-tools==1.75.*'

protos: $(PROTOC) ## generate the code of the schemas in serialization/protos
	@$(PROTOC) -m grpc_tools.protoc -I .typing --python_out=.typing --pyi_out=.typing \
	  $(addprefix shardwright/,$(SCHEMAS))

clean: ## remove the virtual environment and every cache
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
