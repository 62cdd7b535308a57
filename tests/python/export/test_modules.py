"""Modules of the array dialect as functions: `imported.module_function`, and what it gives to transformations."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler._compiler import ir
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.imported import module_function

NESTED = """
func.func private @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = array.mul %x, %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>, %k: tensor<2xui32>)
    -> (tensor<3xf32>, tensor<2xui32>, tensor<3xf32>, tensor<3xf32>) {
  %y = array.call @square(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y, %k, %x, %y : tensor<3xf32>, tensor<2xui32>, tensor<3xf32>, tensor<3xf32>
}
"""
X, K = np.float32([1, 2, 3]), np.uint32([7, 8])


def test_results_arguments_and_repetitions_are_returned():
    f = module_function(NESTED, name="nested")
    for outs in (f(X, K), pc.jit(f)(X, K)):
        for out, expected in zip(outs, (X * X, K, X, X * X), strict=True):
            np.testing.assert_array_equal(out, expected)
    assert repr(f) == "<function nested of a module: (f32[3], u32[2]) -> (f32[3], u32[2], f32[3], f32[3])>"


def test_bytecode_is_taken_as_text_is():
    data = ir.Module.parse(NESTED, ir.Context()).operation.write_bytecode()
    assert data[:4] == b"ML\xefR"
    np.testing.assert_array_equal(module_function(data)(X, K)[0], X * X)


def test_two_modules_with_the_same_names_in_one_function():
    f = module_function(NESTED)
    g = module_function(NESTED.replace("array.mul", "array.add"))
    both = pc.jit(lambda x: f(x, K)[0] + g(x, K)[0] + f(x, K)[0])
    np.testing.assert_array_equal(both(X), 2 * X * X + 2 * X)
    text = both.lower(X).as_text()
    assert text.count("array.call @main") == 3
    assert text.count("func.func private") == 4


def test_a_module_in_a_loop():
    f = module_function(NESTED)
    out = pc.jit(lambda x: pc.lax.fori_loop(0, 3, lambda i, c: f(c, K)[0], x))(X)
    np.testing.assert_array_equal(out, X**8)


def test_another_entry():
    np.testing.assert_array_equal(module_function(NESTED, entry="square")(X)[0], X * X)
    with pytest.raises(ir.MLIRError, match="no function 'cube'; its functions are square, main"):
        module_function(NESTED, entry="cube")


def test_decompositions_find_lapack():
    f = module_function("""
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = array.cholesky %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}""")
    a = np.float32([[4, 2], [2, 5]])
    np.testing.assert_allclose(f(a)[0], np.linalg.cholesky(a), rtol=1e-6)


def test_other_arguments():
    f = module_function(NESTED)
    with pytest.raises(TypeError, match=r"takes 2 arrays, got 1"):
        f(X)
    with pytest.raises(TypeError, match=r"argument 1 is i32\[2\], but the module takes u32\[2\]"):
        f(X, np.int32([1, 2]))
    wide = module_function("func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> { return %x : tensor<3xf64> }")
    with pytest.raises(TypeError, match=r"module takes f64\[3\]\nWhat to do: 64-bit types are off"):
        wide(np.arange(3.0))


def test_what_can_not_be_done_with_a_module():
    f = module_function(NESTED)
    with pytest.raises(NotImplementedError, match="vmap can't map a module"):
        pc.vmap(lambda x: f(x, K)[0])(pnp.stack([X, X]))
    with pytest.raises(NotDifferentiableError, match="has no derivative of its own"):
        pc.grad(lambda x: f(x, K)[0].sum())(X)


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("func.func @main(%x: tensor<?xf32>) { return }", TypeError, "sizes that are not fixed"),
        ("func.func @main(%x: f32) { return }", TypeError, "f32 is no tensor"),
        ("func.func @main() -> f32 { return }", ir.MLIRError, "return"),
        ("nonsense", ir.MLIRError, "parse"),
        (
            "func.func @main(%x: tensor<f32>) { array.host_call slot = 0 effectful (%x) : (tensor<f32>) -> () return }",
            ValueError,
            "calls functions of the host program",
        ),
    ],
)
def test_modules_that_are_refused(text, error, match):
    with pytest.raises(error, match=match):
        module_function(text)


def test_a_module_of_a_later_version_of_the_dialect_is_refused():
    context = ir.Context()
    data = ir.Module.parse(NESTED, context).operation.write_bytecode()
    # The version is a number of one byte, somewhere: 1 is written as 3, and 2 as 5.
    messages = []
    for place, byte in enumerate(data):
        if byte == 3:
            try:
                ir.Module.parse(data[:place] + b"\x05" + data[place + 1 :], context)
            except ir.MLIRError as error:
                messages.append(str(error))
    assert any("of version 2 of the array dialect, and this compiler reads versions up to 1" in m for m in messages)
