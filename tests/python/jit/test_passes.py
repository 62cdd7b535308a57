"""`fwd_and_bwd`: the two passes of a function, each compiled once."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

X = np.array([0.5, -1.5, 2.0], np.float32)
W = np.array([1.0, 2.0, 0.25], np.float32)


def loss(x, w, scale=2.0):
    return pnp.sin(x * w).sum() * scale


@pytest.mark.parametrize("jitted", [True, False])
@pytest.mark.parametrize("argnums", [0, -1, (0, 1), [1], ()])
def test_the_passes_are_those_of_vjp(jitted, argnums):
    fwd, bwd = pc.fwd_and_bwd(loss, argnums, jitted=jitted)
    value, residuals = fwd(X, W)
    np.testing.assert_allclose(value, 2 * np.sin(X * W).sum(), rtol=1e-6)
    ours = bwd(residuals, np.float32(3))
    slopes = 6 * np.cos(X * W) * W, 6 * np.cos(X * W) * X
    # The structure is that of the argnums: an int has no tuple.
    expected = slopes[argnums] if isinstance(argnums, int) else tuple(slopes[i] for i in argnums)
    assert pc.tree.structure(ours) == pc.tree.structure(expected)
    for a, b in zip(pc.tree.leaves(ours), pc.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_an_aux_and_keyword_arguments():
    fwd, bwd = pc.fwd_and_bwd(lambda x, w, *, scale: (loss(x, w, scale), {"w": w}), 0, has_aux=True)
    value, residuals, aux = fwd(X, W, scale=3.0)
    np.testing.assert_allclose(value, 3 * np.sin(X * W).sum(), rtol=1e-6)
    np.testing.assert_array_equal(aux["w"], W)
    np.testing.assert_allclose(bwd(residuals, 1.0), 3 * W * np.cos(X * W), rtol=1e-6)


def test_each_pass_compiles_once():
    compiled = []
    listener = lambda event, _, **details: compiled.append((event, details.get("fun_name")))  # noqa: E731
    fwd, bwd = pc.fwd_and_bwd(loss, (0, 1))
    pc.monitoring.register_event_duration_secs_listener(listener)
    try:
        for step in range(3):
            _, residuals = fwd(X + step, W)
            bwd(residuals, np.float32(step))
    finally:
        pc.monitoring.unregister_event_duration_listener(listener)
    ends = [name for event, name in compiled if event.endswith("backend_compile_duration")]
    assert sorted(name for name in ends if name in ("fwd", "bwd")) == ["bwd", "fwd"]


def test_an_argument_that_is_not_there():
    with pytest.raises(ValueError, match=r"argnums=2 asks for argument 2, but the call has 2 positional"):
        pc.fwd_and_bwd(loss, 2)[0](X, W)
