"""Bad input of all kinds: a Python exception that names the given and the expected value; never a crash."""

import copy
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import errors, lax, nn

ROOT = pathlib.Path(__file__).resolve().parents[3]
X, Y, N = pnp.ones((2, 3)), pnp.ones((4, 5)), pnp.int32(2)

# A call on an array, the error, and its message.
CALLS = {
    "add": (lambda x: x + Y, ValueError, r"add: .* f32\[2,3\] and f32\[4,5\]"),
    "matmul": (lambda x: x @ Y, ValueError, r"matmul: contracting dimensions differ: .* \(3 vs 4\)"),
    "matmul of a scalar": (lambda x: pnp.matmul(x, N), ValueError, "takes no scalars"),
    "dot_general": (lambda x: lax.dot_general(x, Y, (((1,), (0,)), ((), ()))), ValueError, r"3 vs 4"),
    "dot_general axis": (
        lambda x: lax.dot_general(x, Y, (((7,), (0,)), ((), ()))),
        ValueError,
        "axis 7 is out of range",
    ),
    "dot_general numbers": (lambda x: lax.dot_general(x, Y, ((1,), (0,))), TypeError, "rhs contracting.*got"),
    "concatenate": (lambda x: pnp.concatenate([x, Y]), ValueError, r"concatenate: shapes differ .*f32\[2,3\]"),
    "concatenate nothing": (lambda x: pnp.concatenate([]), ValueError, "at least one array"),
    "concatenate a scalar": (lambda x: pnp.concatenate(N), TypeError, r"a sequence of arrays, got i32\[\]"),
    "concatenate a number": (lambda x: pnp.concatenate(3), TypeError, "a sequence of arrays, got 3 of type int"),
    "stack": (lambda x: pnp.stack([x, Y]), ValueError, "stack: shapes differ"),
    "where": (lambda x: pnp.where(x > 0, Y, 1.0), ValueError, "where: shapes do not broadcast"),
    "where of one": (lambda x: pnp.where(x > 0, x), TypeError, "where: needs both x and y, or neither"),
    "reshape": (lambda x: x.reshape(5, 2), ValueError, r"f32\[2,3\] \(6 elements\) to \(5, 2\) \(10 elements\)"),
    "reshape twice -1": (lambda x: x.reshape(-1, -1), ValueError, "only one size may be -1"),
    "reshape string": (lambda x: x.reshape("a"), TypeError, "made of integers, got 'a'"),
    "axis": (lambda x: x.sum(2), ValueError, "sum: axis 2 is out of range for an array of 2 dimensions"),
    "axis twice": (lambda x: x.sum((0, 0)), ValueError, "named twice"),
    "axis of a float": (lambda x: x.sum(1.0), TypeError, "an axis must be an integer, got 1.0"),
    "squeeze": (lambda x: pnp.squeeze(x, 0), ValueError, "has size 2, not 1"),
    "transpose": (lambda x: x.transpose(0, 0), ValueError, "named twice"),
    "dtype": (lambda x: x.astype("float33"), TypeError, "'float33' is not supported; the supported ones are bool"),
    "object array": (lambda x: pnp.sin(np.array([None])), TypeError, "dtype object is not supported"),
    "string": (lambda x: pnp.sin("a"), TypeError, "sin: takes arrays and scalars, got 'a' of type str"),
    "None": (lambda x: pnp.sin(None), TypeError, "got None of type NoneType"),
    "set": (lambda x: pnp.array({1, 2}), TypeError, "of type set is not an array"),
    "None in a list": (lambda x: pnp.array([1, None]), TypeError, r"\[1, None\] does not hold numbers only"),
    "ragged list": (lambda x: pnp.array([[1, 2], [3]]), ValueError, "inhomogeneous shape"),
    "ragged arrays": (lambda x: pnp.array([[x, x], [x]]), ValueError, "different shapes"),
    "masked": (lambda x: x + np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), TypeError, "lose its mask"),
    "masked array()": (lambda x: pnp.array(np.ma.array([1.0], mask=[1])), TypeError, "lose its mask"),
    "operator": (lambda x: x + "s", TypeError, "unsupported operand"),
    "huge int": (lambda x: pnp.arange(3) + 2**100, OverflowError, "int 1267650600228229401496703205376 does not fit"),
    "int of 40 bits": (lambda x: pnp.arange(3) + 2**40, OverflowError, "does not fit into int32; .*enable_x64"),
    "enormous int": (lambda x: x + 10**5000, OverflowError, "a Python int of 16610 bits does not fit into float32"),
    "huge int array": (lambda x: pnp.array(2**100), OverflowError, "does not fit into int32"),
    "negative uint8": (lambda x: pnp.array(-1, pnp.uint8), OverflowError, "int -1 does not fit into uint8"),
    "negative size": (lambda x: pnp.zeros(-3), ValueError, "must not be negative"),
    "huge size": (lambda x: pnp.zeros(2**70), OverflowError, r"below 2\*\*63"),
    "too many indices": (lambda x: x[0, 0, 0], IndexError, r"too many indices: 3 for f32\[2,3\]"),
    "float index": (lambda x: x[1.0], TypeError, "1.0 of type float is not an index"),
    "float array index": (lambda x: x[Y], TypeError, r"made of integers or bools, got f32\[4,5\]"),
    "two ellipses": (lambda x: x[..., ...], IndexError, "single ellipsis"),
    "long mask": (lambda x: x[np.ones(5, bool)], IndexError, r"shape \(5,\) .* sizes \(2,\) of f32\[2,3\]"),
    "last mask": (lambda x: x[..., np.ones(2, bool)], IndexError, r"shape \(2,\) .* sizes \(3,\)"),
    "assignment": (lambda x: x.__setitem__(0, 1), TypeError, r"immutable: .* x = x.at\[0\].set\(1\)"),
    "at": (lambda x: x.at[0].set(Y), ValueError, r"f32\[4,5\] do not broadcast to the indexed shape \(3,\)"),
    "einsum": (lambda x: pnp.einsum("ij,jk->ik", x, Y), ValueError, "'j' .* sizes 3 and 4"),
    "max of nothing": (lambda x: pnp.max(pnp.zeros((0, 3)), 0), ValueError, "no elements"),
    "iterate a scalar": (lambda x: list(x[0, 0]), TypeError, "iteration over an array without dimensions"),
    "tile": (lambda x: pnp.tile(x, "a"), TypeError, "tile: .* made of integers, got 'a'"),
    "repeat": (lambda x: pnp.repeat(x, -1), ValueError, "repeat: .* must not be negative"),
    "pad": (lambda x: pnp.pad(x, ((1, 2, 3),)), ValueError, "pad: pad_width is .* each of the 2 axes, got"),
    "one_hot": (lambda x: nn.one_hot(N, "a"), TypeError, "one_hot: .* made of integers, got 'a'"),
    "shift of floats": (lambda x: x << 1, TypeError, "integer arrays, got f32"),
    "missing name": (lambda x: pnp.sinn(x), AttributeError, "no attribute sinn; the nearest name is sin"),
}


