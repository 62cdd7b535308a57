#!/usr/bin/env bash
# Runs parts of the GPU's tests and measurements on a machine with a GPU, from a wheel and this checkout, without a
# build. Each part ends within ten minutes and leaves its log in the folder OUT.
#
#   tools/first_gpu_run.sh pack KIT                      where the project is built: a kit of the wheel in dist/ and the C++ tests
#   OUT=results tools/first_gpu_run.sh unpack KIT        on the other machine: the extension modules come into the checkout
#   OUT=results tools/first_gpu_run.sh PART...           smoke, conformance, tests, all-tests, kernels, bench, profile, sanitizer
set -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
PYTHON=${PYTHON:-python3}
OUT=$(realpath -m "${OUT:-gpu-results}")
WORKERS=${WORKERS:-$(nproc)}
export OUT
mkdir -p "$OUT"
export PYCOMPILER_PLATFORM=gpu PYTHONUNBUFFERED=1 PYTHONPATH="$PWD:$PWD/tools"

TESTS=${TESTS:-"array/test_asynchronous.py array/test_types_and_placement.py jit/test_jit.py jit/test_tracing_rules.py
  primitives/test_table.py spmd/test_mapping_over_devices.py spmd/test_placement.py kernel/test_kernel_on_gpu.py
  kernel/test_kernel_call.py kernel/test_pallas_call.py
  gpu/test_jit_on_gpu.py gpu/test_libraries.py gpu/test_library_routines.py
  gpu/test_primitives_on_gpu.py gpu/test_several_devices.py"}

pack() {
  local folder
  folder=$(mktemp -d)
  unzip -q -d "$folder" "${WHEEL:-$(ls -t dist/*.whl | head -n 1)}"
  mkdir -p "$folder/build/tests"
  cp build/tests/ConformanceTest "$folder/build/tests"
  (cd "$folder" && find . -name '*.py' -delete && tar c . | xz -T0 -6) > "$1"
  rm -r "$folder"
  ls -l "$1"
}

# The modules of Python come from the checkout.
unpack() { tar xJf "$1" && ls -l build/tests pycompiler/*.so; }

smoke() {
  nvidia-smi
  timeout 120 "$PYTHON" - << 'END'
import time
import numpy as np
import pycompiler as pc, pycompiler.numpy as pnp
print(pc.devices(), pc.devices()[0].device_kind)
x = np.random.default_rng(0).standard_normal((256, 384)).astype(np.float32)
start = time.perf_counter()
y = pc.jit(lambda x: pnp.tanh(x @ x.T).sum(0) + 1)(x)
print("first call", time.perf_counter() - start)
np.testing.assert_allclose(np.asarray(y), np.tanh(x @ x.T).sum(0) + 1, rtol=1e-4, atol=1e-3)
print("right")
END
}

conformance() { timeout 40 build/tests/ConformanceTest gpu; }

run_pytest() {
  timeout "${LIMIT:-560}" "$PYTHON" -m pytest -p no:cacheprovider -q -n "$WORKERS" --dist load -m "not full" --timeout 60 \
    --timeout-method=thread --tb=short -p gpu_failures "$@" 2> "$OUT/stderr.log"
}

tests() { run_pytest $(printf 'tests/python/%s ' $TESTS); }

all-tests() { run_pytest ${FOLDERS:-tests/python/{array,core,interpreters,jit,lax,nn,numpy,primitives,random,runtime,scipy,transforms}}; }

# Own kernels beside the composed functions.
kernels() { timeout "${LIMIT:-300}" "$PYTHON" benchmarks/kernels.py $KERNELS; }

profile() { (cd benchmarks && timeout "${LIMIT:-300}" "$PYTHON" gpu_profile.py ${PROFILED:-softmax cumsum sort}); }

bench() { (cd benchmarks && timeout -s ABRT "${LIMIT:-590}" "$PYTHON" -X faulthandler gpu.py --runs "${RUNS:-9}" --json "$OUT/bench-gpu.json" $CASES); }

sanitizer() {
  local tool
  for tool in memcheck racecheck; do
    timeout "${LIMIT:-280}" compute-sanitizer --tool $tool --print-limit 20 "$PYTHON" -m pytest -p no:cacheprovider -v \
      ${SANITIZED:-tests/python/gpu/test_primitives_on_gpu.py} > "$OUT/$tool.log" 2>&1 &
  done
  wait
  grep -h -E "^=========|passed|failed" "$OUT/memcheck.log" "$OUT/racecheck.log" | head -n 60
}

case $1 in
pack | unpack) "$@" ;;
*)
  for part in "$@"; do
    start=$SECONDS
    "$part" > "$OUT/$part.log" 2>&1
    echo "$part: status $?, $((SECONDS - start)) s; the end of $OUT/$part.log:"
    tail -n "${LINES_SHOWN:-25}" "$OUT/$part.log"
  done
  ;;
esac
