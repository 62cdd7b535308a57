"""Exported functions in another process: results, gradients, containers, dtypes, constants, keys, the disk cache."""

import functools
import pickle
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import export

W = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
X = np.random.default_rng(1).standard_normal((2, 3)).astype(np.float32)
KEY = pc.random.key(7)


class Point(NamedTuple):
    x: object
    y: object


def shapes(*arrays):
    return [pc.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]


def closing_over(w):
    w = pnp.asarray(w)
    return lambda x: {"h": pnp.tanh(x @ w), "same": x, "w": w}


def nested(d):
    return d["a"][0] + 2, [None, OrderedDict(z=d["a"][1], b=d["b"][1])], d["b"]


def static(x, n, scale=1):
    return x**n * scale


def with_key(x):
    return x + pc.random.normal(KEY, x.shape)


def decomposed(x):
    return pnp.linalg.svd(x.T @ x + pnp.eye(3), compute_uv=False), pnp.sort(x), pnp.fft.rfft(x)


def looping(x):
    return pc.lax.while_loop(lambda c: (c < 100).any(), lambda c: c * 2, abs(x) + 1)


def loss(x):
    return (pnp.tanh(x @ W) ** 2).sum()


I8 = np.int8([[1, -2, 3]])
D = {"a": (X, X[0]), "b": {1: I8, -2: I8}}
# name: (function, arguments, order of the written derivatives)
CASES = {
    "closing_over": (closing_over(W), (X,), 0),
    "nested": (nested, (D,), 0),
    "nothing to compute": (lambda x, y: (y, x), (X, I8), 0),
    "loss": (loss, (X,), 2),
    "keys": (with_key, (X,), 0),
    "routines": (decomposed, (X,), 0),
    "loop": (looping, (X,), 0),
    "bfloat16": (lambda x: x * 2 + 1, (X.astype(ml_dtypes.bfloat16),), 0),
    "float16": (lambda x: pnp.exp(x), (X.astype(np.float16),), 0),
    "complex64": (lambda x: x * x.conj(), (X.astype(np.complex64) * 1j,), 0),
    "bool": (lambda x: (~x, x.sum()), (X > 0,), 0),
    "uint8": (lambda x: x << 1, (np.uint8([200, 3]),), 0),
    "small": (lambda x: x.astype(np.float32), (X.astype(ml_dtypes.float8_e4m3fn),), 0),
    "named": (lambda p: Point(p.y, p.x), (Point(X, I8),), 0),
}

READER = """
import pickle, sys
import numpy as np
import pycompiler as pc, pycompiler.numpy as pnp
from pycompiler import export
from typing import NamedTuple

class Point(NamedTuple):
    x: object
    y: object

export.register_namedtuple_serialization(Point, serialized_name="tests.Point")
results = {}
for name, (blob, args) in pickle.loads(open(sys.argv[1], "rb").read()).items():
    args = [Point(*a[1:]) if type(a) is tuple and a[0] == "Point" else a for a in args]
    f = export.deserialize(blob)
    out = f.call(*args)
    if isinstance(out, Point):
        out = ("Point", *out)
    results[name] = pc.tree.map(np.asarray, out)
    if name == "loss":
        results["grad"] = np.asarray(pc.grad(f.call)(*args))
        results["grad of grad"] = np.asarray(pc.grad(lambda x: (pc.grad(f.call)(x) ** 2).sum())(*args))
        results["jit of grad"] = np.asarray(pc.jit(pc.grad(f.call))(*args))
    if name == "loop":
        results["compiler"] = "pycompiler._compiler" in sys.modules
results["compiler"] = "pycompiler._compiler" in sys.modules
open(sys.argv[2], "wb").write(pickle.dumps(results))
"""


