"""Calls that do not enter Python: they give the results of the general functions, and leave other cases to these."""

import copy
import inspect
import os
import pickle
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime as rt

VECTOR = np.array([3.0, -1.0, 2.0, 0.5], np.float32)
MATRIX = np.arange(12, dtype=np.int32).reshape(3, 4)


def same(ours, theirs):
    assert (ours.shape, ours.dtype, ours.weak_type) == (theirs.shape, theirs.dtype, theirs.weak_type)
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6)


#
# Indices.
#


@pytest.mark.parametrize(
    "index",
    [
        *(0, 2, -1, -3, (1, 2), (-1, -4), (2,), slice(1, 3), slice(-2, None), slice(None, -1), slice(2, 1)),
        *(7, slice(5, 9), (1, slice(1, 2)), (), True, None, np.int64(1), slice(None, None, 2), (0, 9)),
    ],
    ids=str,
)
@pytest.mark.parametrize("values", [MATRIX, VECTOR.reshape(4, 1)[:3]], ids=["int32", "float32"])
def test_an_index_is_jaxs(values, index):
    try:
        theirs = jnp.asarray(values)[index]
    except IndexError:
        with pytest.raises(IndexError):
            pnp.asarray(values)[index]
        return
    same(pnp.asarray(values)[index], theirs)


def test_an_index_keeps_the_weak_type():
    ours, theirs = (np_.broadcast_to(np_.asarray(2.0), (3,)) for np_ in (pnp, jnp))
    assert ours.weak_type
    same(ours[1], theirs[1])
    same(ours[1:], theirs[1:])


def test_an_index_is_of_its_own_memory():
    x = pnp.asarray(MATRIX) + 0
    row = x[1]
    x.delete()
    np.testing.assert_array_equal(np.asarray(row), MATRIX[1])


def test_an_index_of_a_deleted_array_says_so():
    x = pnp.asarray(MATRIX) + 0
    x.delete()
    for index in (0, (0, 0), slice(0, 1)):
        with pytest.raises(RuntimeError, match="deleted"):
            np.asarray(x[index])


def test_an_index_of_a_pending_array_does_not_wait_for_it():
    x = pnp.asarray(np.eye(800, dtype=np.float32))
    product = pc.jit(lambda x: (x @ x @ x @ x)[:2, :3])
    assert float(product(x)[1, 1]) == 1
    assert float(product(x)[1][1]) == 1


def test_large_rows_are_rows():
    values = np.arange(3 * 5000, dtype=np.float32).reshape(3, 5000)
    x = pnp.asarray(values)
    for index in (0, -1, slice(1, 3), (1, 4999)):
        np.testing.assert_array_equal(np.asarray(x[index]), values[index])


def test_an_index_while_traced_is_traced():
    constant = pnp.asarray(MATRIX)
    assert "1" in str(pc.make_jaxpr(lambda x: x[1] + constant[1])(MATRIX))
    np.testing.assert_array_equal(np.asarray(pc.jit(lambda x: x[1] + constant[-1])(MATRIX)), MATRIX[1] + MATRIX[-1])


def test_an_index_is_looked_at_when_nans_are():
    x = pnp.asarray(np.array([1.0, np.nan], np.float32))
    assert np.isnan(x[1])
    with pc.debug_nans(True), pytest.raises(FloatingPointError):
        x[1].block_until_ready()
    assert np.isnan(x[1])


#
# Functions and methods.
#