@pytest.mark.parametrize("how", ["eager", "jit", "grad", "vmap"])
@pytest.mark.parametrize("case", CALLS)
def test_a_bad_call_says_what_was_given(case, how):
    call, kind, message = CALLS[case]
    if how == "vmap":
        run = lambda: pc.vmap(call, axis_size=2, in_axes=None)(X)  # noqa: E731
    else:
        run = {"eager": lambda: call(X), "jit": lambda: pc.jit(call)(X), "grad": lambda: pc.grad(call)(X)}[how]
    with pytest.raises(kind, match=f"(?s){message}") as caught:
        run()
    frames = [str(entry.path) for entry in caught.traceback]
    assert __file__ in frames  # the user's line is shown
    float((X + 1).sum())  # and the next call works


READS = {
    "if": (lambda a: 1.0 if a > 0 else a, errors.TracerBoolConversionError, "where"),
    "and": (lambda a: a and 1.0, errors.TracerBoolConversionError, "where"),
    "int": (lambda a: int(a), errors.ConcretizationTypeError, "astype"),
    "float": (lambda a: float(a), errors.ConcretizationTypeError, "astype"),
    "item": (lambda a: a.item(), errors.ConcretizationTypeError, "keep it an array"),
    "tolist": (lambda a: a.tolist(), errors.ConcretizationTypeError, "keep them in an array"),
    "format": (lambda a: f"{a:.3f}", errors.ConcretizationTypeError, r"format it as '\.3f'"),
    "pickle": (lambda a: pickle.dumps(a), errors.ConcretizationTypeError, "pickle the result"),
    "range": (lambda a: list(range(a)), errors.TracerIntegerConversionError, "index or a size"),
    "size": (lambda a: pnp.zeros(a), errors.TracerIntegerConversionError, "index or a size"),
    "list index": (lambda a: [1, 2][a], errors.TracerIntegerConversionError, "index an array of pycompiler"),
    "asarray": (lambda a: np.asarray(a), errors.TracerArrayConversionError, "pycompiler.numpy instead"),
    "NumPy": (lambda a: np.sin(a), errors.TracerArrayConversionError, "pycompiler.numpy instead"),
}