def in_new_process(folder: Path, blobs: dict, **environment: str) -> dict:
    given, found = folder / "given.pickle", folder / "found.pickle"
    given.write_bytes(pickle.dumps(blobs))
    env = {**__import__("os").environ, **environment}
    subprocess.run([sys.executable, "-c", READER, str(given), str(found)], check=True, timeout=300, env=env)
    return pickle.loads(found.read_bytes())


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The results of all cases in another process, with a separate disk cache."""
    export.register_namedtuple_serialization(Point, serialized_name="tests.Point")
    blobs = {}
    for name, (f, args, order) in CASES.items():
        exported = export.export(pc.jit(f))(*pc.tree.map(lambda a: pc.ShapeDtypeStruct(a.shape, a.dtype), args))
        plain = [("Point", *a) if isinstance(a, Point) else a for a in args]
        blobs[name] = (bytes(exported.serialize(vjp_order=order)), plain)
    folder = tmp_path_factory.mktemp("export")
    cache = {"PYCOMPILER_COMPILATION_CACHE_DIR": str(folder / "cache"), "PYCOMPILER_ENABLE_COMPILATION_CACHE": "1"}
    first = in_new_process(folder, blobs, **cache)
    return first, in_new_process(folder, blobs, **cache)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_process_that_exported(found, name):
    f, args, _ = CASES[name]
    expected = pc.jit(f)(*args)
    given = Point(*found[0][name][1:]) if name == "named" else found[0][name]
    assert pc.tree.structure(given) == pc.tree.structure(expected)
    for one, other in zip(pc.tree.leaves(given), pc.tree.leaves(expected), strict=True):
        other = np.asarray(other)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.astype(np.float64) if one.dtype.kind == "V" else one, other)


def test_gradients_come_with_it(found):
    gradient = pc.grad(loss)
    np.testing.assert_allclose(found[0]["grad"], gradient(X), rtol=1e-6)
    np.testing.assert_allclose(found[0]["jit of grad"], gradient(X), rtol=1e-6)
    second = pc.grad(lambda x: (gradient(x) ** 2).sum())(X)
    np.testing.assert_allclose(found[0]["grad of grad"], second, rtol=1e-5, atol=1e-6)


def test_a_second_process_loads_it_from_the_disk_cache_without_the_compiler(found):
    first, second = found
    assert first["compiler"]
    assert not second["compiler"]
    for name in CASES:
        pc.tree.map(np.testing.assert_array_equal, first[name], second[name])


def test_static_arguments_are_no_arguments_any_more():
    f = pc.jit(static, static_argnums=1, static_argnames="scale")
    exported = export.deserialize(export.export(f)(*shapes(X), 3, scale=2).serialize())
    np.testing.assert_allclose(exported.call(X), X**3 * 2, rtol=1e-6)
    with pytest.raises(TypeError, match="exported for arguments"):
        exported.call(X, 3)


def test_donated_arguments_stay_until_the_caller_gives_them_up():
    f = pc.jit(lambda x: x + 1, donate_argnums=0)
    exported = export.deserialize(export.export(f)(pc.ShapeDtypeStruct((64, 64), np.float32)).serialize())
    x = pnp.ones((64, 64))
    np.testing.assert_array_equal(exported.call(x), np.full((64, 64), 2))
    assert not x.is_deleted()
    np.testing.assert_array_equal(pc.jit(exported.call, donate_argnums=0)(x), np.full((64, 64), 2))
    assert x.is_deleted()


def test_weak_types_are_kept():
    exported = export.deserialize(export.export(lambda x, y: (x * 2, y))(1.0, X).serialize())
    assert [aval.weak_type for aval in exported.in_avals] == [True, False]
    assert [aval.weak_type for aval in exported.out_avals] == [True, False]
    assert (exported.call(1.0, X)[0] + np.float16(1)).dtype == np.float16
    # A weak type is no reason to refuse an array.
    exported.call(np.float32(1), X)


def test_64_bits_need_their_setting():
    with pc.enable_x64(True):
        exported = export.export(lambda x: x * 2)(np.float64([1, 2]))
        blob = exported.serialize()
        np.testing.assert_array_equal(export.deserialize(blob).call(np.float64([1, 2])), [2, 4])
    with pytest.raises(ValueError, match=r"exported for f64\[2\] as args\[0\], called with f32\[2\]"):
        export.deserialize(blob).call(np.float32([1, 2]))


def test_an_exported_function_can_be_exported_in_another():
    inner = export.deserialize(export.export(loss)(*shapes(X)).serialize(vjp_order=1))
    outer = export.export(lambda x: pc.value_and_grad(inner.call)(x * 2))(*shapes(X))
    value, gradient = export.deserialize(outer.serialize()).call(X)
    np.testing.assert_allclose(value, loss(X * 2), rtol=1e-6)
    np.testing.assert_allclose(gradient, pc.grad(loss)(X * 2), rtol=1e-6)


def test_the_derivative_is_an_exported_function():
    exported = export.export(lambda n, x: (x.sum() * 2, n))(np.int32(3), X)
    vjp = export.deserialize(exported.serialize(vjp_order=1)).vjp()
    assert vjp.fun_name == "<lambda>_vjp"
    (gradient,) = vjp.call(np.int32(3), X, np.float32(5))
    np.testing.assert_array_equal(gradient, np.full_like(X, 10))
    assert not vjp.has_vjp()
    # Integers among the arguments and results have none.
    assert pc.grad(lambda x: exported.call(np.int32(3), x)[0])(X).shape == X.shape
    assert export.export(lambda n: n + 1)(np.int32(3)).vjp().call(np.int32(3)) == ()


def test_constants_are_written_once(tmp_path):
    w = np.ones((128, 128), np.float32)
    f = closing_over(w)
    exported = export.export(lambda x: f(x)["h"].sum())(pc.ShapeDtypeStruct((2, 128), np.float32))
    plain, with_vjp = len(exported.serialize()), len(exported.serialize(vjp_order=1))
    assert w.nbytes < plain < w.nbytes + 4096
    assert with_vjp < w.nbytes + 12288


def test_functions_that_are_not_jitted_and_wrapped_ones():
    np.testing.assert_array_equal(export.export(functools.partial(pnp.add, 1))(X).call(X), X + 1)
    with pytest.raises(TypeError, match="takes a function, got 3"):
        export.export(3)
