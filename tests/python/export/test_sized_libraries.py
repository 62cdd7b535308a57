"""Shared libraries of functions whose sizes are parameters: the generated C, and its compiled results."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import export
from pycompiler.core.types.aval import shaped
from pycompiler.export.c_sizes import Size, expression
from pycompiler.export.c_source import Library, Parameter, header, source
from pycompiler.export.shared_object import _ARCHIVE

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

N = pc.Dim("n", min=2, max=64, multiple_of=2)
M = pc.Dim("m")

# f32[n,3] and f32[m] to f32[n//2 + m], by hand.
CODE = """
#include "runtime/Abi.h"
int64_t pcrt_plan(const int64_t *sizes) { return sizes[1] * 4; }
int32_t pcrt_main(const PcrtFrame *frame) {
  int64_t m = frame->sizes[0], n = frame->sizes[1];
  const float *x = frame->args[0], *y = frame->args[1];
  float *kept = frame->arena, *out = frame->results[0];
  for (int64_t i = 0; i < n; ++i) kept[i] = x[3 * i] + x[3 * i + 1] + x[3 * i + 2];
  for (int64_t i = 0; i < n / 2; ++i) out[i] = kept[2 * i];
  for (int64_t i = 0; i < m; ++i) out[n / 2 + i] = y[i];
  return PCRT_OK;
}
"""


@pytest.mark.parametrize("sizes", [{"n": 2, "m": 1}, {"n": 12, "m": 7}])
@pytest.mark.parametrize(
    "dim", [N, 3 * N + 1, N * M - 1, N // 4, (M + 1) // 3 * 5, (M - 5) // 3 + 7, N // 2 + M, M * M * 2, 6]
)
def test_expressions_are_those_of_python(dim, sizes, tmp_path):
    text = expression(dim, {"n": "n", "m": "m"})
    program = f"""#include <stdint.h>
    #include <stdio.h>
    int main(void) {{ int n = {sizes["n"]}, m = {sizes["m"]}; (void)n; (void)m;
      printf("%ld", (long)(int64_t)({text})); return 0; }}"""
    (tmp_path / "e.c").write_text(program)
    subprocess.run(["cc", "-Wall", "-Werror", tmp_path / "e.c", "-o", tmp_path / "e"], check=True)
    shown = subprocess.run([tmp_path / "e"], capture_output=True, text=True, check=True).stdout
    assert int(shown) == (dim if isinstance(dim, int) else dim.evaluate(sizes))


def link(tmp_path, library, code):
    (tmp_path / "lib.h").write_text(header(library))
    (tmp_path / "lib.c").write_text(source(library, "lib.h"))
    (tmp_path / "code.c").write_text(code)
    include = Path(__file__).parents[3] / "runtime" / "include"
    flags = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-o", str(tmp_path / "lib.so"))
    inputs = [str(tmp_path / "lib.c"), str(tmp_path / "code.c"), str(_ARCHIVE)]
    subprocess.run(["cc", *flags, *inputs, "-lstdc++", "-lm", "-lpthread", "-ldl"], check=True)
    # A C++ compiler accepts the header, too.
    (tmp_path / "use.cc").write_text('#include "lib.h"\nint main() { return f_workspace_bytes(1, 2) > 0; }\n')
    subprocess.run(["c++", "-fsyntax-only", "-Wall", "-Werror", str(tmp_path / "use.cc")], check=True)
    return ctypes.CDLL(str(tmp_path / "lib.so"))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def test_sizes_are_parameters(tmp_path):
    arguments = [Parameter("x", shaped((N, 3), np.dtype("f4"))), Parameter("y", shaped((M,), np.dtype("f4")))]
    results = [Parameter("out", shaped((N // 2 + M,), np.dtype("f4")))]
    sizes = [Size("m", M.symbol()), Size("n", N.symbol())]
    library = Library("f", "f", "any", arguments, results, [], 0, False, [("sort", "a.py:1")], sizes)
    said = header(library)
    assert "int f(int64_t m, int64_t n, const float *x, const float *y, float *out);" in said
    assert "int64_t f_workspace_bytes(int64_t m, int64_t n);" in said
    assert "n: the size n, from 2 to 64, a multiple of 2" in said
    assert "#define F_X_SIZE(m, n)" in said
    linked = link(tmp_path, library, CODE)
    linked.f_workspace_bytes.restype = ctypes.c_int64
    linked.f_error_message.restype = ctypes.c_char_p
    sizes_given = [(ctypes.c_int64(m), ctypes.c_int64(n)) for m, n in ((1, 2), (5, 64), (40, 10))]
    for m, n in sizes_given:
        x = np.random.default_rng(0).standard_normal((n.value, 3)).astype(np.float32)
        y = np.arange(m.value, dtype=np.float32)
        expected = np.concatenate([x.sum(1)[::2], y])
        out = np.zeros(n.value // 2 + m.value, np.float32)
        assert linked.f(m, n, pointer(x), pointer(y), pointer(out)) == 0
        np.testing.assert_allclose(out, expected, rtol=1e-5)
        need = linked.f_workspace_bytes(m, n)
        assert need >= 4 * n.value + out.nbytes
        room = np.zeros(need + 64, np.uint8)
        start = -room.ctypes.data % 64
        out[:] = 0
        place = ctypes.c_void_p(room.ctypes.data + start)
        assert linked.f_with_workspace(m, n, pointer(x), pointer(y), pointer(out), place) == 0
        np.testing.assert_allclose(out, expected, rtol=1e-5)
    for m, n in ((1, 3), (1, 66), (0, 2), (-1, 2)):
        status = linked.f(ctypes.c_int64(m), ctypes.c_int64(n), None, None, None)
        assert b"a size is outside of its bounds" in linked.f_error_message(status)
        assert linked.f_workspace_bytes(ctypes.c_int64(m), ctypes.c_int64(n)) == -1


def test_a_function_of_every_size(tmp_path):
    exported = export.export(lambda n, x: (pnp.tanh(x) * n, x.sum(0)))(
        pc.ShapeDtypeStruct((), pnp.float32), pc.ShapeDtypeStruct((pc.Dim("n"), 3), pnp.float32)
    )
    written = export.to_shared_object(exported, tmp_path / "libtanh.so")
    assert "(int64_t n, const float *n_2, const float *x, " in written.header.read_text()
    function = getattr(ctypes.CDLL(str(written.path)), written.name)
    scale = np.float32([2])
    for n in (1, 3, 100):
        x = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
        out, total = np.zeros((n, 3), np.float32), np.zeros(3, np.float32)
        assert function(ctypes.c_int64(n), pointer(scale), pointer(x), pointer(out), pointer(total)) == 0
        np.testing.assert_allclose(out, np.tanh(x) * 2, rtol=1e-5)
        np.testing.assert_allclose(total, x.sum(0), rtol=1e-4, atol=1e-5)
