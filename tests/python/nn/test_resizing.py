"""Resizing of images against plain loops, derivatives against differences, and means that are known."""

import inspect

import jax
import jax.image
import numpy as np
import plain_images
import pytest
import slopes

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import image
from pycompiler.core.config.config import enable_x64

rng = np.random.default_rng(0)
X = rng.normal(size=(2, 7, 9)).astype(np.float32)
METHODS = ["nearest", "linear", "lanczos3", "lanczos5", "cubic", "cubic-pytorch", "area"]


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_resize(method, antialias):
    for shape in ((2, 3, 14), (3, 7, 1)):
        got = image.resize(X, shape, method, antialias)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, plain_images.resize(X, shape, method, antialias), atol=2e-5)
    counts = np.arange(12, dtype=np.int32).reshape(3, 4)
    for x, dtype in ((counts, np.float32), (counts.astype(pnp.bfloat16), pnp.bfloat16)):
        got, want = (module.resize(x, (5, 2), method, antialias) for module in (image, plain_images))
        # The nearest elements stay what they are.
        assert got.dtype == (x.dtype if method == "nearest" else dtype)
        np.testing.assert_allclose(got.astype(np.float32), want.astype(np.float32), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("method", METHODS[1:])
def test_scale_and_translate(method, antialias):
    # The first centre is on the edge.
    scale, translation = np.float32([0.7, 1.9]), np.float32([0.5, -1.3])

    def value(module, x, scale, translation):
        return module.scale_and_translate(x, (2, 8, 10), (1, 2), scale, translation, method, antialias)

    got, want = (value(module, X, scale, translation) for module in (image, plain_images))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want, atol=2e-5)
    if method not in ("linear", "lanczos3") or not antialias:
        return
    with enable_x64(True):
        weights = rng.normal(size=(2, 8, 10))
        # No centre is on an edge, and none is on another, where the slope of a triangle changes.
        given = X.astype(np.float64), np.float64([0.71, 1.93]), np.float64([0.46, -1.31])
        ours = pc.jit(pc.grad(lambda *args: (weights * value(image, *args)).sum(), (0, 1, 2)))(*given)
        theirs = slopes.gradients(lambda *args: (weights * value(plain_images, *args)).sum(), given, step=1e-4)
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


def test_known_results():
    np.testing.assert_allclose(image.resize(pnp.arange(8.0), (4,), "area"), [0.5, 2.5, 4.5, 6.5])
    np.testing.assert_array_equal(image.resize(pnp.arange(6), (3,), image.ResizeMethod.NEAREST), [1, 3, 5])
    np.testing.assert_allclose(image.resize(pnp.array([0.0, 4.0]), (4,), "linear"), [0, 1, 3, 4])
    # A translation by a whole number.
    moved = image.scale_and_translate(X, X.shape, (1,), pnp.ones(1), pnp.full(1, 2.0), "cubic")
    np.testing.assert_allclose(moved[:, 2:], X[:, :-2], atol=1e-6)
    np.testing.assert_array_equal(moved[:, :2], 0)
    np.testing.assert_array_equal(image.resize(X, X.shape, "lanczos5"), X)
    assert image.resize(X, (2, 0, 9), "cubic").shape == (2, 0, 9)
    got = pc.vmap(lambda x: image.resize(x, (3, 4), "cubic"))(X)
    np.testing.assert_allclose(got, image.resize(X, (2, 3, 4), "cubic"), atol=1e-6)


def test_arguments():
    for name in ("resize", "scale_and_translate"):
        ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (image, jax.image))
        assert [p.name for p in ours.values()] == [p.name for p in theirs.values()]
    assert {m.name: m.value for m in image.ResizeMethod} == {m.name: m.value for m in jax.image.ResizeMethod}
    assert image.ResizeMethod.from_string("bicubic") is image.ResizeMethod.CUBIC
    with pytest.raises(ValueError, match="ResizeMethod: there is no method 'best'; there are nearest, linear"):
        image.ResizeMethod.from_string("best")
    with pytest.raises(ValueError, match="resize: there is no method 'best'"):
        image.resize(X, (1, 2, 3), "best")
    with pytest.raises(ValueError, match=r"shape must have a size for each dimension of f32\[2,7,9\], got \(3, 3\)"):
        image.resize(X, (3, 3), "linear")
    with pytest.raises(ValueError, match="scale_and_translate: the method 'nearest' is not supported"):
        image.scale_and_translate(X, X.shape, (0,), pnp.ones(1), pnp.ones(1), "nearest")
    with pytest.raises(ValueError, match="scale_and_translate: dimension 0 is not in spatial_dims, so it stays 2"):
        image.scale_and_translate(X, (3, 7, 9), (1,), pnp.ones(1), pnp.ones(1), "linear")


def test_a_centre_on_the_edge_of_an_array_counts():
    x = np.arange(1, 10, dtype=np.float32)
    # The centre of element 2 is at (2.5 - 2.5) / 0.7 - 0.5: the edge, whatever the rounding of 1 / 0.7 is.
    found = image.scale_and_translate(x, (8,), (0,), np.float32([0.7]), np.float32([2.5]), "linear")
    np.testing.assert_array_equal(np.asarray(found) != 0, np.arange(8) >= 2)
