"""Code for lesser machines of the same kind gives the same results on this machine; other kinds compile."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import _compiler, lax, nn
from pycompiler import numpy as jnp
from pycompiler._runtime import Executable, ShapedArray, array_from_numpy

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="about machines of x86-64")

LESSER = {"x86-64": "sse2", "x86-64-v3": "avx2"}


@pytest.fixture(params=LESSER)
def cpu(request: pytest.FixtureRequest) -> str:
    if LESSER[request.param] not in Path("/proc/cpuinfo").read_text().split():
        pytest.skip(f"this machine does not run {request.param}")
    return request.param


def compiled_results(
    function: Callable[..., Any], inputs: tuple[np.ndarray, ...], cpu: str = "", opt_level: int = 1
) -> np.ndarray:
    """The one result of a function, compiled for a CPU."""
    lowered = pc.jit(function).lower(*inputs)
    compiled = _compiler.compile_to_object(lowered.compiler_ir(), cpu=cpu, opt_level=opt_level)
    executable = Executable.load(compiled.object, compiled.entry, compiled.arena_bytes, "test")
    arrays = [array_from_numpy(x, ShapedArray(x.shape, x.dtype)) for x in inputs]
    aval = pc.eval_shape(function, *inputs)
    (result,) = executable.execute(arrays, [ShapedArray(aval.shape, aval.dtype)])
    return np.asarray(result)


UNARY = ("exp", "log", "sin", "tan", "tanh", "sinh", "log1p", "expm1", "arctan", "arcsin", "cbrt", "log2", "exp2")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_math_functions_have_the_same_bits(cpu: str, dtype: str) -> None:
    """Also without an instruction that multiplies and adds with one rounding."""
    rng = np.random.default_rng(0)
    largest = 30.0 if dtype == "float32" else 300.0
    x = np.concatenate([rng.uniform(-10, 10, 999), rng.uniform(-1, 1, 500), 10 ** rng.uniform(-largest, largest, 200)])
    x = np.concatenate([x, [0.0, -0.0, np.inf, -np.inf, np.nan]]).astype(dtype)

    def every(x: Any) -> Any:
        return jnp.stack([*(getattr(jnp, name)(x) for name in UNARY), lax.erf(x), abs(x) ** 1.7, lax.rsqrt(x)])

    with pc.enable_x64(True):
        np.testing.assert_array_equal(compiled_results(every, (x,), cpu), compiled_results(every, (x,)))


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "sum": (lambda x: x.sum(), ((300, 311),)),
    "sum of columns": (lambda x: x.sum(0), ((300, 311),)),
    "softmax": (nn.softmax, ((40, 1003),)),
    "variance": (lambda x: x.var(1), ((40, 1003),)),
    "argmax": (lambda x: x.argmax(1), ((40, 1003),)),
    "transpose": (lambda x, y: x.T + y, ((65, 130), (130, 65))),
    "product": (lambda x, y: x @ y, ((70, 300), (300, 90))),
    "layer": (lambda x, y: nn.relu(x @ y + 1.0), ((1, 300), (300, 90))),
    "loop": (lambda x: lax.fori_loop(0, 10, lambda i, x: x * 0.5 + jnp.cos(x), x), ((1000,),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_close_results(cpu: str, name: str) -> None:
    """Vectors of another width sum in another order."""
    function, shapes = PROGRAMS[name]
    rng = np.random.default_rng(1)
    inputs = tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    ours, host = compiled_results(function, inputs, cpu), compiled_results(function, inputs)
    np.testing.assert_allclose(ours, host, rtol=2e-6, atol=2e-6 * float(np.abs(host).max()))


def test_another_kind_of_machine() -> None:
    module = pc.jit(lambda x: jnp.exp(x) * x).lower(np.ones(1000, np.float32)).compiler_ir()
    compiled = _compiler.compile_to_object(module, triple="aarch64-linux-gnu")
    assert compiled.object[18:20] == b"\xb7\0"  # EM_AARCH64
    assert "fmla\tv" in _compiler.module_at(module, "asm", triple="aarch64-linux-gnu")
    assert "fmaf" not in _compiler.module_at(module, "asm", cpu="x86-64")
    with pytest.raises(_compiler.ir.MLIRError, match="can't generate code for nonsense"):
        _compiler.compile_to_object(module, triple="nonsense")
    with pytest.raises(_compiler.ir.MLIRError, match="unknown CPU 'x86-64-v3' for aarch64"):
        _compiler.compile_to_object(module, cpu="x86-64-v3", triple="aarch64-linux-gnu")


PRODUCTS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "in place": (lambda x, y: x @ y, ((37, 70), (70, 64))),
    "rows": (lambda x, y: x @ y, ((37, 70), (70, 45))),
    "columns": (lambda x, y: x @ y.T, ((37, 70), (45, 70))),
    "strided": (lambda x, y: x @ y[::3], ((5, 4), (10, 3))),
    "narrow": (lambda x, y: x @ y, ((700, 70), (70, 3))),
    "streamed": (lambda x, y: x @ y, ((2, 300), (300, 1111))),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", PRODUCTS)
def test_functions_of_the_build_give_the_same_bits(form: str, dtype: str) -> None:
    """For another optimization level than the default, the module contains the functions."""
    function, shapes = PRODUCTS[form]
    rng = np.random.default_rng(0)
    inputs = tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)
    with pc.enable_x64(True):
        found = compiled_results(function, inputs)
        np.testing.assert_array_equal(found, compiled_results(function, inputs, opt_level=2))
    np.testing.assert_allclose(found, function(*inputs), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bfloat16"])
@pytest.mark.parametrize("columns", [16, 45])
def test_pairs_of_the_build_give_the_same_bits(columns: int, dtype: str) -> None:
    """Factors along the sum and across it."""
    wide = np.dtype(np.float32 if dtype == "bfloat16" else np.int32)
    rng = np.random.default_rng(0)
    left, right = (rng.integers(0, 99, shape).astype(dtype) for shape in ((37, 71), (71, columns)))
    for x, y, order in [(left, right, "xy"), (left.T.copy(), right.T.copy(), "")]:

        def product(x: Any, y: Any, order: str = order) -> Any:
            return jnp.matmul(x if order else x.T, y if order else y.T, preferred_element_type=wide)

        found = compiled_results(product, (x, y))
        np.testing.assert_array_equal(found, compiled_results(product, (x, y), opt_level=2))
        np.testing.assert_array_equal(found, left.astype(wide) @ right.astype(wide))


def test_the_build_has_functions_for_machines_with_avx2(cpu: str) -> None:
    functions = {"matmul_tiles_f32_6x16", "matmul_pack_columns_f64_6x8", "matmul_dot2_left_s8_rows_16"}
    expected = functions if cpu == "x86-64-v3" else set[str]()
    assert expected == expected & set(_compiler.built_functions(cpu=cpu))
    assert bool(expected) == bool(_compiler.built_functions(cpu=cpu))


@pytest.mark.parametrize(("cpu", "asks"), [("sapphirerapids", True), ("znver4", False)])
def test_only_some_machines_are_asked_to_fetch_ahead(cpu: str, asks: bool) -> None:
    """AMD's cores are slower for it (measured; HostTarget::features)."""
    module = pc.jit(jnp.sum).lower(np.zeros(1 << 24, np.float32)).compiler_ir()
    code = _compiler.module_at(module, "asm", cpu=cpu)
    assert ("prefetch" in code) == asks
