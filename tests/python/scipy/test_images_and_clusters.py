"""scipy.ndimage, scipy.cluster.vq and scipy.integrate against SciPy's values."""

import inspect

import jax
import jax.scipy.ndimage
import numpy as np
import pytest
import scipy.cluster.vq
import scipy.integrate
import scipy.ndimage

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.scipy import cluster, integrate, ndimage

rng = np.random.default_rng(0)
IMAGE = rng.normal(size=(5, 6)).astype(np.float32) * 10
PLACES = [rng.uniform(-9, 14, (4, 3)).astype(np.float32) for _ in range(2)]
# SciPy's mode of the same meaning.
MODES = {"constant": "grid-constant", "wrap": "grid-wrap", **{name: name for name in ("nearest", "mirror", "reflect")}}


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("mode", MODES)
def test_map_coordinates(mode, order):
    for image in (IMAGE, IMAGE.astype(np.int32), IMAGE + 1j * IMAGE[::-1], IMAGE.astype(np.uint8)):
        got = ndimage.map_coordinates(image, PLACES, order, mode, 1.5)
        assert (got.dtype, got.shape) == (image.dtype, (4, 3))
        if image.dtype.kind in "fc":
            want = scipy.ndimage.map_coordinates(image, PLACES, order=order, mode=MODES[mode], cval=1.5)
            np.testing.assert_allclose(got, want, atol=2e-4)
        else:
            want = jax.scipy.ndimage.map_coordinates(image, PLACES, order, mode, 1.5)
            np.testing.assert_array_equal(got, want)
    one = np.float32([[7.0]])
    np.testing.assert_allclose(
        ndimage.map_coordinates(one, [np.float32([3]), np.float32([0])], order, mode, 7.0), 7, rtol=1e-6
    )


def test_map_coordinates_under_transformations():
    def value(image, place):
        return ndimage.map_coordinates(image, [place[0], place[1]], 1)

    slopes = pc.jit(pc.grad(value, (0, 1)))(IMAGE, np.float32([1.25, 2.5]))
    want = np.zeros((5, 6))
    want[1:3, 2:4] = np.outer([0.75, 0.25], [0.5, 0.5])
    np.testing.assert_allclose(slopes[0], want, atol=1e-6)
    means = IMAGE[1:3, 2:4].mean(1)
    np.testing.assert_allclose(slopes[1][0], means[1] - means[0], rtol=1e-4)
    got = pc.vmap(lambda x: ndimage.map_coordinates(IMAGE, [x, x], 1))(np.float32([0, 1, 2]))
    np.testing.assert_allclose(got, IMAGE[[0, 1, 2], [0, 1, 2]])
    np.testing.assert_array_equal(
        ndimage.map_coordinates(IMAGE, [pnp.array([4, -1]), pnp.array([5, 0])], 1), [IMAGE[4, 5], 0]
    )


def test_map_coordinates_arguments():
    names = [inspect.signature(m.map_coordinates).parameters for m in (ndimage, jax.scipy.ndimage)]
    assert [(p.name, p.default) for p in names[0].values()] == [(p.name, p.default) for p in names[1].values()]
    with pytest.raises(NotImplementedError, match="map_coordinates: order is 0 or 1, got 3"):
        ndimage.map_coordinates(IMAGE, PLACES, 3)
    with pytest.raises(NotImplementedError, match="map_coordinates: mode is one of constant, nearest"):
        ndimage.map_coordinates(IMAGE, PLACES, 1, "grid-wrap")
    with pytest.raises(ValueError, match="one array of coordinates for each axis, got 1 for"):
        ndimage.map_coordinates(IMAGE, PLACES[:1], 1)


def test_vq():
    points, codes = rng.normal(size=(9, 3)).astype(np.float32), rng.normal(size=(4, 3)).astype(np.float32)
    line = points[:, 0], codes[:, 0]
    for got, want in zip(cluster.vq.vq(points, codes), scipy.cluster.vq.vq(points, codes), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    for got, want in zip(pc.jit(cluster.vq.vq)(*line), scipy.cluster.vq.vq(*line), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    slope = pc.grad(lambda x: cluster.vq.vq(x, codes)[1].sum())(codes)
    np.testing.assert_array_equal(slope, 0)
    with pytest.raises(ValueError, match=r"vq: takes matrices .* got f32\[9,3\] and f32\[4\]"):
        cluster.vq.vq(points, codes[:, 0])


def test_trapezoid():
    y, x = rng.normal(size=(3, 5)).astype(np.float32), np.sort(rng.normal(size=5)).astype(np.float32)
    np.testing.assert_allclose(integrate.trapezoid(y, x), scipy.integrate.trapezoid(y, x), rtol=1e-5)
    np.testing.assert_allclose(
        integrate.trapezoid(y, dx=0.5, axis=0), scipy.integrate.trapezoid(y, dx=0.5, axis=0), rtol=1e-5
    )
    np.testing.assert_allclose(pc.grad(lambda y: integrate.trapezoid(y))(y[0]), [0.5, 1, 1, 1, 0.5])
