"""Passes and rewrites in Python, in pass managers together with C++ passes, and alone."""

import gc
import re
import weakref

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _compiler
from pycompiler.mlir import (
    ArrayAttr,
    Attribute,
    Block,
    Context,
    DenseElementsAttr,
    FunctionType,
    InsertionPoint,
    Location,
    MLIRError,
    Module,
    Operation,
    PassManager,
    RankedTensorType,
    Type,
    apply_patterns,
    as_pass,
    rewrite,
)

TEXT = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = array.tanh %x : tensor<4xf32> loc("model.py":7:3)
  %b = array.exp %a : tensor<4xf32>
  %c = array.log %b : tensor<4xf32>
  return %c : tensor<4xf32>
}"""


@pytest.fixture
def module():
    return Module.parse(TEXT, Context())


def names(module):
    return [op.name for op in module.walk()]


def find(module, name):
    return next(op for op in module.walk() if op.name == name)


@rewrite("array.tanh")
def tanh_is_sin(op, rewriter):
    rewriter.replace_op(op, rewriter.insert("array.sin", operands=op.operands))


@rewrite("array.log")
def log_of_exp(op, rewriter):
    """log(exp(x)) is x."""
    inner = op.operands[0].owner
    if not isinstance(inner, Block) and inner.name == "array.exp":
        rewriter.replace_op(op, inner.operands)


def test_a_rewrite(module):
    assert tanh_is_sin(module)
    assert names(module)[:3] == ["array.sin", "array.exp", "array.log"]
    # The result replaces the operation, at its line, with the inferred type.
    sin = find(module, "array.sin")
    assert 'loc("model.py":7:3)' in str(sin.location)
    assert str(sin.result.type) == "tensor<4xf32>"
    assert module.verify()
    assert not tanh_is_sin(module)


def test_several_rewrites_and_what_nobody_uses_goes(module):
    assert apply_patterns(module, tanh_is_sin, log_of_exp)
    assert names(module) == ["array.sin", "func.return", "func.func", "builtin.module"]


def test_a_rewrite_that_declines_changes_nothing(module):
    met = []
    assert not apply_patterns(module, rewrite("array.exp")(lambda op, rewriter: met.append(op.name)))
    assert met
    assert names(module)[:3] == ["array.tanh", "array.exp", "array.log"]


def test_benefits_say_who_comes_first(module):
    order = []
    low = rewrite("array.tanh", benefit=1)(lambda op, rewriter: order.append("low"))
    high = rewrite("array.tanh", benefit=2)(lambda op, rewriter: order.append("high"))
    apply_patterns(module, low, high)
    assert order[:2] == ["high", "low"]
    with pytest.raises(ValueError, match="benefit is a number from 1 to 65534, got 0"):
        rewrite("array.tanh", benefit=0)


def test_what_a_rewrite_raises_is_raised(module):
    @rewrite("array.exp")
    def broken(op, rewriter):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        broken(module)
    assert module.verify()
    passes = PassManager(context=module.context)
    passes.add(broken)
    with pytest.raises(KeyError, match="mine"):
        passes.run(module)
    # The pass manager works in the next run.
    with pytest.raises(KeyError, match="mine"):
        passes.run(module)


def test_rewrites_that_are_refused(module):
    @rewrite("array.tanh")
    def two_for_one(op, rewriter):
        rewriter.replace_op(op, [*op.operands, *op.operands])

    with pytest.raises(ValueError, match=r"'array\.tanh' has 1 results, but 2 values are given"):
        two_for_one(module)

    @rewrite("array.tanh")
    def used(op, rewriter):
        rewriter.erase_op(op)

    with pytest.raises(ValueError, match=r"the results of 'array\.tanh' are used: replace them first"):
        used(module)

    @rewrite("array.tanh")
    def again(op, rewriter):
        rewriter.replace_op(op, op.operands)
        rewriter.erase_op(op)

    with pytest.raises(ValueError, match="this part of the module was erased"):
        again(module)
    with pytest.raises(ValueError, match=r"there is no operation 'array\.nonsense'"):
        apply_patterns(module, rewrite("array.nonsense")(lambda op, rewriter: None))


@pytest.mark.parametrize("as_values", [False, True])
def test_replacements_that_are_refused(module, as_values):
    other = find(Module.parse(TEXT, module.context), "array.tanh")

    @rewrite("array.tanh")
    def by_itself(op, rewriter):
        rewriter.replace_op(op, op.results if as_values else op)

    @rewrite("array.tanh")
    def by_a_stranger(op, rewriter):
        rewriter.replace_op(op, other.results if as_values else other)

    with pytest.raises(ValueError, match="an operation can't be replaced by its own results"):
        by_itself(module)
    with pytest.raises(ValueError, match="is of another module"):
        by_a_stranger(module)
    assert module.verify()
    assert names(module)[:3] == ["array.tanh", "array.exp", "array.log"]


def test_a_value_in_its_own_place(module):
    tanh = find(module, "array.tanh")
    tanh.result.replace_all_uses_with(tanh.result)
    assert [user.name for user in tanh.result.users] == ["array.exp"]


def test_parts_of_another_context_are_refused(module):
    other, own = Context(), module.context
    attribute, kind = Attribute.parse("1 : i32", other), Type.parse("i32", other)
    place, ip = Location.unknown(own), InsertionPoint(find(module, "array.tanh"))
    operands = find(module, "array.tanh").operands
    region = find(module, "func.func").regions[0]

    def insert(op, rewriter):
        rewriter.insert("array.sin", operands=op.operands, attributes={"test.a": attribute})

    for use in (
        lambda: find(module, "array.tanh").set_attribute("test.a", attribute),
        lambda: Operation.create("array.sin", [kind], operands, loc=place, ip=ip),
        lambda: Operation.create("array.sin", [], operands, {"test.a": attribute}, loc=place, ip=ip),
        lambda: Operation.create("array.sin", [], operands, loc=Location.unknown(other), ip=ip),
        lambda: Block.create_at_start(region, [kind]),
        lambda: Block.create_at_start(region, [Type.parse("i32", own)], [Location.unknown(other)]),
        lambda: FunctionType.get([kind], [], own),
        lambda: FunctionType.get([], [kind], own),
        lambda: ArrayAttr.get([attribute], own),
        lambda: DenseElementsAttr.get_splat(RankedTensorType.get([2], Type.parse("i32", own)), attribute),
        # The last run invalidates earlier handles.
        lambda: rewrite("array.tanh")(insert)(module),
    ):
        with pytest.raises(ValueError, match=r"the (attribute|type|location) is of another context"):
            use()
    assert module.verify()


def test_a_rewriter_and_its_operations_end_with_the_call(module):
    kept = []
    rewrite("array.tanh")(lambda op, rewriter: kept.extend((op, rewriter)))(module)
    op, rewriter = kept[:2]
    with pytest.raises(ValueError, match="from before a pass manager, or patterns, ran on it"):
        _ = op.name
    with pytest.raises(ValueError, match="from before a pass manager, or patterns, ran on it"):
        rewriter.insert("array.sin")


def test_rewrites_that_have_no_end(module):
    count = 0

    @rewrite("array.tanh")
    def again(op, rewriter):
        nonlocal count
        count += 1
        if count > 1000:
            raise KeyboardInterrupt
        rewriter.replace_op(op, rewriter.insert("array.tanh", operands=op.operands))

    # Ctrl-C ends them.
    with pytest.raises(KeyboardInterrupt):
        again(module)


def test_changes_in_place(module):
    @rewrite("array.exp")
    def skip(op, rewriter):
        owner = op.operands[0].owner
        if not isinstance(owner, Block) and owner.name == "array.tanh":
            op.set_operand(0, owner.operands[0])

    assert skip(module)
    # It has no users left.
    assert "array.tanh" not in names(module)


def mark(root):
    """A pass that counts the operations and reports the number."""
    for op in root.walk():
        op.set_attribute("test.seen", Attribute.parse("true", context))


context = Context()


def test_a_pass_among_others():
    seen = []
    module = Module.parse(TEXT, context)
    passes = PassManager(context=context)
    passes.add("canonicalize")
    passes.add(lambda root: seen.extend(op.name for op in root.walk()), name="look")
    passes.add(tanh_is_sin)
    passes.add(mark)
    passes.add("func.func(array-fuse-elementwise)")
    assert str(passes).startswith("builtin.module(canonicalize")
    assert "look,tanh_is_sin,mark,func.func(array-fuse-elementwise" in str(passes)
    passes.run(module)
    assert "array.tanh" in seen
    assert all(op.attributes["test.seen"].value is True for op in module.walk())
    assert "array.sin" in names(module)


def test_one_pass_of_several_rewrites(module):
    passes = PassManager(context=module.context)
    passes.add(as_pass(tanh_is_sin, log_of_exp))
    assert "tanh_is_sin-log_of_exp" in str(passes)
    passes.run(module)
    assert names(module)[0] == "array.sin"


def test_a_pass_that_breaks_the_module_is_told(module):
    def unbalance(root):
        # A function without a terminator.
        find(root, "func.return").erase()

    passes = PassManager(context=module.context)
    passes.add(unbalance)
    with pytest.raises(MLIRError, match="terminator"):
        passes.run(module)


def test_operations_that_a_pass_erases_are_refused(module):
    log = find(module, "array.log")
    inner, result = log.operands[0], log.result
    result.replace_all_uses_with(inner)
    log.erase()
    for use in (lambda: log.name, lambda: result.type, lambda: log.erase()):
        with pytest.raises(ValueError, match="this part of the module was erased"):
            use()
    # Other handles stay valid, and new operations do not reuse old ones.
    assert inner.owner.name == "array.exp"
    made = module.operation.create(
        "array.exp",
        operands=[inner],
        infer_type=True,
        loc=Location.unknown(module.context),
        ip=InsertionPoint(find(module, "func.return")),
    )
    assert made.result.users == []
    assert module.verify()
    with pytest.raises(ValueError, match="a module can't be erased"):
        module.operation.erase()


def test_looking_around(module):
    tanh = find(module, "array.tanh")
    (user,) = tanh.result.users
    assert user.name == "array.exp"
    assert user == tanh.result.users[0]
    assert user != tanh
    assert tanh.parent.name == "func.func"
    assert tanh.parent.parent.parent is None
    argument = tanh.operands[0]
    assert isinstance(argument.owner, Block)
    function = find(module, "func.func")
    assert function.attributes["sym_name"].value == "main"
    assert str(function.attributes["function_type"].value).startswith("(tensor<4xf32>)")
    function.set_attribute("test.list", Attribute.parse("array<i64: 1, 2>", module.context))
    assert function.attributes["test.list"].value == [1, 2]
    function.remove_attribute("test.list")
    assert "test.list" not in function.attributes
    with pytest.raises(KeyError):
        function.remove_attribute("test.list")
    with pytest.raises(ValueError, match="without a value in Python"):
        _ = Attribute.parse("affine_set<(d0) : (d0 >= 0)>", module.context).value
    nested = Attribute.parse("{a = [1, unit, {b = affine_map<(d0) -> (d0 mod 2, 1)>}]}", module.context).value
    assert nested == {"a": [1, True, {"b": ["d0 mod 2", "1"]}]}
    with pytest.raises(ValueError, match="does not say its results' types"):
        module.operation.create(
            "func.call", infer_type=True, loc=Location.unknown(module.context), ip=InsertionPoint(tanh)
        )
    with pytest.raises(ValueError, match="nothing can be inserted before a module"):
        InsertionPoint(module.operation)


def test_pass_managers_and_their_functions_go(module):
    class Seen:
        def __call__(self, root):
            return None

    function = Seen()
    gone = weakref.ref(function)
    passes = PassManager(context=module.context)
    passes.add(function, name="seen")
    passes.run(module)
    del function
    assert gone() is not None
    del passes
    gc.collect()
    assert gone() is None


def test_passes_that_are_refused(module):
    passes = PassManager(context=module.context)
    with pytest.raises(ValueError, match="can't parse the passes 'nonsense'"):
        passes.add("nonsense")
    passes.add(lambda root: passes.run(module))
    with pytest.raises(ValueError, match="the pass manager is running"):
        passes.run(module)


def test_the_module_of_a_function_is_rewritten_and_runs():
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    text = pc.jit(lambda x: pnp.tanh(x) * 2).lower(x).as_text()
    with Context():
        module = Module.parse(text)
        passes = PassManager()
        passes.add(tanh_is_sin)
        passes.add("array-to-linalg")
    passes.run(module)
    assert "math.sin" in str(module)
    assert "math.tanh" not in str(module)


@pytest.mark.parametrize("capability", ["", "9.0"])
def test_the_passes_of_a_compilation_run_from_their_text(capability):
    lowered = pc.jit(lambda x: pnp.tanh(x @ x).sum()).lower(np.ones((64, 64), np.float32))
    text = _compiler.reproducer(lowered.compiler_ir(), capability)
    (pipeline,) = re.findall(r'pipeline: "(.*)"', text)
    with Context():
        module = Module.parse(text)
        passes = PassManager.parse(pipeline)
    passes.run(module)
    assert "pcrt_main" in str(module)
    assert ("gpu.binary" in str(module)) == bool(capability)