@pytest.mark.parametrize("case", READS)
def test_a_value_read_from_a_tracer_names_the_line_and_the_argument(case):
    read, kind, message = READS[case]
    with pytest.raises(kind, match=message) as caught:
        pc.jit(read)(1)
    assert f"{__file__}:{read.__code__.co_firstlineno}" in str(caught.value)
    assert kind is TypeError or "'a'" in str(caught.value)
    with pytest.raises(kind, match=message):
        pc.vmap(read)(pnp.arange(2))


def test_under_grad_alone_values_can_be_read():
    def f(a):
        assert f"{a}" == "Traced<float32[]>with<grad>"
        assert f"{a:.1f}" == "3.0"
        return a * a.item() * round(a)

    assert float(pc.grad(f)(3.0)) == 9.0


BAD_LEAVES = ["s", b"b", object(), {1}, len, int, np.array("a"), np.array([None]), np.zeros(2, "m8"), range(3)]


@pytest.mark.parametrize("transform", [pc.jit, pc.grad, pc.vmap, pc.make_jaxpr], ids=lambda t: t.__name__)
@pytest.mark.parametrize("leaf", BAD_LEAVES, ids=lambda leaf: type(leaf).__name__)
def test_an_argument_that_is_no_array_is_named(transform, leaf):
    def f(params):
        return params["w"][0]

    with pytest.raises(TypeError, match=r"(?s)params.*'w'\]\[0\].*(is not an array|not an array|not supported)"):
        transform(f)({"w": [leaf]})


