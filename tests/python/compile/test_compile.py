"""`compile_to_object` and `module_at`: objects load and give the right numbers, stages print, errors are MLIRErrors."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pycompiler import _compiler
from pycompiler._compiler import ir
from pycompiler._runtime import Executable, ShapedArray, array_from_numpy
from pycompiler.compile.inspection import STAGES

SUM = """
func.func @main(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<f32> {
  %0 = array.mul %x, %y : tensor<1024x1024xf32>
  %1 = array.constant dense<1.0> : tensor<1024x1024xf32>
  %2 = array.add %0, %1 : tensor<1024x1024xf32>
  %3 = array.reduce_sum %2 axes = [0, 1] : (tensor<1024x1024xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}
"""


@pytest.fixture(scope="module")
def context() -> ir.Context:
    return ir.Context()


def compile_text(text: str, context: ir.Context) -> _compiler.CompiledObject:
    return _compiler.compile_to_object(ir.Module.parse(text, context))


def run(
    text: str, context: ir.Context, inputs: Sequence[np.ndarray], results: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Compile and run a module. `results` are the shapes and dtypes of the results."""
    compiled = compile_text(text, context)
    executable = Executable.load(compiled.object, compiled.entry, compiled.arena_bytes, "test")
    arrays = [array_from_numpy(np.ascontiguousarray(x), ShapedArray(x.shape, x.dtype)) for x in inputs]
    avals = [ShapedArray(x.shape, x.dtype) for x in results]
    return [np.asarray(result) for result in executable.execute(arrays, avals)]


def test_sum_of_product(context: ir.Context) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 1024, 1024), np.float32)
    (result,) = run(SUM, context, [x, y], [np.zeros((), np.float32)])
    np.testing.assert_allclose(result, (x.astype(np.float64) * y + 1).sum(), rtol=1e-5)


def test_what_is_known_of_an_object(context: ir.Context) -> None:
    compiled = compile_text(SUM, context)
    assert compiled.object[:4] == b"\x7fELF"
    assert compiled.entry == "pcrt_main"
    assert compiled.arena_bytes == 0
    assert 2e6 < compiled.flops < 1e7
    stages = [stage for stage, _ in compiled.timings]
    assert stages == ["verify", "linalg", "buffers", "loops", "llvm", "translate", "optimize", "codegen"]
    assert all(milliseconds >= 0 for _, milliseconds in compiled.timings)


def test_the_module_is_left_as_it_is(context: ir.Context) -> None:
    module = ir.Module.parse(SUM, context)
    before = str(module)
    _compiler.compile_to_object(module)
    assert str(module) == before
    assert _compiler.compile_to_object(module).object == _compiler.compile_to_object(module).object


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        ("array", "array.mul"),
        ("linalg", "linalg.generic"),
        ("bufferized", "memref<1024x1024xf32>"),
        ("loops", "scf.for"),
        ("llvm", "llvm.func @pcrt_main"),
        ("llvmir", "@pcrt_main("),
        ("asm", "pcrt_main:"),
    ],
)
def test_stages(context: ir.Context, stage: str, text: str) -> None:
    assert text in _compiler.module_at(ir.Module.parse(SUM, context), stage)


def test_unknown_stage(context: ir.Context) -> None:
    with pytest.raises(ir.MLIRError, match="the stages are array, linalg, bufferized, loops, llvm, llvmir, asm"):
        _compiler.module_at(ir.Module.parse(SUM, context), "nonsense")


def test_the_stages_that_are_told_of_are_the_compilers() -> None:
    # The stages before them are graphs in Python; PTX has a separate compilation.
    told = [stage for stage in STAGES if stage not in ("graph", "ptx")]
    assert _compiler.stage_names() == told


def test_results_that_are_arguments_or_each_other(context: ir.Context) -> None:
    text = """
    func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
      %0 = array.neg %x : tensor<5xf32>
      return %x, %0, %0, %x : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    }"""
    x = np.arange(5, dtype=np.float32)
    for result, expected in zip(run(text, context, [x], [x] * 4), (x, -x, -x, x), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_constants(context: ir.Context) -> None:
    text = """
    func.func @main(%x: tensor<3xi32>) -> (tensor<3xi32>, tensor<4xi1>) {
      %0 = array.constant dense<[1, 20, 300]> : tensor<3xi32>
      %1 = array.add %x, %0 : tensor<3xi32>
      %2 = array.constant dense<[true, false, true, true]> : tensor<4xi1>
      return %1, %2 : tensor<3xi32>, tensor<4xi1>
    }"""
    x = np.array([1, 2, 3], np.int32)
    summed, bools = run(text, context, [x], [x, np.zeros(4, bool)])
    np.testing.assert_array_equal(summed, [2, 22, 303])
    np.testing.assert_array_equal(bools, [True, False, True, True])


def test_temporaries_live_in_the_arena(context: ir.Context) -> None:
    # Each product needs all elements of the one before it.
    text = """
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = array.dot_general %x, %x contracting = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = array.dot_general %0, %0 contracting = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %2 = array.dot_general %1, %1 contracting = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %2 : tensor<64x64xf32>
    }"""
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32) / 8
    compiled = compile_text(text, context)
    assert compiled.arena_bytes >= 2 * 64 * 64 * 4
    (result,) = run(text, context, [x], [x])
    np.testing.assert_allclose(result, np.linalg.matrix_power(x.astype(np.float64), 8), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32, np.int8, np.uint8])
