"""NVIDIA's libraries for the same operations. On the emulated GPU they are emulated (tests/emulator/libraries): they
compute the documented results, and refuse the documented errors."""

import ctypes
import os
import re
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler._runtime import gpu_library_names
from pycompiler.compile.gpu_libraries import PRIMITIVES
from pycompiler.core.config.config import config, enable_x64, gpu_libraries
from pycompiler.core.errors import ExecutionError

GPU = True
GPU_LIBRARIES = ("cublaslt", "cufft", "cusolver")

BF16 = ml_dtypes.bfloat16
IS_EMULATED = any(device.device_kind.startswith("Emulated") for device in pc.devices())


def asks_the_emulation():
    # This is not a mark, because only the process that runs the test knows its devices.
    if not IS_EMULATED:
        pytest.skip("asks the emulated library")


class Emulated:
    """The controls of an emulated library."""

    def __init__(self, name):
        self.library = ctypes.CDLL(os.environ[f"PYCOMPILER_{name.upper()}"])
        self.library.emulatedComputations.restype = ctypes.c_uint64

    def computations(self):
        return self.library.emulatedComputations()

    def fail_next(self, status):
        self.library.emulatedFailNext(status)


def computed_by(name, function, *args):
    """The result of a call, and the number of computations of the library; None on a real GPU."""
    library = Emulated(name) if IS_EMULATED else None
    before = library.computations() if library else 0
    result = pc.tree.map(np.asarray, function(*args))
    return result, library.computations() - before if library else None


