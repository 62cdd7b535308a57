"""`_compiler.ir` and `_compiler.passmanager`: the supported part of upstream's bindings works as upstream's does."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pycompiler._compiler import ir, passmanager


@pytest.fixture
def context() -> ir.Context:
    return ir.Context()


def build_add(context: ir.Context) -> ir.Module:
    """@main(x, y) = x + y on f32[4], built op by op, `array.add` at user.py:7:3."""
    unknown = ir.Location.unknown(context)
    tensor = ir.RankedTensorType.get([4], ir.Type.parse("f32", context))
    module = ir.Module.create(unknown)
    attributes = {
        "sym_name": ir.StringAttr.get("main", context),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get([tensor, tensor], [tensor], context)),
    }
    function = ir.Operation.create(
        "func.func", attributes=attributes, regions=1, loc=unknown, ip=ir.InsertionPoint(module.body)
    )
    block = ir.Block.create_at_start(function.regions[0], [tensor, tensor], [unknown, unknown])
    ip = ir.InsertionPoint(block)
    user = ir.Location.file("user.py", 7, 3, context)
    add = ir.Operation.create("array.add", results=[tensor], operands=block.arguments, loc=user, ip=ip)
    ir.Operation.create("func.return", operands=add.results, loc=unknown, ip=ip)
    return module


def test_module_built_op_by_op_verifies_and_round_trips(context: ir.Context) -> None:
    module = build_add(context)
    assert module.operation.verify()
    assert module.verify()
    assert "array.add" in str(module)
    assert str(ir.Module.parse(str(module), context)) == str(module)


def test_bytecode_round_trips_with_its_locations(context: ir.Context) -> None:
    module = build_add(context)
    again = ir.Module.parse(module.operation.write_bytecode(), context)
    assert again.operation.get_asm(enable_debug_info=True) == module.operation.get_asm(enable_debug_info=True)
    with pytest.raises(ir.MLIRError, match="can't parse the module"):
        ir.Module.parse(module.operation.write_bytecode()[:-9], context)


def test_the_type_of_a_function_can_be_read(context: ir.Context) -> None:
    module = build_add(context)
    given = module.function_type("main")
    assert [argument.shape for argument in given.inputs] == [[4], [4]]
    assert [str(result.element_type) for result in given.results] == ["f32"]
    assert ir.RankedTensorType.get([None, 2], given.inputs[0].element_type).shape == [None, 2]
    with pytest.raises(ir.MLIRError, match="no function 'other'; its functions are main"):
        module.function_type("other")


def test_a_module_takes_in_the_functions_of_another(context: ir.Context) -> None:
    module, other = build_add(context), build_add(context)
    assert module.link(other, "main") == "main_0"
    assert module.link(other, "main") == "main_1"
    assert str(module).count("func.func private") == 2
    assert module.verify()
    assert str(other) == str(build_add(context))
    with pytest.raises(ValueError, match="of two contexts"):
        module.link(build_add(ir.Context()), "main")


def test_locations_are_kept(context: ir.Context) -> None:
    text = build_add(context).operation.get_asm(enable_debug_info=True)
    assert '"user.py":7:3' in text


def test_current_context_location_and_insertion_point() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            ir.Operation.create("builtin.module", regions=1)
        assert str(module.body.operations[0].name) == "builtin.module"
    with pytest.raises(ValueError, match="no context is given"):
        ir.Type.parse("f32")


def test_names_and_structure(context: ir.Context) -> None:
    module = build_add(context)
    function = module.body.operations[0]
    assert function.name == "func.func"
    block = function.regions[0].blocks[0]
    assert [op.name for op in block.operations] == ["array.add", "func.return"]
    add = block.operations[0]
    assert add.result == add.results[0]
    assert str(add.result.type) == "tensor<4xf32>"
    assert list(add.operands) == list(block.arguments)


def test_unknown_operation(context: ir.Context) -> None:
    module = ir.Module.create(ir.Location.unknown(context))
    with pytest.raises(ValueError, match=r"there is no operation 'array\.nonsense'"):
        ir.Operation.create("array.nonsense", loc=ir.Location.unknown(context), ip=ir.InsertionPoint(module.body))


def test_parse_error_has_a_line(context: ir.Context) -> None:
    with pytest.raises(ir.MLIRError) as caught:
        ir.Module.parse("module {\n  nonsense\n}", context)
    assert caught.value.line == 2
    assert "nonsense" in str(caught.value)


def test_verifier_error_is_at_the_users_line(context: ir.Context) -> None:
    text = """
    func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
      %0 = "array.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> loc("model.py":12:5)
      return %0 : tensor<4xf32>
    }"""
    with pytest.raises(ir.MLIRError) as caught:
        ir.Module.parse(text, context)
    error = caught.value
    assert (error.file, error.line, error.column) == ("model.py", 12, 5)
    assert "model.py:12:5: error:" in str(error)
    assert error.error_diagnostics[0].message == error.message


def test_types(context: ir.Context) -> None:
    f32 = ir.Type.parse("f32", context)
    assert str(ir.RankedTensorType.get([2, None, -1], f32)) == "tensor<2x?x?xf32>"
    assert ir.RankedTensorType.get([2], f32) == ir.Type.parse("tensor<2xf32>", context)
    assert hash(ir.RankedTensorType.get([2], f32)) == hash(ir.Type.parse("tensor<2xf32>", context))
    assert f32 != ir.Type.parse("f64", context)
    assert f32 != "f32"
    with pytest.raises(ir.MLIRError):
        ir.Type.parse("nonsense", context)


def test_attributes(context: ir.Context) -> None:
    i64 = ir.Type.parse("i64", context)
    assert str(ir.IntegerAttr.get(i64, -3)) == "-3 : i64"
    assert str(ir.FloatAttr.get(ir.Type.parse("f32", context), 0.5)) == "5.000000e-01 : f32"
    assert str(ir.BoolAttr.get(True, context)) == "true"
    assert str(ir.StringAttr.get("name", context)) == '"name"'
    assert str(ir.FlatSymbolRefAttr.get("f", context)) == "@f"
    assert str(ir.DenseI64ArrayAttr.get((1, 2), context)) == "array<i64: 1, 2>"
    assert str(ir.DenseI32ArrayAttr.get([], context)) == "array<i32>"
    assert str(ir.TypeAttr.get(i64)) == "i64"
    assert str(ir.UnitAttr.get(context)) == "unit"
    assert str(ir.ArrayAttr.get([ir.BoolAttr.get(False, context)], context)) == "[false]"
    assert ir.Attribute.parse("7 : i64", context) == ir.IntegerAttr.get(i64, 7)
    with pytest.raises(ValueError, match="not an integer type: f32"):
        ir.IntegerAttr.get(ir.Type.parse("f32", context), 1)


@pytest.mark.parametrize(
    ("array", "element", "text"),
    [
        (np.array([True, False, True]), "i1", "dense<[true, false, true]> : tensor<3xi1>"),
        (np.array([1, 2], np.uint8), "ui8", "dense<[1, 2]> : tensor<2xui8>"),
        (np.array([[1.5, 2]], np.float32), "f32", "dense<[[1.500000e+00, 2.000000e+00]]> : tensor<1x2xf32>"),
        (np.array([1, 2], ml_dtypes.bfloat16), "bf16", "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xbf16>"),
        (np.array(3, ml_dtypes.bfloat16), "bf16", "dense<3.000000e+00> : tensor<bf16>"),
        (np.zeros((2, 3), np.float64), "f64", "dense<0.000000e+00> : tensor<2x3xf64>"),
        (np.ones(9, bool), "i1", "dense<true> : tensor<9xi1>"),
        (np.zeros((0, 3), np.int32), "i32", "dense<> : tensor<0x3xi32>"),
    ],
)
def test_dense_elements(context: ir.Context, array: np.ndarray, element: str, text: str) -> None:
    tensor = ir.RankedTensorType.get(array.shape, ir.Type.parse(element, context))
    assert str(ir.DenseElementsAttr.get(array, tensor)) == text


def test_dense_elements_of_wrong_size(context: ir.Context) -> None:
    tensor = ir.RankedTensorType.get([3], ir.Type.parse("f32", context))
    with pytest.raises(ValueError, match=r"the array holds 8 bytes, but tensor<3xf32> takes 12"):
        ir.DenseElementsAttr.get(np.zeros(2, np.float32), tensor)


def test_dense_elements_splat(context: ir.Context) -> None:
    f32 = ir.Type.parse("f32", context)
    tensor = ir.RankedTensorType.get([1000], f32)
    assert (
        str(ir.DenseElementsAttr.get_splat(tensor, ir.FloatAttr.get(f32, 2)))
        == "dense<2.000000e+00> : tensor<1000xf32>"
    )
    with pytest.raises(ValueError, match="not of type f32"):
        ir.DenseElementsAttr.get_splat(tensor, ir.BoolAttr.get(True, context))


def test_pass_manager(context: ir.Context) -> None:
    module = build_add(context)
    manager = passmanager.PassManager.parse("builtin.module(array-to-linalg)", context)
    manager.run(module.operation)
    assert "linalg.generic" in str(module)
    assert "array.add" not in str(module)


def test_pass_manager_rejects_bad_pipelines(context: ir.Context) -> None:
    with pytest.raises(ValueError, match="nonsense"):
        passmanager.PassManager.parse("builtin.module(nonsense)", context)
    manager = passmanager.PassManager.parse("func.func(canonicalize)", context)
    with pytest.raises(ValueError, match=r"the pipeline is for 'func\.func', not for 'builtin\.module'"):
        manager.run(build_add(context).operation)
    with pytest.raises(ValueError, match="another context"):
        manager.run(build_add(ir.Context()).operation)


def test_pass_manager_reports_failures(context: ir.Context) -> None:
    module = ir.Module.parse("func.func @main(%x: tensor<?xf32>) { return }", context)
    manager = passmanager.PassManager.parse("builtin.module(array-prepare-entry)", context)
    with pytest.raises(ir.MLIRError, match="sizes were not resolved"):
        manager.run(module.operation)


def test_operations_from_before_a_pass_are_refused(context: ir.Context) -> None:
    module = build_add(context)
    function = module.body.operations[0]
    block = function.regions[0].blocks[0]
    passmanager.PassManager.parse("builtin.module(canonicalize)", context).run(module.operation)
    for stale in (
        lambda: str(function),
        lambda: block.operations,
        lambda: ir.Operation.create("func.return", ip=ir.InsertionPoint(block), loc=ir.Location.unknown(context)),
    ):
        with pytest.raises(ValueError, match="before a pass manager, or patterns, ran"):
            stale()
    assert module.body.operations[0].name == "func.func"


def test_everything_keeps_its_owner_alive() -> None:
    argument = build_add(ir.Context()).body.operations[0].regions[0].blocks[0].arguments[0]
    assert str(argument.type) == "tensor<4xf32>"
