"""Exported functions of symbolic sizes: loaded, and run at sizes that were not tried before the export."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import export

W = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
N = pc.Dim("n", max=4096)


def f(x, scale):
    return {"y": pnp.tanh(x @ W) * scale, "twice": pnp.concatenate([x, x])}


@pytest.fixture(scope="module")
def exported():
    return export.export(pc.jit(f))(pc.ShapeDtypeStruct((N, 3), pnp.float32), pc.ShapeDtypeStruct((), pnp.float32))


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        check=True,
        capture_output=True,
        text=True,
        env=environment or None,
    ).stdout


def test_it_is_called_at_every_size(exported, counts):
    assert "f32[n,3]" in repr(exported)
    assert [aval.shape for aval in exported.out_avals] == [(2 * N, 3), (N, 4)]
    for n in (1, 2, 33):
        x = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
        out = exported.call(x, np.float32(2))
        np.testing.assert_allclose(out["y"], np.tanh(x @ W) * 2, rtol=2e-5, atol=1e-6)
        np.testing.assert_array_equal(out["twice"], np.concatenate([x, x]))
    assert counts.compiled == 1


def test_bounds_and_types_hold(exported):
    with pytest.raises(ValueError, match="n must be from 1 to 4096"):
        exported.call(np.ones((0, 3), np.float32), np.float32(2))
    with pytest.raises(ValueError, match=r"exported for f32\[n,3\] as args\[0\], called with i32\[2,3\]"):
        exported.call(np.ones((2, 3), np.int32), np.float32(2))
    with pytest.raises(ValueError, match="expected 3"):
        exported.call(np.ones((2, 4), np.float32), np.float32(2))


def test_another_process_loads_it(exported, tmp_path):
    blob = exported.serialize()
    again = export.deserialize(blob)
    assert again.in_avals == exported.in_avals
    assert again.out_avals == exported.out_avals
    assert again.in_avals[0].shape[0].symbols()[0].max == 4096
    (tmp_path / "f.pcx").write_bytes(blob)
    np.save(tmp_path / "w.npy", W)
    shown = run(f"""
        import numpy as np
        from pycompiler import export
        f = export.deserialize(open("{tmp_path}/f.pcx", "rb").read())
        w = np.load("{tmp_path}/w.npy")
        for n in (1, 5, 17, 250):
            x = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
            out = f.call(x, np.float32(3))
            np.testing.assert_allclose(out["y"], np.tanh(x @ w) * 3, rtol=2e-5, atol=1e-6)
            np.testing.assert_array_equal(out["twice"], np.concatenate([x, x]))
        print("right")
    """)
    assert shown == "right\n"


def test_sizes_are_arithmetic_of_symbols():
    n, m = pc.Dim("n", multiple_of=2), pc.Dim("m")
    made = export.export(lambda x, y: pnp.concatenate([x[: n // 2], y, y]))(
        pc.ShapeDtypeStruct((n,), pnp.float32), pc.ShapeDtypeStruct((m,), pnp.float32)
    )
    again = export.deserialize(made.serialize())
    assert again.out_avals == made.out_avals
    x, y = np.arange(6, dtype=np.float32), np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(again.call(x, y), np.concatenate([x[:3], y, y]))


def test_what_can_not_be_said():
    m = pc.Dim("m")
    with pytest.raises(ValueError, match="does not follow from the shapes of the arguments"):
        export.export(lambda x: x * 2)(pc.ShapeDtypeStruct((N * m,), pnp.float32))


@pytest.mark.parametrize("n", [1, 5])
def test_in_a_function_that_is_traced(exported, n):
    x = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
    wanted = f(x, 2.0)
    for name, found in pc.jit(exported.call)(x, np.float32(2)).items():
        np.testing.assert_allclose(found, wanted[name], rtol=1e-6)
    loss = lambda function: lambda x: (function(x, np.float32(2))["y"] ** 2).sum()  # noqa: E731
    np.testing.assert_allclose(pc.grad(loss(exported.call))(x), pc.grad(loss(f))(x), rtol=1e-5)
    _, found = pc.jvp(loss(exported.call), (x,), (x,))
    np.testing.assert_allclose(found, pc.jvp(loss(f), (x,), (x,))[1], rtol=1e-5)
    both = pc.vmap(lambda x: exported.call(x, np.float32(2))["y"])(np.stack([x, -x]))
    np.testing.assert_allclose(both, [wanted["y"], -wanted["y"]], rtol=1e-6)


def test_in_another_exported_function_of_symbolic_sizes():
    of = lambda text: pc.ShapeDtypeStruct(export.symbolic_shape(text), pnp.float32)  # noqa: E731
    inner = export.export(lambda x: x.reshape(-1, x.shape[1]) * x.shape[2])(of("3, a, 2*b"))
    outer = export.export(lambda x: inner.call(x) + 1)(of("3, c + 2, 4*c"))
    assert [str(size) for size in outer.out_avals[0].shape] == ["12*c", "c + 2"]
    x = np.arange(3 * 5 * 12, dtype=np.float32).reshape(3, 5, 12)
    for each in (outer, export.deserialize(outer.serialize())):
        np.testing.assert_allclose(each.call(x), x.reshape(-1, 5) * 12 + 1)
    for shape in ("3, c, 2*c + 1", "3, 4, 3*c", "c, 4, 2*c"):  # no multiple of 2, perhaps none, perhaps not 3
        with pytest.raises(ValueError):  # noqa: PT011 the words depend on what is not known
            export.export(lambda x: inner.call(x))(of(shape))


def test_sizes_that_a_traced_call_can_not_have(exported):
    inner = export.export(lambda x: x + 1)(pc.ShapeDtypeStruct(export.symbolic_shape("2*t"), pnp.float32))
    with pytest.raises(ValueError, match="is 3 = 2\\*t, but t must be 1 or more"):
        pc.jit(inner.call)(np.ones(3, np.float32))
    with pytest.raises(ValueError, match="was exported for"):
        pc.jit(exported.call)(np.ones(3, np.float32), np.float32(1))


def test_a_loaded_one_in_a_function_that_is_traced(exported):
    loaded = export.deserialize(exported.serialize())
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(pc.jit(lambda x: loaded.call(x, 2.0)["y"])(x), loaded.call(x, 2.0)["y"])
    with pytest.raises(NotImplementedError, match=r"(?s)a module for symbolic sizes, .* outside of the function"):
        pc.jit(lambda x: loaded.call(x, 2.0)["y"], dynamic={"x": (pc.Dim("other", max=4096), None)})(x)


def test_the_derivative(exported):
    derivative = export.deserialize(exported.serialize(vjp_order=1)).vjp()
    for n in (1, 4):
        x = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
        cotangents = np.ones((2 * n, 3), np.float32), np.ones((n, 4), np.float32)
        dx, dscale = derivative.call(x, np.float32(2), *cotangents)
        y = np.tanh(x @ W)
        np.testing.assert_allclose(dx, 2 + ((1 - y**2) * 2) @ W.T, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(dscale, y.sum(), rtol=1e-4, atol=1e-5)


def test_compiled_code_is_kept_on_disk(tmp_path):
    code = f"""
        import logging, sys
        import numpy as np, pycompiler as pc, pycompiler.numpy as pnp
        logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(message)s")
        pc.config.update("compilation_cache_dir", "{tmp_path}")
        f = pc.jit(lambda x: pnp.tanh(x) * x.shape[0], dynamic={{"x": (pc.Dim("n", max=BOUND), None)}})
        for n in (2, 7, 30):
            x = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
            np.testing.assert_allclose(f(x), np.tanh(x) * n, rtol=1e-5)
        print("compiler loaded:", "pycompiler._compiler" in sys.modules)
    """
    first = run(code.replace("BOUND", "64"))
    again = run(code.replace("BOUND", "64"))
    other = run(code.replace("BOUND", "128"))
    assert "Compiled <lambda>" in first
    assert "Loaded <lambda> from the disk cache" in again
    assert "compiler loaded: False" in again
    # The bounds are stored in the file.
    assert "Compiled <lambda>" in other