FUNCTIONS = {
    "exp": lambda np_, x: np_.exp(x),
    "exp of ints": lambda np_, x: np_.exp(x.astype("int32")),
    "minimum": lambda np_, x: np_.minimum(x, 0),
    "maximum of a bool": lambda np_, x: np_.maximum(True, x),
    "where": lambda np_, x: np_.where(x > 0, x, 7),
    "clip": lambda np_, x: np_.clip(x, -0.5, 1),
    "clip by name": lambda np_, x: np_.clip(x, max=1),
    "sum": lambda np_, x: np_.sum(x),
    "sum by name": lambda np_, x: np_.sum(a=x, axis=0),
    "sum in a dtype": lambda np_, x: np_.sum(x, dtype=np_.int32),
    "sum in a dtype by position": lambda np_, x: np_.sum(x, None, "int32"),
    "sum where": lambda np_, x: np_.sum(x, where=x > 0),
    "sum of two axes": lambda np_, x: np_.sum(x.reshape(2, 2), axis=(0, 1), keepdims=True),
    "sum of a list": lambda np_, x: np_.sum(np_.asarray([1, 2])),
    "method": lambda np_, x: x.sum(),
    "mean": lambda np_, x: x.mean(0),
    "max": lambda np_, x: x.reshape(2, 2).max(axis=-1, keepdims=True),
    "argmax": lambda np_, x: x.argmax(),
    "any": lambda np_, x: (x > 0).any(),
    "reshape": lambda np_, x: x.reshape(2, -1),
    "reshape to a tuple": lambda np_, x: x.reshape((2, 2), order="F"),
    "transpose": lambda np_, x: x.reshape(1, 4).T,
    "transpose by axes": lambda np_, x: x.reshape(1, 2, 2).transpose(2, 0, 1),
    "astype": lambda np_, x: x.astype(np_.int32),
    "astype of Python": lambda np_, x: x.astype(bool),
    "swapaxes": lambda np_, x: x.reshape(1, 4).swapaxes(0, 1),
    "var": lambda np_, x: x.var(ddof=1),
    "divmod": lambda np_, x: np_.divmod(x, 2)[1],
    "dot": lambda np_, x: x.dot(x),
    "cumsum": lambda np_, x: x.cumsum(),
    "sort": lambda np_, x: np_.sort(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_jaxs(name):
    function = FUNCTIONS[name]
    for _ in range(2):
        same(function(pnp, pnp.asarray(VECTOR)), function(jnp, jnp.asarray(VECTOR)))
    np.testing.assert_allclose(
        np.asarray(pc.jit(lambda x: function(pnp, x))(VECTOR)),
        np.asarray(function(jnp, jnp.asarray(VECTOR))),
        rtol=1e-6,
    )


def compilations(function):
    """The number of compilations of calls."""
    return 0 if function.compiled is None else function.compiled.cache_size()


def test_common_calls_are_compiled_once():
    x = pnp.asarray(np.ones((3, 7), np.float32))
    x.sum(axis=1)
    before = compilations(pnp.sum)
    for _ in range(3):
        x.sum(axis=1)
        pnp.sum(x + 1, axis=1)
    assert compilations(pnp.sum) == before
    x.sum(axis=0)
    assert compilations(pnp.sum) == before + 1


def test_other_calls_are_not_compiled():
    x = pnp.asarray(np.ones((3, 5), np.float32))
    pnp.sum(x)
    before = compilations(pnp.sum)
    pnp.sum(np.ones((3, 5)))
    pnp.sum(x, where=x > 0)
    pnp.sum(a=x)
    pc.jit(pnp.sum)(x)
    pc.grad(pnp.sum)(x)
    pc.vmap(pnp.sum)(x)
    assert compilations(pnp.sum) == before


def test_a_refused_call_has_the_functions_own_error():
    x = pnp.asarray(MATRIX)
    with pytest.raises(ValueError, match=r"^sum: axis 5 is out of range"):
        x.sum(axis=5)
    with pytest.raises((TypeError, ValueError), match=r"^minimum: ") as raised:
        pnp.minimum(x, pnp.ones(3))
    assert raised.traceback[-1].path.name == "test_dispatch.py"
    with pytest.raises(TypeError, match="exp"):
        pnp.exp()
    with pytest.raises(TypeError):
        pnp.exp("text")
    with pytest.raises(TypeError, match="axes"):
        x.sum(axes=1)
    with pytest.raises(OverflowError):
        pnp.minimum(x.astype("int8"), 2**40)


def test_a_wide_dtype_is_warned_about_at_each_line():
    x = pnp.asarray(VECTOR)
    with pytest.warns(UserWarning, match="float64"):
        assert x.astype(np.float64).dtype == np.float32
    with pytest.warns(UserWarning, match="float64"):
        assert x.astype(np.float64).dtype == np.float32
    with pytest.warns(UserWarning, match="float64"):
        assert pnp.sum(x, dtype="float64").dtype == np.float32


def test_a_default_dtype_follows_the_configuration():
    x = pnp.asarray(VECTOR)
    assert x.astype(int).dtype == np.int32
    with pc.enable_x64(True):
        assert x.astype(int).dtype == np.int64
    assert x.astype(int).dtype == np.int32


def test_functions_describe_themselves():
    assert pnp.exp.__name__ == "exp"
    assert pnp.exp.__doc__.startswith("e to the power")
    assert pnp.exp.__module__ == "pycompiler.numpy"
    assert [*inspect.signature(pnp.sum).parameters][:2] == ["a", "axis"]
    assert [*inspect.signature(pnp.add).parameters] == ["args", "out", "where"]
    assert "exp" in repr(pnp.exp)
    assert "ufunc 'add'" in repr(pnp.add)
    for function in (pnp.exp, pnp.sum, pnp.add):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function
    # An alias is a function of its own name, as JAX's.
    assert (pnp.acos.__name__, pnp.arccos.__name__) == ("acos", "arccos")


def test_functions_bind_as_methods():
    class Holder:
        negated = pnp.negative
        total = pnp.sum

        def __neg__(self):
            return "negated"

    x = pnp.asarray(VECTOR)
    assert x.sum.__self__ is x
    assert pnp.ndarray.sum(x) == x.sum() == VECTOR.sum()
    with pytest.raises(TypeError):
        Holder().total()


def test_an_array_function_is_what_it_is_given():
    function = rt.ArrayFunction(lambda *args, **kwargs: ("general", args, kwargs))
    assert function(1, b=2) == ("general", (1,), {"b": 2})
    made = []

    def make():
        made.append(1)
        return lambda *args, **kwargs: ("compiled", len(args), kwargs)

    function.set_compiled(make, 1, 2, ("axis",))
    x, key = pnp.asarray(VECTOR), pc.random.key(0)
    assert not made
    assert function(x, 2, 3, axis=(0, 1)) == ("compiled", 3, {"axis": (0, 1)})
    assert function(x) == ("compiled", 1, {})
    assert made == [1]
    for args, kwargs in (
        ((), {}),
        ((1, 2), {}),
        ((x, "text"), {}),
        ((x, x, 1.5), {}),
        ((x, x, [0]), {}),
        ((x,), {"axis": x}),
        ((x,), {"other": 1}),
        ((x, 2**40), {}),
        ((x, VECTOR), {}),
        ((x, key), {}),
        ((x, np.float32(1)), {}),
    ):
        assert function(*args, **kwargs)[0] == "general"
    with pytest.raises(ValueError, match="fewest"):
        function.set_compiled(make, 0, 1)
    with pytest.raises(TypeError, match="callable"):
        rt.ArrayFunction(3)


def test_what_a_compiled_function_refuses_is_general():
    def refuse(error):
        def compiled(*args):
            raise error

        return compiled

    function = rt.ArrayFunction(lambda x: "general")
    x = pnp.asarray(VECTOR)
    for error in (TypeError(), ValueError(), IndexError(), OverflowError()):
        function.set_compiled(lambda error=error: refuse(error), 1, 1)
        assert function(x) == "general"
    function.set_compiled(lambda: refuse(MemoryError("full")), 1, 1)
    with pytest.raises(MemoryError, match="full"):
        function(x)


#
# Waiting.
#


def test_a_tree_is_waited_for():
    x = pnp.asarray(VECTOR)
    tree = {"a": [x + 1, (x * 2, None)], "b": "text", "c": 3}
    assert pc.block_until_ready(tree) is tree
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        pc.block_until_ready([1, {"x": x}])


#
# Kernels of the build.
#

FIRST_USE = """
import sys
import numpy as np
import pycompiler as pc, pycompiler.numpy as pnp
x, i = pnp.ones(3) + 1, pnp.arange(7)
f = pnp.zeros((2, 5)) + pnp.full((2, 5), 2.5)
for a in (x, i, f):
    for b in (a, 2, a + 1):
        a + b, a - b, a * b, b - a, a == b, a != b, a < b, a <= b, a > b, a >= b, pnp.minimum(a, b), pnp.maximum(a, b)
    -a, abs(a), a / a, a / 2, a * 1.5, a + True, pnp.add(a, a)
assert pc.device_count() == 1 and "pycompiler._compiler" not in sys.modules, "compiled"
assert np.array_equal(x, [2, 2, 2])
x + x.astype("float16")
assert "pycompiler._compiler" in sys.modules
"""


def test_the_first_use_of_the_common_operators_compiles_nothing():
    environment = {name: value for name, value in os.environ.items() if name != "PYCOMPILER_NUM_CPU_DEVICES"}
    environment["PYCOMPILER_ENABLE_COMPILATION_CACHE"] = "0"
    done = subprocess.run(
        [sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr


OPS = ("add", "subtract", "multiply", "divide", "minimum", "maximum", "equal", "not_equal", "less", "less_equal")


def operands(dtype, shape):
    rng = np.random.default_rng(sum(shape))
    values = [rng.integers(-9, 9, shape).astype(dtype) for _ in range(2)]
    if dtype == "float32":
        values[0].flat[::5] = [np.nan, -0.0, np.inf, 1e-40][sum(shape) % 4]
        values[1].flat[1::3] += np.float32(0.1)
    return values


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("op", [*OPS, "greater", "greater_equal"])
def test_a_kernel_of_the_build_gives_the_bits_of_a_compiled_one(op, dtype):
    function = getattr(pnp, op)
    compiled = pc.jit(lambda a, b: function(a, b))
    for shape in ((), (1,), (3, 5), (16,), (1041,), (9000,), (300_001,)):
        for a, b in (operands(dtype, shape), (operands(dtype, shape)[0], 3), (2.5, operands(dtype, shape)[1])):
            ours, theirs = function(*map(as_array, (a, b))), compiled(*map(as_array, (a, b)))
            assert (ours.dtype, ours.shape, ours.weak_type) == (theirs.dtype, theirs.shape, theirs.weak_type)
            assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("op", ["negative", "abs"])
def test_a_kernel_of_one_operand(op, dtype):
    x = pnp.asarray(operands(dtype, (143,))[0])
    function = getattr(pnp, op)
    assert np.asarray(function(x)).tobytes() == np.asarray(pc.jit(lambda x: function(x))(x)).tobytes()


def as_array(x):
    return pnp.asarray(x) if isinstance(x, np.ndarray) else x


def test_a_kernel_of_the_build_reads_memory_of_others():
    memory = np.arange(50, dtype=np.float32)
    for start in (0, 1, 17):
        x = pnp.from_dlpack(memory[start : start + 30])
        np.testing.assert_array_equal(np.asarray(x - x * 2), -memory[start : start + 30])


def test_created_arrays_are_jaxs():
    for make in (
        lambda np_: np_.zeros(5),
        lambda np_: np_.ones((2, 3), "int8"),
        lambda np_: np_.full((2, 2), 7),
        lambda np_: np_.full(3, 2.5),
        lambda np_: np_.full((), True),
        lambda np_: np_.full(3, 1 + 2j),
        lambda np_: np_.ones(2, "bfloat16"),
        lambda np_: np_.zeros((0, 3)),
        lambda np_: np_.arange(6),
        lambda np_: np_.arange(0),
        lambda np_: np_.arange(5.0),
        lambda np_: np_.arange(4, dtype="float32"),
        lambda np_: np_.arange(4, dtype="uint8"),
    ):
        same(make(pnp), make(jnp))
    assert "broadcast_in_dim" in str(pc.make_jaxpr(lambda: pnp.zeros(4))())
    assert "iota" in str(pc.make_jaxpr(lambda: pnp.arange(4))())
    with pytest.raises(OverflowError):
        pnp.full(2, 2**40, "int8")
    with pytest.raises((TypeError, ValueError)):
        pnp.zeros(-1)
    with pytest.raises(ValueError, match="bytes"):
        rt.filled(pnp.zeros(2).aval, b"1")
    with pytest.raises(ValueError, match="vector"):
        rt.counted(pnp.zeros((2, 2)).aval)
