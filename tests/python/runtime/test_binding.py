"""Executables of programs with symbols: unbound as loaded, bound to sizes by sharing the code."""

import subprocess
import threading

import numpy as np
import pytest

from pycompiler import _runtime as rt
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.tree import tree_flatten

SOURCE = """
#include "runtime/Abi.h"
int64_t pcrt_plan(const int64_t *sizes) {
  int64_t bytes;
  return __builtin_mul_overflow(sizes[0], (int64_t)4, &bytes) ? -1 : bytes;
}
int32_t pcrt_main(const PcrtFrame *frame) {
  int64_t n = frame->sizes[0], m = frame->sizes[1];
  const float *x = frame->args[0];
  float *kept = frame->arena, *out = frame->results[0];
  for (int64_t i = 0; i < n; ++i) kept[i] = 2 * x[i];
  for (int64_t j = 0; j < m; ++j)
    for (int64_t i = 0; i < n; ++i) out[j * n + i] = kept[i] + (float)j;
  return PCRT_OK;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sized")
    (folder / "sized.c").write_text(SOURCE)
    include = "/".join(__file__.split("/")[:-4]) + "/runtime/include"
    flags = ("-c", "-O2", "-fPIC", "-fno-stack-protector", f"-I{include}")
    subprocess.run(["cc", *flags, folder / "sized.c", "-o", folder / "sized.o"], check=True)
    return rt.Executable.load((folder / "sized.o").read_bytes(), "pcrt_main", 0, "sized", 1000.0)


def run(program, n, m):
    x = np.arange(n, dtype=np.float32)
    given = rt.array_from_numpy(x, rt.ShapedArray((n,), dtypes.float32))
    (out,) = program.bind((n, m)).execute([given], [rt.ShapedArray((m, n), dtypes.float32)])
    np.testing.assert_array_equal(np.asarray(out), 2 * x[None] + np.arange(m, dtype=np.float32)[:, None])


def test_it_is_bound_to_sizes(program):
    assert program.is_unbound
    assert program.sizes == ()
    bound = program.bind((5, 3))
    assert not bound.is_unbound
    assert bound.sizes == (5, 3)
    assert bound.arena_bytes == 20
    assert bound.name == "sized"
    assert bound.code_bytes == program.code_bytes
    for n in (0, 1, 2, 1023, 1024, 1025, 50_000):
        run(program, n, 3)


def test_it_is_bound_by_several_threads(program):
    threads = [threading.Thread(target=lambda: [run(program, n, 2) for n in range(1, 100)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_what_is_wrong_is_said(program):
    with pytest.raises(Exception, match=r"'sized' can't be bound to \(-1, 3\): a size is negative"):
        program.bind((-1, 3))
    with pytest.raises(Exception, match="temporaries would take more bytes than can be counted"):
        program.bind((1 << 62, 3))
    with pytest.raises(Exception, match=r"it is bound to \(5, 3\)"):
        program.bind((5, 3)).bind((6, 3))
    aval = rt.ShapedArray((3, 5), dtypes.float32)
    with pytest.raises(ValueError, match="of a program with symbols: bind it to their sizes"):
        rt.CompiledCall(program, (0,), (("result", 0),), (aval,), tree_flatten(0)[1])
    given = rt.array_from_numpy(np.zeros(2, np.float32), rt.ShapedArray((2,), dtypes.float32))
    (out,) = program.execute([given], [rt.ShapedArray((2,), dtypes.float32)])
    with pytest.raises(RuntimeError, match="runs once it is bound to the sizes of its symbols"):
        np.asarray(out)
