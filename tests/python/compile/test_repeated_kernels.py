"""Repeated code in a program is compiled once, as a function. The results and the messages of errors stay the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _compiler, nn
from pycompiler._compiler import ir


def repeated(layer: Callable[[Any], Any], times: int) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        for _ in range(times):
            x = layer(x)
        return x

    return f


def same_as_one_by_one(layer: Callable[[Any], Any], x: Any, times: int) -> str:
    """Compare with the same number of calls of one layer, bit for bit. Returns the module at the stage of loops."""
    whole, one = pc.jit(repeated(layer, times)), pc.jit(layer)
    expected = x = pnp.asarray(x)
    for _ in range(times):
        expected = one(expected)
    np.testing.assert_array_equal(np.asarray(whole(x)), np.asarray(expected))
    return whole.lower(x).as_text("loops")


def kernels(text: str) -> int:
    return len(re.findall(r"func.func private @kernel\d+\(", text))


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("size", [64, 37, 200])
def test_layers_are_one_function(size: int):
    text = same_as_one_by_one(lambda x: pnp.tanh(x @ x * 0.1), normal(size, size), 6)
    assert 1 <= kernels(text) <= 4
    assert text.count("call @kernel") >= 6


def test_rows_that_share_memory():
    text = same_as_one_by_one(lambda x: nn.softmax(x @ x, axis=-1) * 3 + x, normal(70, 70), 5)
    assert kernels(text) >= 1


def test_loops_that_threads_share():
    text = same_as_one_by_one(lambda x: pnp.exp(-pnp.tanh(x) * x), normal(700, 901), 4)
    assert "@kernel0_piece0" in text or kernels(text) == 0


def test_kernels_in_a_loop_of_the_program():
    layers = repeated(lambda x: pnp.tanh(x @ x * 0.1), 3)
    one = pc.jit(layers)
    x = expected = pnp.asarray(normal(40, 40))
    for _ in range(4):
        expected = one(expected)

    def whole(x: Any) -> Any:
        return pc.lax.fori_loop(0, 4, lambda _, x: layers(x), x)

    np.testing.assert_array_equal(np.asarray(pc.jit(whole)(x)), np.asarray(expected))
    assert kernels(pc.jit(whole).lower(x).as_text("loops")) >= 1


@pytest.mark.parametrize("function", ["sin", "exp", "tanh", "log1p", "cbrt"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_called_and_inline_functions_have_the_same_bits(function: str, dtype: str):
    x = np.concatenate([normal(77) * 3, [0.0, -0.0, 6e4, -3e4, np.inf, -np.inf, np.nan, 1e-40]]).astype(dtype)
    with pc.enable_x64(dtype == "float64"):
        f = getattr(pnp, function)
        text = same_as_one_by_one(f, pnp.asarray(x), 12)
        assert f"@math_{function}_" in text
        assert f"@math_{function}_" not in pc.jit(f).lower(pnp.asarray(x)).as_text("loops")
        same_as_one_by_one(f, pnp.asarray(x[0]), 12)


def test_errors_name_the_line_beside_kernels_that_repeat():
    def fails(x: np.ndarray) -> np.ndarray:
        raise RuntimeError("on purpose")

    def f(x: Any) -> Any:
        x = repeated(lambda x: pnp.tanh(x @ x * 0.1), 4)(x)
        x = pc.pure_callback(fails, pc.ShapeDtypeStruct(x.shape, x.dtype), x)
        return repeated(lambda x: pnp.tanh(x @ x * 0.1), 4)(x)

    line = f.__code__.co_firstlineno + 2
    with pytest.raises(RuntimeError) as raised:
        pc.block_until_ready(pc.jit(f)(pnp.ones((64, 64))))
    notes = " ".join([str(raised.value), *getattr(raised.value, "__notes__", [])])
    assert f"test_repeated_kernels.py:{line}" in notes


PRODUCT = """
func.func @main(%x: tensor<96x96xf32>) -> tensor<96x96xf32> {
  %0 = array.dot_general %x, %x contracting = [1] x [0] : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
  return %0 : tensor<96x96xf32>
}
"""


def test_what_was_compiled_for_another_module_is_taken():
    module = ir.Module.parse(PRODUCT, ir.Context())
    _compiler.forget_objects()
    # At this level, the module contains the functions of its product.
    new = _compiler.compile_to_object(module, opt_level=2).object
    known = _compiler.compile_to_object(module, opt_level=2).object
    assert new == known


def test_code_does_not_depend_on_what_was_compiled_before():
    """The passes of code generation are kept from one module to the next."""
    product = ir.Module.parse(PRODUCT, ir.Context())
    other = ir.Module.parse(PRODUCT.replace("96", "30").replace("f32", "f64"), ir.Context())
    first = _compiler.compile_to_object(product).object
    _compiler.compile_to_object(other)
    _compiler.module_at(other, "asm")
    assert _compiler.compile_to_object(product).object == first


def test_passes_are_timed():
    compiled: Any = _compiler.compile_to_object(ir.Module.parse(PRODUCT, ir.Context()))
    names = [name for name, _ in compiled.passes]
    assert {"canonicalize", "array-lower-matmuls", "convert-to-llvm"} <= set(names)
    assert sum(ms for _, ms in compiled.passes) <= sum(ms for _, ms in compiled.timings)