CONFIGURATION = {
    "vmap in_axes length": (
        lambda: pc.vmap(lambda a, b: a, in_axes=(0,))(X, X),
        ValueError,
        "1 entries.* 2 positional",
    ),
    "vmap in_axes range": (lambda: pc.vmap(lambda a: a, in_axes=5)(X), ValueError, r"axis 5 of argument 'a'"),
    "vmap in_axes type": (lambda: pc.vmap(lambda a: a, in_axes="a")(X), TypeError, "ints and None, got 'a'"),
    "vmap in_axes tree": (lambda: pc.vmap(lambda a: a, in_axes=({"q": 0},))({"w": X}), ValueError, r"keys \['q'\]"),
    "vmap nothing": (lambda: pc.vmap(lambda a: a, in_axes=None)(X), ValueError, "nothing is mapped"),
    "vmap sizes": (lambda: pc.vmap(lambda a, b: a)(X, Y), ValueError, r"'a' f32\[2,3\], axis 0: 2; 'b'"),
    "vmap scalar": (lambda: pc.vmap(lambda a: a)(1.0), ValueError, "with 0 axes"),
    "vmap out_axes": (lambda: pc.vmap(lambda a: a, out_axes=4)(X), ValueError, "out_axes puts the mapped axis at 4"),
    "vmap of no function": (lambda: pc.vmap(3), TypeError, "vmap: takes a function, got 3 of type int"),
    "grad of no function": (lambda: pc.grad("f"), TypeError, "grad: takes a function, got 'f'"),
    "grad int": (lambda: pc.grad(lambda a: a)(3), TypeError, r"int32 for argument 0 \('a'\)"),
    "grad vector": (lambda: pc.grad(lambda a: a)(X), TypeError, r"must return a scalar, it returned f32\[2,3\]"),
    "grad pair": (lambda: pc.grad(lambda a: (a, a))(1.0), TypeError, "has_aux=True"),
    "grad None": (lambda: pc.grad(lambda a: None)(1.0), TypeError, "must return one scalar"),
    "grad argnums": (lambda: pc.grad(lambda a: a, argnums=3)(1.0), ValueError, "argument 3, .* 1 positional"),
    "grad argnums type": (lambda: pc.grad(lambda a: a, argnums=1.0)(1.0), TypeError, "argnums is an int .* got 1.0"),
    "grad argnums name": (lambda: pc.grad(lambda a: a, argnums="a")(1.0), TypeError, "argnums is an int .* got 'a'"),
    "vjp": (lambda: pc.vjp(lambda a: a * 2, X)[1](Y), ValueError, r"must be f32\[2,3\], got f32\[4,5\]"),
    "jvp": (lambda: pc.jvp(lambda a: a, (X,), (Y,)), ValueError, r"must be f32\[2,3\], got f32\[4,5\]"),
    "jit of no function": (lambda: pc.jit(3), TypeError, "takes a function, got 3"),
    "static number": (lambda: pc.jit(lambda a: a, static_argnums=4), ValueError, "has 1 positional parameters"),
    "static number type": (lambda: pc.jit(lambda a: a, static_argnums="a"), TypeError, "entries of type int, got"),
    "static name": (lambda: pc.jit(lambda a: a, static_argnames="b"), ValueError, r"'b', but the parameters .*\['a'\]"),
    "static name type": (lambda: pc.jit(lambda a: a, static_argnames=3), TypeError, "entries of type str, got"),
    "static list": (lambda: pc.jit(lambda a, n: a, static_argnums=1)(1.0, [1]), ValueError, "'n' .* hashable"),
    "result": (lambda: pc.jit(lambda a: "s")(1.0), TypeError, "returned 's' of type str"),
    "stage": (lambda: pc.jit(lambda a: a).lower(1.0).as_text("foo"), ValueError, "the stages are graph, array, linalg"),
    "setting": (lambda: pc.config.update("foo", 1), ValueError, "no setting 'foo'; there are enable_x64"),
    "truth value": (lambda: bool(X), ValueError, "array of 6 elements is ambiguous"),
    "list index": (lambda: [1, 2][pnp.arange(2)], TypeError, "can be an index, got"),
    "hash": (lambda: hash(X), TypeError, "unhashable"),
    "write": (lambda: np.asarray(X).__setitem__(0, 5), ValueError, "read-only"),
}


@pytest.mark.parametrize("case", CONFIGURATION)
def test_a_transformation_says_what_it_takes(case):
    run, kind, message = CONFIGURATION[case]
    with pytest.raises(kind, match=f"(?s){message}"):
        run()


MODULES = {
    "no module": ("hello", "'hello' is unknown"),
    "unknown op": ("func.func @f() { foo.bar }", "Dialect `foo' not found"),
    "unclosed": ("func.func @f() {", "expected operation name"),
    "constraint": (
        "func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {\n"
        '  %z = "array.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>\n  return %z : tensor<4xf32> }',
        r":2:8: error: 'array.add' op operand types differ: .*\(C2\)",
    ),
    "size": ("func.func @f(%x: tensor<99999999999999999999999xf32>) {return}", ":1:25: error: invalid dimension"),
    "parentheses": ("(" * 5000, "expected operation name"),
}


@pytest.mark.parametrize("case", MODULES)
def test_a_module_that_does_not_parse_or_verify(case):
    from pycompiler._compiler import ir

    text, message = MODULES[case]
    with ir.Context(), pytest.raises(ir.MLIRError, match=message):
        ir.Module.parse(text)
    tool = ROOT / "build" / "bin" / "array-opt"
    if tool.exists():
        result = subprocess.run([tool, "--array-to-linalg"], input=text, capture_output=True, text=True, check=False)
        assert result.returncode == 1
        assert "error: " in result.stderr
        assert not result.stdout


