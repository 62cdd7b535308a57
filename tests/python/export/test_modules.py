"""Modules of the array dialect as functions: `imported.module_function`, and its use in transformations."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler._compiler import ir
from pycompiler.compile import foreign
from pycompiler.core.errors import ExecutionError, NotDifferentiableError
from pycompiler.jit.imported import module_function

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


# Places and written bytes: MLIR's reader aborts, reads foreign memory, or does not end.
DAMAGE = {"aborts": (18, 0), "crashes": (152, 0), "hangs": (127, 1), "is no text": (15, 255), "is refused": (3, 0)}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_bytecode_is_an_error(kind, monkeypatch):
    monkeypatch.setattr(foreign, "_SECONDS", 1)
    data = bytearray(ir.Module.parse(NESTED, ir.Context()).operation.write_bytecode())
    place, byte = DAMAGE[kind]
    data[place] = byte
    with pytest.raises(ir.MLIRError, match="can't parse the module") as raised:
        module_function(bytes(data))
    assert (raised.value.line, raised.value.notes) == (None, [])
    assert raised.value.message


def test_bytecode_needs_an_interpreter(monkeypatch):
    data = ir.Module.parse(NESTED, ir.Context()).operation.write_bytecode()
    monkeypatch.setattr(foreign.sys, "executable", None)
    with pytest.raises(ir.MLIRError, match=r"sys\.executable is None.*\nWhat to do: .*give the module as text"):
        module_function(data)


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


def test_symbolic_sizes(counts):
    """One compilation for all sizes; the names of symbols may be left out."""
    f = module_function("""
    #n = affine_map<()[s0] -> (s0 * 2)>
    func.func @main(%x: tensor<?xf32> {array.dims = #n}) -> (tensor<?xf32> {array.dims = #n}) attributes {
        array.symbols = [{min = 1 : i64, max = 8 : i64}], array.requires = [
          {condition = "at_least", sizes = affine_map<(d0) -> (10, d0, d0)>, message = "{0} is much"}]} {
      %y = array.tanh %x : tensor<?xf32>
      return %y : tensor<?xf32>
    }""")
    assert repr(f) == "<function main of a module: (f32[2*s0]) -> (f32[2*s0])>"
    for size in (2, 6, 10):
        x = np.linspace(-1, 1, size, dtype=np.float32)
        np.testing.assert_allclose(f(x)[0], np.tanh(x), rtol=1e-5)
    assert counts.compiled == 1
    with pytest.raises(ValueError, match="main: 12 is much"):
        f(np.ones(12, np.float32))
    with pytest.raises(ValueError, match=r"is 5 = 2\*s0, but s0 must be from 1 to 8"):
        f(np.ones(5, np.float32))


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("func.func @main(%x: tensor<?xf32>) { return }", TypeError, "sizes that are not fixed"),
        (
            "func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[s0, s1] -> (s1)>}) attributes "
            '{array.symbols = [{name = "b"}, {name = "a"}]} { return }',
            TypeError,
            r"the names of the symbols of @main are \['b', 'a'\], expected distinct ones in their order",
        ),
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
    # The version is a number of one byte at an unknown place: 1 is written as 3, and 2 as 5.
    messages = []
    for place, byte in enumerate(data):
        if byte == 3:
            try:
                ir.Module.parse(data[:place] + b"\x05" + data[place + 1 :], context)
            except ir.MLIRError as error:
                messages.append(str(error))
    assert any("of version 2 of the array dialect, and this compiler reads versions up to 1" in m for m in messages)


# The conditions of a run are checked: docs/array-run.md, Modules from elsewhere.

EXTRACT = """
func.func @main(%x: tensor<3xf32>, %i: tensor<i32>) -> tensor<f32> {
  %n = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %n : i32 to index
  %e = tensor.extract %x[%k] : tensor<3xf32>
  %y = tensor.from_elements %e : tensor<f32>
  return %y : tensor<f32>
}
"""


@pytest.mark.parametrize("index", [-1, 3, 10**9, -(2**31)])
def test_an_index_outside_of_a_tensor_is_an_error_of_the_run(index):
    f = module_function(EXTRACT, name="extracting")
    assert float(f(X, np.int32(2))[0]) == 3
    for call in (f, pc.jit(f)):
        with pytest.raises(
            ExecutionError, match=rf"tensor\.extract: the index in dimension 0 of operand #0 is {index}, e"
        ):
            call(X, np.int32(index))[0].block_until_ready()
    assert float(f(X, np.int32(0))[0]) == 1  # the next call works


SLICES = """
func.func @main(%x: tensor<3xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<3xf32> {
  %e = tensor.extract %i[] : tensor<i32>
  %n = arith.index_cast %e : i32 to index
  %f = tensor.extract %j[] : tensor<i32>
  %m = arith.index_cast %f : i32 to index
  %s = tensor.extract_slice %x[0] [%n] [1] : tensor<3xf32> to tensor<?xf32>
  %r = tensor.insert_slice %s into %x[1] [%m] [1] : tensor<?xf32> into tensor<3xf32>
  return %r : tensor<3xf32>
}
"""


@pytest.mark.parametrize(
    ("taken", "put", "message"),
    [
        (4, 4, r"tensor\.extract_slice: takes 4 elements of dimension 0 of operand #0 from 0 .* within its size, 3"),
        (10**9, 10**9, r"tensor\.extract_slice: takes 1000000000 elements"),
        (-1, -1, r"tensor\.extract_slice: takes -1 elements"),
        (3, 3, r"tensor\.insert_slice: takes 3 elements of dimension 0 of operand #1 from 1 .* within its size, 3"),
        (2, 1, r"tensor\.insert_slice: dimension 0 of operand #0 has the size 2, expected 1"),
    ],
)
def test_slices_of_sizes_that_data_decides(taken, put, message):
    f = module_function(SLICES, name="slicing")
    assert np.asarray(f(X, np.int32(2), np.int32(2))[0]).tolist() == [1, 1, 2]
    with pytest.raises(ExecutionError, match=message):
        f(X, np.int32(taken), np.int32(put))[0].block_until_ready()
    assert np.asarray(f(X, np.int32(0), np.int32(0))[0]).tolist() == [1, 2, 3]


def test_the_indices_of_a_loop():
    f = module_function("""
      func.func @main(%x: tensor<3xf32>, %i: tensor<i32>) -> tensor<f32> {
        %e = tensor.extract %i[] : tensor<i32>
        %n = arith.index_cast %e : i32 to index
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %z = arith.constant 0.0 : f32
        %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
          %v = tensor.extract %x[%k] : tensor<3xf32>
          %b = arith.addf %a, %v : f32
          scf.yield %b : f32
        }
        %r = tensor.from_elements %s : tensor<f32>
        return %r : tensor<f32>
      }""")
    assert float(f(X, np.int32(3))[0]) == 6
    with pytest.raises(
        ExecutionError, match=r"tensor\.extract: the index in dimension 0 of operand #0 is 3, expected 0"
    ):
        f(X, np.int32(10**9))[0].block_until_ready()


def test_constant_sizes_that_do_not_fit_are_refused():
    f = module_function("""
      func.func @main(%x: tensor<3xf32>, %y: tensor<4xf32>) -> tensor<f32> {
        %a = tensor.cast %x : tensor<3xf32> to tensor<?xf32>
        %b = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
        %s = array.add %a, %b : tensor<?xf32>
        %r = array.reduce_sum %s axes = [0] : (tensor<?xf32>) -> tensor<f32>
        return %r : tensor<f32>
      }""")
    with pytest.raises(ir.MLIRError, match=r"add: sizes that don't fit, at dimension 0 of operand #1: \[4, 3\]"):
        f(X, np.ones(4, np.float32))


def test_an_integer_divided_by_zero():
    f = module_function("""
      func.func @main(%x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
        %a = tensor.extract %x[] : tensor<i32>
        %b = tensor.extract %y[] : tensor<i32>
        %q = arith.divsi %a, %b : i32
        %r = arith.remsi %a, %b : i32
        %p = tensor.from_elements %q : tensor<i32>
        %s = tensor.from_elements %r : tensor<i32>
        return %p, %s : tensor<i32>, tensor<i32>
      }""")
    for x, y, expected in [(7, 0, (-1, 7)), (-(2**31), -1, (-(2**31), 0)), (7, -2, (-3, 1))]:
        assert tuple(map(int, f(np.int32(x), np.int32(y)))) == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%m = memref.alloc() : memref<4xf32>", r"memref\.alloc.* its memory accesses can't be checked"),
        ("%z = array.constant dense<1.0> : tensor<f32>\n%b = array.broadcast_in_dim %z broadcast_dimensions = [] : "
         "(tensor<f32>) -> tensor<4611686018427387905xf32>", r"takes more bytes than 2\*\*63 - 1"),
    ],
)  # fmt: skip
def test_what_can_not_be_checked_is_refused(body, message):
    text = f"func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{\n{body}\nreturn %x : tensor<3xf32>\n}}"
    with pytest.raises(ir.MLIRError, match=message):
        module_function(text)(X)


def test_an_attribute_of_another_kind_is_refused():
    with pytest.raises(ir.MLIRError, match="collapsed_slice_dims"):
        module_function("""
          func.func @main(%x: tensor<3x8xf32>, %i: tensor<2xi32>) -> tensor<2x8xf32> {
            %y = array.gather %x at(%i) {collapsed_slice_dims = @main, mode = "clip", offset_dims = array<i64: 1>,
                   slice_sizes = array<i64: 1, 8>, start_index_map = array<i64: 0>}
                   : (tensor<3x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
            return %y : tensor<2x8xf32>
          }""")
