"""Exported functions as shared libraries: results, memory, threads, errors, also in programs without Python."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import export
from pycompiler._compiler import ir
from pycompiler.export.c_source import identifiers

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

ROOT = Path(__file__).parents[3]
RNG = np.random.default_rng(0)
W = RNG.standard_normal((3, 4)).astype(np.float32)
X = RNG.standard_normal((2, 3)).astype(np.float32)
KEY = pc.random.key(3)


def everything(x, params, half, z, small):
    return {
        "product": pnp.tanh(x @ W) + params["b"],
        "routines": (pnp.sort(x), pnp.fft.rfft(x), pc.scipy.special.gammaln(x), pnp.cumsum(x, axis=1)),
        "loop": pc.lax.fori_loop(0, 3, lambda i, c: c * 2 + i, x),
        "half": half + 1,
        "conj": z.conj(),
        "positive": x > 0,
        "random": pc.random.normal(KEY, (5,)),
        "small": small.astype(np.float32),
        "same": x,
        "constant": pnp.arange(3, dtype=np.int8),
    }


ARGS = (
    X,
    {"b": np.float32([1, 2, 3, 4])},
    X.astype(ml_dtypes.bfloat16),
    (X + 1j).astype(np.complex64),
    X.astype(ml_dtypes.float8_e4m3fn),
)


def loaded(written):
    return ctypes.CDLL(str(written.path))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def aligned(shape, dtype, offset=0):
    """An array at an offset in bytes from a multiple of 64."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 128 + offset, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    return memory[start : start + size].view(dtype).reshape(shape)


def called(function, args, shapes, *more, offset=0):
    """The status, and the results in memory of their shapes and dtypes."""
    outs = [aligned(shape.shape, shape.dtype, offset) for shape in shapes]
    return function(*map(pointer, [*args, *outs]), *more), outs