def test_sort_through_the_table(context: ir.Context, dtype: type) -> None:
    element = {"f4": "f32", "i4": "i32", "u4": "ui32", "i1": "i8", "u1": "ui8"}[np.dtype(dtype).str[1:]]
    text = f"""
    func.func @main(%x: tensor<4x6x{element}>) -> tensor<4x3x{element}> {{
      %0 = array.slice %x start_indices = [0, 1] limit_indices = [4, 4] strides = [1, 1] : (tensor<4x6x{element}>) -> tensor<4x3x{element}>
      %1 = array.sort %0 dimension = 1 num_keys = 1 is_stable = true : (tensor<4x3x{element}>) -> tensor<4x3x{element}>
      return %1 : tensor<4x3x{element}>
    }}"""
    x = np.random.default_rng(0).integers(0, 256, (4, 6)).astype(np.uint8).astype(dtype)
    x = x << (24 if x.itemsize == 4 else 0) if dtype is np.uint32 else x
    (result,) = run(text, context, [x], [x[:, :3]])
    np.testing.assert_array_equal(result, np.sort(x[:, 1:4], axis=1))


def test_failure_has_the_users_line(context: ir.Context) -> None:
    module = ir.Module.parse("func.func @main(%x: index) { return } ", context)
    with pytest.raises(ir.MLIRError, match="not a ranked tensor") as caught:
        _compiler.compile_to_object(module)
    assert caught.value.line == 1
    assert caught.value.notes == []
    with pytest.raises(ir.MLIRError, match="no function @main"):
        _compiler.compile_to_object(ir.Module.create(ir.Location.unknown(context)))


def test_invalid_module_is_refused(context: ir.Context) -> None:
    unknown = ir.Location.unknown(context)
    module = ir.Module.create(unknown)
    tensor = ir.Type.parse("tensor<3xf32>", context)
    attributes = {
        "sym_name": ir.StringAttr.get("main", context),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get([tensor], [tensor], context)),
    }
    function = ir.Operation.create(
        "func.func", attributes=attributes, regions=1, loc=unknown, ip=ir.InsertionPoint(module.body)
    )
    block = ir.Block.create_at_start(function.regions[0], [tensor], [unknown])
    ip = ir.InsertionPoint(block)
    user = ir.Location.file("model.py", 3, 1, context)
    bad = ir.Operation.create("array.add", results=[tensor], operands=[block.arguments[0]], loc=user, ip=ip)
    ir.Operation.create("func.return", operands=bad.results, loc=unknown, ip=ip)
    with pytest.raises(ir.MLIRError) as caught:
        _compiler.compile_to_object(module)
    assert (caught.value.file, caught.value.line) == ("model.py", 3)


def test_targets(context: ir.Context) -> None:
    module = ir.Module.parse(SUM, context)
    assert "zmm" not in _compiler.module_at(module, "asm", cpu="x86-64-v3")
    assert _compiler.compile_to_object(module, cpu="x86-64-v2", opt_level=2).object[:4] == b"\x7fELF"
    with pytest.raises(ir.MLIRError, match="unknown CPU 'nonsense'"):
        _compiler.compile_to_object(module, cpu="nonsense")
    with pytest.raises(ir.MLIRError, match="must be 0 to 3"):
        _compiler.compile_to_object(module, opt_level=7)


def test_objects_hold_only_what_the_loader_takes(context: ir.Context, tmp_path: Path) -> None:
    """Sections and relocations are those in the documentation of the runtime's loader."""
    path = tmp_path / "object.o"
    path.write_bytes(compile_text(SUM, context).object)
    relocations = subprocess.run(["readelf", "-rW", path], check=True, capture_output=True, text=True).stdout
    kinds = {word for word in relocations.split() if word.startswith("R_X86_64_")}
    assert kinds <= {"R_X86_64_PC32", "R_X86_64_PLT32", "R_X86_64_64", "R_X86_64_GOTPCREL", "R_X86_64_REX_GOTPCRELX"}
    sections = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    assert ".tdata" not in sections
    assert ".init_array" not in sections
