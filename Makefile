# The loop of development. Every target installs what it misses (Debian packages as root or through sudo, .venv by pip)
# and builds what has changed; nothing has to be set up by hand. `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON3 ?= python3
PY := .venv/bin/python
LLVM_BIN = $(shell llvm-config-$$(cat llvm-version.txt) --bindir)
# Not nproc alone, which is OMP_NUM_THREADS where that is set.
JOBS ?= $(shell env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
# Numbers must not depend on what else the machine does: libraries that are compared with run on one thread in tests.
# XLA compiles each program that serves as an oracle once, for one small call: without its optimizations, and without its
# emitters of fusions, which make a context of MLIR for each program, that takes .4 of the time. Tests start some hundred
# processes of Python: with bytecode each starts in .9 seconds, without it in 3.3.
ORACLE_FLAGS := --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 JAX_PLATFORMS=cpu XLA_FLAGS="$(ORACLE_FLAGS)" PYTHONDONTWRITEBYTECODE=

# A worker that dies ends the run: with groups, xdist can wait for ever for the last tests of the worker in its place.
WORKERS := -n $(JOBS) --dist loadgroup --max-worker-restart=0

.PHONY: help build modules wheel stubs demo test test-fast test-full test-sanitizers test-aarch64 test-gpu coverage coverage-runtime soak soak-distributed fuzz fuzz-programs bench bench-gpu docs
.PHONY: test-libraries library-values bench-programs demo-jax demo-distributed test-pjrt bench-jax-backend bench-distributed
.PHONY: test-torch test-torch-full demo-torch bench-torch
.PHONY: lint lint-format lint-rooms lint-types fmt hooks clean system configure

help: ## this list
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{ printf "  make %-16s %s\n", $$1, $$2 }'

# .venv and the trees of builds hold the path of the checkout: it may be moved, or mounted elsewhere in a container.
system:
	@others=$$(cat .venv/lib/python3*/site-packages/pycompiler-checkout.pth 2>/dev/null | grep -vxF "$(CURDIR)" || true); \
	if [ -n "$$others" ]; then \
	  echo "error: .venv was made for the checkout $$others; this one is $(CURDIR)" >&2; \
	  echo "       make it and the builds again: rm -rf .venv build build-*" >&2; exit 1; \
	fi
	@tools/install-system-packages.sh

# pyproject.toml is the only list of Python requirements. The .pth file makes .venv see this checkout.
.venv/.requirements: pyproject.toml tools/requirements.py tools/install-system-packages.sh apt-packages.txt
	tools/install-system-packages.sh
	test -x $(PY) || $(PYTHON3) -m venv .venv
	@echo "installing Python packages into .venv: about 2 GB, some minutes where pip has to fetch them"
	$(PY) -m pip install -q --upgrade pip
	$(PY) tools/requirements.py test lint examples gpu docs wheel > .venv/requirements.txt
	$(PY) -m pip install -q -r .venv/requirements.txt
	echo "$(CURDIR)" > "$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pycompiler-checkout.pth"
	touch $@

build/build.ninja: .venv/.requirements CMakeLists.txt CMakePresets.json
	cmake --preset dev -DPython_EXECUTABLE="$(CURDIR)/$(PY)"
	touch $@

configure: system .venv/.requirements build/build.ninja

build: configure ## everything: the extension modules (in place), array-opt, the C++ tests
	@$(PYTHON3) tools/build.py build -j $(JOBS)

wheel: build ## dist/*.whl, which runs without LLVM's packages (docs/packaging.md); PYTHON3=python3.13 for another Python
	$(PY) tools/make_wheel.py $(if $(filter command line,$(origin PYTHON3)),--python $(PYTHON3))

stubs: build ## the types of the compiler's binding, for checkers, from the binding: pycompiler/_compiler/*.pyi
	$(PY) -m nanobind.stubgen -q -m pycompiler._compiler -r -O pycompiler

modules: configure ## the extension modules alone, in place: all that Python needs
	@$(PYTHON3) tools/build.py build -j $(JOBS) _compiler _runtime pjrt_pycompiler

demo: modules ## the main job: train a network on handwritten digits
	$(PY) examples/train_digits.py

test: build lint ## all tests, tables sampled: lint, ctest, lit, pytest (about 20 minutes on two cores); SAMPLE=0 to 7
	ctest --test-dir build --output-on-failure -j $(JOBS)
	.venv/bin/lit tests/lit -DBUILD_DIR=$(CURDIR)/build --order=smart -j $(JOBS) -s
	$(TEST_ENV) $(PY) -m pytest $(WORKERS) -m "not full"
	$(TEST_ENV) $(PY) tools/soak.py --seconds 30

test-fast: build ## lit, C++ and the quick Python tests (under 30 s after an incremental build)
	ctest --test-dir build --output-on-failure -j $(JOBS)
	.venv/bin/lit tests/lit -DBUILD_DIR=$(CURDIR)/build --order=smart -j $(JOBS) -s
	$(TEST_ENV) $(PY) -m pytest $(WORKERS) -m "not full" -x tests/python/core tests/python/runtime tests/python/compile tests/python/cache

test-full: build lint ## everything, exhaustively; before an issue is resolved
	ctest --test-dir build --output-on-failure -j $(JOBS)
	.venv/bin/lit tests/lit -DBUILD_DIR=$(CURDIR)/build -j $(JOBS) -s
	$(TEST_ENV) $(PY) -m pytest $(WORKERS)
	$(MAKE) test-sanitizers
	$(MAKE) test-aarch64

test-sanitizers: system ## the runtime's C++ tests under ThreadSanitizer and AddressSanitizer
	@for kind in tsan asan; do \
	  cmake --preset $$kind > /dev/null && $(PYTHON3) tools/build.py build-$$kind -j $(JOBS) && \
	  ctest --test-dir build-$$kind --output-on-failure || exit 1; \
	done

# JAX's libraries, at the versions of the extra. JAX is not imported: `python -m pycompiler.jax` gives ours in its place.
.venv/.libraries: .venv/.requirements
	$(PY) tools/requirements.py libraries > .venv/requirements-libraries.txt
	$(PY) -m pip install -q -r .venv/requirements-libraries.txt
	touch $@

test-libraries: build .venv/.libraries ## JAX's libraries on pycompiler: quickstarts beside values of JAX, and their own test suites
	$(TEST_ENV) $(PY) -m pytest tests/libraries

test-pjrt: build ## the backend that JAX loads: values beside XLA's CPU, arrays, callbacks, processes
	$(PY) tools/requirements.py jax jax-tests > .venv/requirements-jax.txt
	$(PY) -m pip install -q -r .venv/requirements-jax.txt
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest tests/pjrt

library-values: build .venv/.libraries ## the values of tests/libraries/{quickstarts,programs} on real JAX, into tests/libraries/values; NAMES="optax flax_nnx"
	$(TEST_ENV) XLA_FLAGS= $(PY) tests/libraries/quickstart_values.py $(NAMES)

demo-distributed: build ## digits, trained in two processes that share the images (docs/distributed.md)
	OMP_NUM_THREADS=1 PYCOMPILER_MPI=.venv/lib/libmpi.so.12 .venv/bin/mpiexec.hydra -n 2 $(PY) examples/train_digits_distributed.py

demo-jax: build .venv/.libraries ## a Flax model trained by Optax, an unmodified JAX program, on pycompiler and on JAX
	$(PY) examples/demo_jax.py

# PyTorch, the wheel for CPUs: its index has no other wheels, which are larger.
.venv/.torch: .venv/.requirements
	$(PY) tools/requirements.py torch-test > .venv/requirements-torch.txt
	$(PY) -m pip install -q -r .venv/requirements-torch.txt
	touch $@

test-torch: build .venv/.torch ## PyTorch's programs on the backend of torch.compile, beside eager torch; its operator database, sampled
	$(TEST_ENV) $(PY) -m pytest tests/torch -m "not full"

test-torch-full: build .venv/.torch ## the same, with every sample of the operator database
	$(TEST_ENV) $(PY) -m pytest tests/torch

demo-torch: build .venv/.torch ## a small network trained by torch.compile on pycompiler and in eager torch
	$(PY) examples/demo_torch.py

bench-torch: build .venv/.torch ## models on pycompiler, in eager torch and on torch's own compiler (benchmarks/torch_backend.py)
	$(PY) benchmarks/torch_backend.py

# What `pycompiler` says of a GPU that it can't use; empty where there is one.
GPU_MISSING = $$({ PYCOMPILER_PLATFORM=gpu $(PY) -c 'import pycompiler; pycompiler.devices()' 2>&1 || true; } | tail -n 1)

test-aarch64: build ## the runtime's C++ tests, and all primitives' values, compiled for AArch64 and run by qemu
	@tools/install-system-packages.sh apt-packages-aarch64.txt
	@cmake --preset aarch64 > /dev/null
	@$(PYTHON3) tools/build.py build-aarch64 -j $(JOBS)
	ctest --test-dir build-aarch64 --output-on-failure -j $(JOBS)
	$(TEST_ENV) $(PY) -m pytest -n $(JOBS) tests/python/primitives/test_other_machines.py -k aarch64

# What holds on every device, whichever it is.
BEHAVIOUR := $(addprefix tests/python/,array/test_asynchronous.py array/test_types_and_placement.py jit/test_jit.py jit/test_tracing_rules.py \
  spmd/test_mapping_over_devices.py spmd/test_placement.py)
test-gpu: build ## the table test, the behaviour tests and the GPU's own on the machine's GPU; says so where there is none
	@missing="$(GPU_MISSING)"; \
	if [ -n "$$missing" ]; then echo "test-gpu: skipped: $$missing" >&2; exit 0; fi; \
	build/tests/ConformanceTest gpu && \
	PYCOMPILER_PLATFORM=gpu $(TEST_ENV) $(PY) -m pytest tests/python/primitives/test_table.py $(BEHAVIOUR) tests/python/gpu

TESTS ?= tests/python/core tests/python/jit tests/python/primitives
coverage: build ## which lines of pycompiler/ the tests in TESTS reach, the least covered files first; TESTS="tests/python/core ..."
	@$(PY) tools/requirements.py coverage > .venv/requirements-coverage.txt
	@$(PY) -m pip install -q -r .venv/requirements-coverage.txt
	$(PY) -m coverage erase
	$(TEST_ENV) $(PY) -m coverage run -m pytest -m "not full" $(TESTS)
	$(PY) -m coverage combine -q
	$(PY) -m coverage report | (sed -u 2q; sort -k4n | head -n 40)

coverage-runtime: build ## which lines of runtime/ its C++ tests reach, the least covered files first
	@$(PY) tools/requirements.py coverage > .venv/requirements-coverage.txt
	@$(PY) -m pip install -q -r .venv/requirements-coverage.txt
	@cmake --preset coverage > /dev/null
	@$(PYTHON3) tools/build.py build-coverage -j $(JOBS)
	find build-coverage -name '*.gcda' -delete
	ctest --test-dir build-coverage --output-on-failure -j $(JOBS)
	$(PY) -m gcovr --root . --filter runtime/lib --merge-lines --sort uncovered-percent build-coverage

SECONDS ?= 600
soak: build ## 8 threads, mixed programs and sizes, failures among them, checked and counted; SECONDS=600
	$(TEST_ENV) $(PY) tools/soak.py --seconds $(SECONDS)

soak-distributed: build ## 4 processes, overlapping meshes, random delays, launches that fail in one of them; SECONDS=600
	SOAK_SECONDS=$(SECONDS) $(TEST_ENV) $(PY) -m pytest -q -s tests/python/distributed/test_soak.py

fuzz: build ## array-opt on programs that nobody would write, as text and bytecode: none may crash; SECONDS=600
	PATH="$(LLVM_BIN):$$PATH" $(PY) tools/fuzz.py --seconds $(SECONDS)

fuzz-programs: build ## programs that nobody would write, run in every way beside JAX; failures are printed as small tests; SECONDS=600
	PYTHONPATH=tools $(TEST_ENV) $(PY) -m fuzz_programs --seconds $(SECONDS)

bench: build ## speed, compile time and memory beside NumPy, SciPy and jax 0.10.2 (benchmarks/README.md)
	@$(PY) tools/requirements.py bench > .venv/requirements-bench.txt
	@$(PY) -m pip install -q -r .venv/requirements-bench.txt
	@failed=; cores=$$(nproc); \
	for part in run "run --threads 2" compile unrolled memory dynamic picture dispatch threads rows runtime; do \
	  if [[ $$part == *"--threads 2" && $$cores -lt 2 ]]; then continue; fi; \
	  set -- $$part; $(PY) benchmarks/$$1.py "$${@:2}" || failed="$$failed $$1"; \
	done; \
	if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

bench-programs: build .venv/.libraries ## whole JAX programs beside JAX: from an empty disk cache, again, and their steps (benchmarks/programs.py)
	$(PY) benchmarks/programs.py $(NAMES)

bench-distributed: build ## programs of 2 and 4 processes beside jax's gloo, mpi4jax and mpi4py, in turns (benchmarks/distributed.py)
	$(PY) tools/requirements.py bench distributed > .venv/requirements-distributed.txt
	$(PY) -m pip install -q -r .venv/requirements-distributed.txt
	$(PY) benchmarks/distributed.py

bench-jax-backend: build ## the backend that JAX loads beside XLA's CPU, in one process, in turns (benchmarks/jax_backend.py)
	$(PY) benchmarks/jax_backend.py

bench-gpu: build ## bandwidth, products, programs and enqueueing beside jax and torch on the machine's GPU
	@missing="$(GPU_MISSING)"; \
	if [ -n "$$missing" ]; then echo "bench-gpu: skipped: $$missing" >&2; exit 0; fi; \
	$(PY) -m pip install -q $$($(PY) tools/requirements.py bench); $(PY) benchmarks/gpu.py

docs: build ## the documentation's site, into site/; a warning is an error (its examples are run by `make test`)
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

CPP_SOURCES = $(shell git ls-files '*.cpp' '*.h' ':!third_party')
lint: lint-format lint-rooms lint-types ## the three below: ruff, clang-format, import rules, pyright

lint-format: configure ## ruff, and the format of all sources
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	.venv/bin/clang-format --dry-run -Werror $(CPP_SOURCES)

lint-rooms: configure ## which room may import or include what, names of test files, sizes of folders
	.venv/bin/lint-imports --no-cache
	$(PY) tools/check_includes.py
	$(PY) tools/check_test_names.py
	$(PY) tools/check_folders.py

lint-types: configure ## pyright
	$(PY) -m pyright --threads $(JOBS)

fmt: configure ## format all sources
	$(PY) -m ruff check --fix -q . || true
	$(PY) -m ruff format -q .
	.venv/bin/clang-format -i $(CPP_SOURCES)

hooks: configure ## checks of formats and rooms before each commit, of types before each push (.pre-commit-config.yaml)
	@$(PY) tools/requirements.py hooks > .venv/requirements-hooks.txt
	@$(PY) -m pip install -q -r .venv/requirements-hooks.txt
	.venv/bin/pre-commit install --hook-type pre-commit --hook-type pre-push

clean: ## removes the build trees (not .venv)
	rm -rf build build-tsan build-asan build-aarch64 build-coverage dist