def test_pipelines_that_are_not_there():
    from pycompiler._compiler import ir, passmanager

    for text in ("nonsense", "builtin.module(foo-bar)", "builtin.module(array-to-linalg{q=1})"):
        with ir.Context(), pytest.raises(ValueError, match="can't parse the pass pipeline"):
            passmanager.PassManager.parse(text)


def calls_itself(a):
    return jitted_that_calls_itself(a)


jitted_that_calls_itself = pc.jit(calls_itself)


@pc.jit
def decorated(a):
    return a + 1


def differentiates_itself(a):
    return pc.grad(differentiates_itself)(a)


def test_endless_recursion_ends():
    cyclic = []
    cyclic.append(cyclic)
    for run in (
        lambda: jitted_that_calls_itself(1.0),
        lambda: differentiates_itself(1.0),
        lambda: pc.jit(lambda t: t)(cyclic),
        lambda: pnp.array(cyclic),
    ):
        with pytest.raises(RecursionError):
            run()
        assert float(pc.jit(lambda a: a + 1)(1.0)) == 2.0


@pytest.mark.parametrize(
    "error", [KeyError("mine"), KeyboardInterrupt(), SystemExit(3)], ids=lambda e: type(e).__name__
)
def test_the_users_own_exceptions_pass_through(error):
    def f(a):
        raise error

    for transform in (pc.jit, pc.grad, pc.vmap, pc.make_jaxpr):
        with pytest.raises(type(error)) as caught:
            transform(f)(X)
        assert caught.value is error
    assert float(pc.jit(lambda a: a + 1)(1.0)) == 2.0


def test_a_tracer_that_outlives_its_call():
    leaked = []
    pc.jit(lambda a: leaked.append(a))(1.0)
    pc.grad(lambda a: leaked.append(a) or a)(1.0)
    pc.vmap(lambda a: leaked.append(a) or a)(X)
    for tracer in leaked:
        with pytest.raises(errors.UnexpectedTracerError, match="used after that call has ended"):
            tracer + 1
        with pytest.raises(errors.UnexpectedTracerError, match="return the value"):
            pc.jit(lambda a, tracer=tracer: a + tracer)(1.0)


def test_an_array_that_memory_does_not_hold():
    for run in (lambda: pnp.ones(2**45), lambda: pc.jit(lambda: pnp.ones(2**45))()):
        with pytest.raises(MemoryError, match=r"out of memory: cannot allocate 128\.0 TiB"):
            run().block_until_ready()
    assert float((X + 1).sum()) == 12.0


@pytest.mark.parametrize(
    "x", [X, N, pnp.sin(1.0), pnp.zeros((0, 3)), pnp.ones(2, pnp.bfloat16), pnp.array([True])], ids=repr
)
def test_arrays_are_pickled_and_copied(x):
    for twin in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert (twin.shape, twin.dtype, twin.weak_type) == (x.shape, x.dtype, x.weak_type)
        np.testing.assert_array_equal(np.asarray(twin), np.asarray(x))


def test_functions_and_tracers_are_copied():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    f = pc.jit(lambda tree: copy.deepcopy(tree)["w"] + 1)
    assert copy.deepcopy({"f": f})["f"] is f
    assert float(f({"w": 1.0})) == 2.0
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(f)


def test_threads_share_a_jitted_function():
    f = pc.jit(lambda a, n: pnp.tanh(a @ a) * n)
    wrong = []

    def work(number):
        size = number % 5 + 1
        values = np.full((size, size), 0.1 * number, np.float32)
        for _ in range(20):
            result = f(pnp.asarray(values), float(number))
        if not np.allclose(np.asarray(result), np.tanh(values @ values) * number, atol=1e-4):
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong


def test_an_interrupt_while_waiting_leaves_a_process_that_works():
    code = """
import os, signal, threading, pycompiler.numpy as pnp
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a run in the background has ignored
x = pnp.ones((1024, 1024))
y = x @ x
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        x = x @ x * 1e-3
except KeyboardInterrupt:
    print("interrupted")
print(float((pnp.ones(2) + 1).sum()))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout.split() == ["interrupted", "4.0"], result.stderr