def test_results_are_those_of_the_jitted_function(tmp_path):
    f = pc.jit(everything)
    exported = export.deserialize(export.export(f)(*ARGS).serialize())
    written = export.to_shared_object(exported, tmp_path / "libeverything.so")
    assert (written.path, written.header, written.name) == (
        tmp_path / "libeverything.so",
        tmp_path / "everything.h",
        "everything",
    )
    expected, tree = pc.tree.flatten(f(*ARGS))
    arguments = pc.tree.leaves(ARGS)
    for offset in (0, 8):
        status, outs = called(loaded(written).everything, arguments, expected, offset=offset)
        assert status == 0
        for path, out, other in zip(tree.paths(), outs, expected, strict=True):
            np.testing.assert_array_equal(out, np.asarray(other), err_msg=path)
    declared = written.header.read_text()
    assert "int everything(const float *x, const float *params_b, const uint16_t *half, const float *z," in declared
    for line in (
        "#define EVERYTHING_Z_SIZE 12",
        " *   half: bf16[2,3]: the bits of bfloat16",
        " *   z: c64[2,3]: real and imaginary parts in turn",
        " *   out_positive: bool[2,3]",
    ):
        assert line in declared


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A long loop that threads share, with temporaries: sums of rows, and a sum of all."""

    def rows(x):
        y = pnp.tanh(x) * x
        return (pnp.sort(y, axis=1) * pnp.exp(-y)).sum(axis=1), y.sum()

    folder = tmp_path_factory.mktemp("rows")
    spec = pc.ShapeDtypeStruct((2048, 128), np.float32)
    return rows, spec, export.to_shared_object(rows, folder / "librows.so", spec)


def test_results_may_lie_in_the_memory_of_arguments(tmp_path):
    written = export.to_shared_object(
        lambda x: (x.T * 2, x[::-1]), tmp_path / "turn.so", np.zeros((16, 16), np.float32)
    )
    x = aligned((16, 16), np.float32)
    x[:] = np.arange(256).reshape(16, 16)
    given, other = x.copy(), aligned((16, 16), np.float32)
    assert loaded(written).turn(pointer(x), pointer(x), pointer(other)) == 0
    np.testing.assert_array_equal(x, given.T * 2)
    np.testing.assert_array_equal(other, given[::-1])


def test_a_workspace_of_the_callers(rows):
    f, spec, written = rows
    size = int(re.search(r"ROWS_WORKSPACE_BYTES (\d+)", written.header.read_text())[1])
    x = RNG.standard_normal(spec.shape).astype(np.float32)
    workspace = aligned((size + 64,), np.uint8)
    workspace[size:] = 77
    expected = pc.jit(f)(x)
    library = loaded(written)
    for offset in (0, 4):
        status, outs = called(library.rows_with_workspace, [x], expected, pointer(workspace), offset=offset)
        assert status == 0
        np.testing.assert_array_equal(outs[0], expected[0])
        np.testing.assert_allclose(outs[1], expected[1], rtol=1e-6)
    assert (workspace[size:] == 77).all()
    status, _ = called(library.rows_with_workspace, [x], expected, pointer(workspace[1:]))
    assert status == called(library.rows_with_workspace, [x], expected, None)[0] == 32


def test_threads_call_it_at_the_same_time(rows):
    f, spec, written = rows
    library = loaded(written)
    xs = [RNG.standard_normal(spec.shape).astype(np.float32) for _ in range(4)]
    expected = [pc.jit(f)(x) for x in xs]
    wrong = []

    def work(number):
        for _ in range(5):
            status, outs = called(library.rows, [xs[number]], expected[number])
            if status or not np.array_equal(outs[0], expected[number][0]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_errors_of_calls(rows, tmp_path):
    library = loaded(rows[2])
    library.rows_error_message.restype = library.rows_error_place.restype = ctypes.c_char_p
    total = np.zeros((), np.float32)
    assert library.rows(None, pointer(aligned((2048,), np.float32)), pointer(total)) == 32
    assert library.rows_error_message(32).startswith(b"an argument, a result or the workspace is a null pointer")
    assert library.rows_error_message(0) == b"no error"
    assert library.rows_error_message(2) == b"out of memory"
    assert library.rows_error_message(-5) == library.rows_error_message(99) == b"an unknown error"
    assert library.rows_error_place(3) == library.rows_error_place(3 | 1 << 20) == b""
    assert library.rows_set_num_threads(0) == 34
    assert b"1 or more" in library.rows_error_message(34)


@pytest.fixture(scope="module")
def program(rows, tmp_path_factory):
    """calls.c, linked with two libraries by a C compiler with all warnings."""
    folder = tmp_path_factory.mktemp("program")
    spec = pc.ShapeDtypeStruct((2, 2), np.float32)
    decomposed = export.to_shared_object(lambda a: pnp.linalg.cholesky(a), folder / "libdecomposed.so", spec)
    strict = ["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    folders = [f"-I{written.header.parent}" for written in (rows[2], decomposed)]
    libraries = [str(rows[2].path), str(decomposed.path)]
    source = str(Path(__file__).with_name("calls.c"))
    command = ["cc", *strict, *folders, source, "-o", str(folder / "calls"), *libraries, "-pthread"]
    subprocess.run(command, check=True, timeout=100)
    return folder / "calls", decomposed


def run(program, *args, **environment):
    return subprocess.run([program, *args], env=environment, check=True, timeout=100, capture_output=True, text=True)


def test_a_program_with_threads_and_children(program):
    # It is too late to set the threads once they exist. The results do not differ, also not in the child.
    assert run(program[0], "threads").stdout == "threads 0 34 0\nchild 0\n"


def test_a_program_without_python(program):
    needed = subprocess.run(["ldd", program[0]], check=True, capture_output=True, text=True).stdout
    assert not re.search(r"python|LLVM|MLIR|stdc\+\+|libgcc", needed)


def test_lapack_is_the_systems(program):
    try:
        ctypes.CDLL("liblapack.so.3")
    except OSError:
        pytest.skip("the system has no LAPACK")
    assert run(program[0]).stdout == "2 0 1 2\n"


def test_lapack_that_is_not_there(program):
    said = run(program[0], PYCOMPILER_LAPACK="/no/such/file.so").stdout
    assert said.startswith("33: ")
    assert "/no/such/file.so" in said


def test_the_place_of_what_fails(program):
    library = loaded(program[1])
    library.decomposed_error_place.restype = ctypes.c_char_p
    places = [library.decomposed_error_place(3 | number << 8).decode() for number in (1, 2)]
    assert any(re.fullmatch(r"cholesky at .*test_shared_objects\.py:\d+", place) for place in places)


def test_the_header_is_one_for_cxx_too(rows, tmp_path):
    (tmp_path / "user.cpp").write_text('#include "rows.h"\nint main() { return ROWS_OK * (&rows == nullptr); }\n')
    warnings = ["-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-Wno-address"]
    subprocess.run(["c++", *warnings, f"-I{rows[2].header.parent}", str(tmp_path / "user.cpp")], check=True)


def test_for_another_processor(tmp_path):
    def f(x):
        return pnp.exp(x) * 2

    written = export.to_shared_object(f, tmp_path / "old.so", X, cpu="x86-64", name="f_old")
    assert "for x86-64." in written.header.read_text()
    status, (out,) = called(loaded(written).f_old, [X], [X])
    assert status == 0
    np.testing.assert_allclose(out, np.exp(X) * 2, rtol=1e-6)
    with pytest.raises(ir.MLIRError, match="unknown CPU 'z80'"):
        export.to_shared_object(f, tmp_path / "no.so", X, cpu="z80")
    assert not (tmp_path / "no.so").exists()


def test_names_of_c():
    names = ["params['w'][0]", "x", "X", "int", "0th", "['a']", "_x_", "args"]
    assert identifiers(names, ["args"]) == ["params_w_0", "x", "X_2", "int_", "_0th", "a", "x_3", "args_2"]
    assert identifiers(["pcrt_main"]) == ["_pcrt_main"]
    for wrong in ("2d", "int", "a-b", "", "naïve", "pcrt_main"):
        with pytest.raises(ValueError, match="is not a C function name"):
            export.to_shared_object(lambda x: x, "unused.so", X, name=wrong)


def test_words_of_compilers(tmp_path, monkeypatch):
    """A command with options links. Names that compilers reserve are not used for arguments."""
    monkeypatch.setenv("CXX", "c++ -m64")
    written = export.to_shared_object(lambda typeof, linux: typeof + linux, tmp_path / "f.so", X, X)
    assert "typeof_" in written.header.read_text()


@pytest.mark.parametrize("name", ["function", "run", "args", "rounded"])
def test_plain_words_are_names(name, tmp_path):
    """The source of the library keeps no plain word for itself, be it of the function, an argument or a size."""
    (sites,) = export.symbolic_shape("sites")
    x = np.arange(6, dtype=np.float32)
    for spec, sizes in ((x, ()), (pc.ShapeDtypeStruct((sites,), np.float32), (ctypes.c_int64(6),))):
        path = tmp_path / f"{len(sizes)}.so"
        written = export.to_shared_object(lambda args, bytes: args * bytes, path, spec, spec, name=name)
        out = np.empty(6, np.float32)
        assert getattr(loaded(written), name)(*sizes, pointer(x), pointer(x), pointer(out)) == 0
        np.testing.assert_array_equal(out, x * x)


def test_what_is_refused(tmp_path, monkeypatch):
    exported = export.export(lambda x: x + 1)(X)
    with pytest.raises(TypeError, match="give none"):
        export.to_shared_object(exported, tmp_path / "f.so", X)
    with pytest.raises(ValueError, match="exported for gpu; the library runs on the cpu"):
        export.to_shared_object(export.export(lambda x: x, platforms=["gpu"])(X), tmp_path / "f.so")
    with pytest.raises(ValueError, match="calls a function of this process"):
        export.to_shared_object(lambda x: (pc.debug.print("{}", x), x)[1], tmp_path / "f.so", X)
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(FileNotFoundError, match="CXX names 'no-such-compiler'"):
        export.to_shared_object(exported, tmp_path / "f.so")
    monkeypatch.setenv("CXX", "false")
    with pytest.raises(RuntimeError, match="false can't link f"):
        export.to_shared_object(exported, tmp_path / "f.so")
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"none of c\+\+, g\+\+, clang\+\+ is on PATH(?s:.*)apt-get install g\+\+"
    ):
        export.to_shared_object(exported, tmp_path / "f.so")
    assert os.listdir(tmp_path) == []


def test_the_example(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    given = [f"-DPython_EXECUTABLE={sys.executable}", "-S", str(ROOT / "examples/export_c"), "-B", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    for command in (["cmake", *given], ["cmake", "--build", str(tmp_path)]):
        subprocess.run(command, check=True, timeout=300, env=env, capture_output=True)
    assert run(tmp_path / "rings").stdout.splitlines() == [
        "( 0.5,  0.0) is in the inner ring",
        "( 0.0, -0.4) is in the inner ring",
        "( 1.5,  0.0) is in the outer ring",
        "(-1.0,  1.1) is in the outer ring",
    ]