def data(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def assert_product(got, left, right, spec="mk,kn->mn", finish=lambda sums: sums):
    """`got` is the product, each element within the rounding of its terms' sum, and of its own type."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    want, size = (
        finish(np.einsum(spec, left, right, optimize=True)),
        np.einsum(spec, abs(left), abs(right), optimize=True),
    )
    sums = np.finfo(np.float64 if got.dtype == np.float64 else np.float32).eps
    limit = 4 * sums * size + float(ml_dtypes.finfo(got.dtype).eps) * (abs(want) + 1e-30)
    wrong = np.abs(got.astype(np.float64) - want) > limit
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} elements differ, the first at {np.argwhere(wrong)[0]}"


#  -- Products


SIZES = {"m": 264, "n": 256, "k": 272, "b": 3}
SPECS = [
    "mk,kn->mn",
    "km,kn->mn",
    "mk,nk->mn",
    "km,nk->mn",
    "mk,kn->nm",
    "bmk,bkn->bmn",
    "bmk,kn->bmn",
    "bkm,bnk->bmn",
    "bkm,kn->bmn",
    "mk,bkn->bmn",
]


def operands(spec, dtype):
    parts = enumerate(spec.split("->")[0].split(","))
    return [data(*(SIZES[dim] for dim in part), dtype=dtype, seed=seed) for seed, part in parts]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BF16], ids=str)
@pytest.mark.parametrize("spec", SPECS)
def test_products_of_every_layout_and_type(spec, dtype):
    with enable_x64(True):
        left, right = operands(spec, dtype)
        got, count = computed_by("cublaslt", pc.jit(lambda a, b: pnp.einsum(spec, a, b)), left, right)
    assert got.dtype == dtype
    # The last operand is transposed by the kernel that multiplies: with few terms, this is better.
    is_generated = spec == "mk,bkn->bmn" and dtype in (np.float32, np.float64)
    assert count in (0 if is_generated else 1, None)
    assert_product(got, left, right, spec)


@pytest.mark.parametrize("dtype", [np.float16, BF16], ids=str)
def test_sums_of_narrow_factors_are_to_be_had(dtype):
    left, right = operands("mk,kn->mn", dtype)

    def product(a, b):
        return pc.lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=np.float32)

    got, count = computed_by("cublaslt", pc.jit(product), left, right)
    assert got.dtype == np.float32
    assert count in (1, None)
    assert_product(got, left, right)


def test_factors_are_rounded_to_tf32_where_that_is_asked_for():
    left, right = operands("mk,kn->mn", np.float32)
    got, count = computed_by("cublaslt", pc.jit(lambda a, b: pnp.matmul(a, b, precision="tensorfloat32")), left, right)
    assert count in (1, None)

    def rounded(x):
        return ((x.view(np.uint32) + 0x1000) & 0xFFFFE000).view(np.float32)

    if IS_EMULATED:
        assert_product(got, rounded(left), rounded(right))
    else:  # the library may truncate the bits that tf32 lacks
        np.testing.assert_array_less(abs(got - left.astype(float) @ right), 2.0**-9 * (abs(left) @ abs(right)))
    with pytest.raises(AssertionError):
        assert_product(got, left, right)


def test_parts_of_arrays_are_multiplied_where_they_lie():
    left, right = data(300, 300), data(270, 400, seed=1)
    got, count = computed_by("cublaslt", pc.jit(lambda a, b: a[8:280, 20:290] @ b[:, 100:356]), left, right)
    assert count in (1, None)
    assert_product(got, left[8:280, 20:290], right[:, 100:356])


def test_what_follows_is_a_kernel_after_many_terms():
    left, right, bias = data(256, 1024), data(1024, 256, seed=1), data(256, seed=2)
    got, count = computed_by("cublaslt", pc.jit(lambda a, b, c: pnp.maximum(a @ b + c, 0)), left, right, bias)
    assert count in (1, None)
    assert_product(got, left, right, finish=lambda sums: np.maximum(sums + bias, 0))


def test_the_workspace_is_nobody_elses():
    left, right = data(256, 2048), data(2048, 256, seed=1)

    def chain(a, b):
        first = a @ b
        return first, pnp.sin(first) @ first, a @ b

    got, count = computed_by("cublaslt", pc.jit(chain), left, right)
    assert count in (2, 3, None)
    assert_product(got[0], left, right)
    assert_product(got[1], np.sin(got[0]), got[0])
    np.testing.assert_array_equal(got[0], got[2])


def test_a_loop_of_products():
    left, right = data(256, 256) / 16, data(256, 256, seed=1)
    power = pc.jit(lambda a, b: pc.lax.fori_loop(0, 3, lambda i, x: a @ x, b))
    got, count = computed_by("cublaslt", power, left, right)
    assert count in (3, None)
    np.testing.assert_allclose(got, left @ (left @ (left @ right)), rtol=1e-4, atol=1e-4)


def test_gradients():
    left, right = data(256, 512), data(512, 256, seed=1)
    pull = pc.jit(lambda a, b: pc.grad(lambda x, y: ((x @ y) ** 2).sum(), argnums=(0, 1))(a, b))
    got, count = computed_by("cublaslt", pull, left, right)
    assert count in (3, None)
    sums = left.astype(np.float64) @ right
    np.testing.assert_allclose(got[0], 2 * sums @ right.T, rtol=1e-3, atol=1)
    np.testing.assert_allclose(got[1], 2 * left.T @ sums, rtol=1e-3, atol=1)


def test_the_same_product_gives_the_same_bits():
    left, right = operands("mk,kn->mn", np.float32)
    product = pc.jit(pnp.matmul)
    first = np.asarray(product(left, right))
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(product(left, right)), first)


#  -- The choice


def test_the_setting_says_whether():
    asks_the_emulation()
    left, right = operands("mk,kn->mn", np.float32)
    product = pc.jit(pnp.matmul)
    with gpu_libraries("none"):
        got, count = computed_by("cublaslt", product, left, right)
        assert count == 0
        assert_product(got, left, right)
    with gpu_libraries("cublaslt"):
        assert computed_by("cublaslt", product, left, right)[1] == 1
    assert computed_by("cublaslt", product, left, right)[1] == 1
    assert computed_by("cublaslt", pc.jit(pnp.matmul), left[:40], right)[1] == 0  # a small one
    with gpu_libraries("none"):
        assert computed_by("cublaslt", pnp.matmul, left, right)[1] == 0
    assert computed_by("cublaslt", pnp.matmul, left, right)[1] == 1


def test_a_short_product_leaves_what_follows_in_the_kernel():
    asks_the_emulation()
    left, right, bias = *operands("mk,kn->mn", np.float32), data(256, seed=2)
    got, count = computed_by("cublaslt", pc.jit(lambda a, b, c: pnp.tanh(a @ b + c)), left, right, bias)
    assert count == 0
    assert_product(got, left, right, finish=lambda sums: np.tanh(sums + bias))


def test_the_disk_cache_tells_them_apart():
    asks_the_emulation()
    left, right = operands("mk,kn->mn", np.float32)

    def counts(setting):
        with gpu_libraries(setting):
            compiled = pc.jit(lambda a, b: a @ b).lower(left, right).compile()
            return computed_by("cublaslt", compiled, left, right)[1], compiled._compilation.from_disk

    for setting in ("auto", "none"):
        counts(setting)
    assert [counts(setting) for setting in ("auto", "none")] == [(1, True), (0, True)]


def test_the_setting_is_of_known_names():
    assert {*PRIMITIVES, "nccl"} == set(gpu_library_names())
    with pytest.raises(ValueError, match=r"gpu_libraries must be 'auto', 'none', or some of cublaslt.*got 'cublas'"):
        config.override("gpu_libraries", "cublas").__enter__()
    with gpu_libraries(" cublaslt"):
        assert config.gpu_libraries == "cublaslt"


PROGRAM = "import numpy, pycompiler.numpy as pnp; x = numpy.ones((256, 256), 'f4'); print(float((pnp.dot(x, x))[3, 4]))"


def in_a_process(program=PROGRAM, **variables):
    environment = {name: text for name, text in os.environ.items() if name != "PYCOMPILER_CUBLASLT"}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env={**environment, **variables}, capture_output=True, text=True, check=False)


def test_without_a_library_kernels_do():
    asks_the_emulation()
    done = in_a_process()
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "256.0"
    done = in_a_process(PROGRAM + "; import pycompiler as pc; print(*pc.debug.remarks())")
    assert re.search(r"^256\.0\n.*library-not-used: cublaslt: cuBLASLt can't be used", done.stdout), done.stdout


def test_a_library_that_is_asked_for_must_be_there():
    asks_the_emulation()
    done = in_a_process(PYCOMPILER_GPU_LIBRARIES="cublaslt")
    assert "the setting gpu_libraries asks for 'cublaslt': cuBLASLt can't be used" in done.stderr
    assert "PYCOMPILER_CUBLASLT" in done.stderr
    done = in_a_process(PYCOMPILER_GPU_LIBRARIES="cublaslt", PYCOMPILER_CUBLASLT="/nowhere/libcublasLt.so.12")
    assert "looked for /nowhere/libcublasLt.so.12" in done.stderr
    done = in_a_process(PYCOMPILER_GPU_LIBRARIES="cublas")
    assert "gpu_libraries must be 'auto', 'none', or some of cublaslt, cufft, cusolver" in done.stderr


def test_a_failure_has_the_librarys_words_and_the_users_line():
    asks_the_emulation()
    left, right = operands("mk,kn->mn", np.float32)
    product = pc.jit(lambda a, b: a @ b)
    expected = np.asarray(product(left, right))
    Emulated("cublaslt").fail_next(13)
    with pytest.raises(ExecutionError) as failure:
        np.asarray(product(left, right))
    text = str(failure.value)
    assert "a product of 1 matrices of 264 x 272 and 272 x 256 by cuBLASLt: cublasLtMatmul failed" in text
    assert "CUBLAS_STATUS_EXECUTION_FAILED, 13" in text
    assert "test_libraries.py" in text
    np.testing.assert_array_equal(np.asarray(product(left, right)), expected)
