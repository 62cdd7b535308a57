"""Rotations and interpolation on grids against SciPy's values."""

import jax.scipy.interpolate
import jax.scipy.spatial.transform
import numpy as np
import pytest
import scipy.interpolate
from scipy.spatial import transform as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import random
from pycompiler.core.config.config import enable_x64
from pycompiler.scipy.interpolate import RegularGridInterpolator
from pycompiler.scipy.spatial.transform import Rotation, Slerp

rng = np.random.default_rng(0)
QUATS = np.concatenate([rng.normal(size=(6, 4)), [[0, 0, 0, 1], [1, 0, 0, 0], [0, 0.6, 0.8, 0], [1e-5, 0, 0, -1]]])
VECTORS = rng.normal(size=(len(QUATS), 3))


@pytest.fixture(autouse=True)
def _wide():
    with enable_x64(True):
        yield


def pair():
    return Rotation.from_quat(QUATS), theirs.Rotation.from_quat(QUATS)


def test_forms():
    ours, other = pair()
    for name in ("as_quat", "as_matrix", "magnitude", "as_mrp", "as_rotvec"):
        for x, y in ((ours, other), (ours.inv(), other.inv()), (ours[2], other[2])):
            got, want = getattr(x, name)(), getattr(y, name)()
            half_turn = np.abs(np.asarray(y.magnitude()) - np.pi) < 1e-9
            if name in ("as_rotvec", "as_mrp") and np.ndim(half_turn):
                got, want = got[~half_turn], want[~half_turn]  # two vectors are right
            np.testing.assert_allclose(got, want, atol=1e-12)
    np.testing.assert_allclose(ours.as_quat(canonical=True), other.as_quat(canonical=True), atol=1e-12)
    np.testing.assert_allclose(ours.as_quat(scalar_first=True), np.roll(other.as_quat(), 1, -1), atol=1e-12)
    np.testing.assert_allclose(ours[:6].as_rotvec(degrees=True), other[:6].as_rotvec(degrees=True), atol=1e-9)


@pytest.mark.parametrize("form", ["matrix", "mrp", "rotvec"])
def test_from_forms(form):
    _, other = pair()
    given = getattr(other, f"as_{form}")()
    made = getattr(Rotation, f"from_{form}")(given)
    np.testing.assert_allclose(made.as_matrix(), other.as_matrix(), atol=1e-12)
    one = pc.jit(getattr(Rotation, f"from_{form}"))(given[0])
    np.testing.assert_allclose(one.as_matrix(), other[0].as_matrix(), atol=1e-12)


@pytest.mark.parametrize("seq", ["xyz", "XYZ", "zyx", "ZXZ", "zxz", "YXZ", "xzx"])
def test_euler_angles(seq):
    ours, other = pair()
    got, want = ours[:6].as_euler(seq), other[:6].as_euler(seq)
    np.testing.assert_allclose(got, want, atol=1e-9)
    np.testing.assert_allclose(ours.as_euler(seq, degrees=True)[:6], np.rad2deg(want), atol=1e-7)
    made = Rotation.from_euler(seq, want)
    np.testing.assert_allclose(made.as_matrix(), other[:6].as_matrix(), atol=1e-12)
    # Angles of which only a sum is determined.
    locked = Rotation.from_euler(seq, np.array([0.3, 0.0 if seq[0] == seq[2] else np.pi / 2, 0.4]))
    again = Rotation.from_euler(seq, locked.as_euler(seq))
    np.testing.assert_allclose(again.as_matrix(), locked.as_matrix(), atol=1e-7)
    for part, angles in ((seq[:1], 0.5), (seq[:2], [0.5, 0.25])):
        got, want = Rotation.from_euler(part, np.array(angles)), theirs.Rotation.from_euler(part, angles)
        np.testing.assert_allclose(got.as_matrix().reshape(3, 3), want.as_matrix().reshape(3, 3), atol=1e-12)


def test_operations():
    ours, other = pair()
    np.testing.assert_allclose((ours * ours[::-1]).as_matrix(), (other * other[::-1]).as_matrix(), atol=1e-12)
    for inverse in (False, True):
        np.testing.assert_allclose(ours.apply(VECTORS, inverse), other.apply(VECTORS, inverse), atol=1e-12)
        np.testing.assert_allclose(ours[0].apply(VECTORS, inverse), other[0].apply(VECTORS, inverse), atol=1e-12)
    weights = rng.uniform(size=len(QUATS))
    np.testing.assert_allclose(ours.mean(weights).as_matrix(), other.mean(weights).as_matrix(), atol=1e-9)
    np.testing.assert_allclose(ours.mean().as_matrix(), other.mean().as_matrix(), atol=1e-9)
    joined = Rotation.concatenate([ours[:2], ours[4:]])
    assert (len(joined), joined.single, ours[0].single) == (len(QUATS) - 2, False, True)
    np.testing.assert_array_equal(Rotation.identity().as_matrix(), np.eye(3))
    assert Rotation.identity(3).as_quat().shape == (3, 4)
    drawn = Rotation.random(random.key(0), 1000)
    np.testing.assert_allclose(pnp.linalg.det(drawn.as_matrix()), 1, atol=1e-5)
    assert np.abs(drawn.as_matrix().mean(0)).max() < 0.1


def test_derivatives_and_batches():
    slope = pc.jacfwd(lambda v: Rotation.from_rotvec(v).as_rotvec())
    for vector in (np.zeros(3), np.array([0.3, -0.2, 0.1]), np.array([1e-4, 0, 0])):
        np.testing.assert_allclose(slope(vector), np.eye(3), atol=1e-9)
    got = pc.vmap(lambda r, v: r.apply(v))(pair()[0], VECTORS)
    np.testing.assert_allclose(got, pair()[1].apply(VECTORS), atol=1e-12)


def test_slerp():
    ours, other = pair()
    times = np.cumsum(rng.uniform(0.5, 1, 6))
    got, want = Slerp.init(times, ours[:6]), theirs.Slerp(times, other[:6])
    at = np.concatenate([times, np.linspace(times[0], times[-1], 9)])
    np.testing.assert_allclose(got(at).as_matrix(), want(at).as_matrix(), atol=1e-9)
    np.testing.assert_allclose(pc.jit(lambda s, t: s(t))(got, at[7]).as_matrix(), want(at[7]).as_matrix(), atol=1e-9)
    with pytest.raises(ValueError, match=r"Slerp: takes one time for each of 6 rotations"):
        Slerp.init(times[:5], ours[:6])
    with pytest.raises(ValueError, match="Slerp: needs two rotations"):
        Slerp.init(times[:1], ours[:1])


def test_errors_of_rotations():
    for wrong in ("xXy", "abc", "", "xyzx"):
        with pytest.raises(ValueError, match="from_euler: the axes are 1 to 3 letters"):
            Rotation.from_euler(wrong, np.zeros(3))
    with pytest.raises(ValueError, match="as_euler: consecutive axes must differ, got 'xxy'"):
        pair()[0].as_euler("xxy")
    with pytest.raises(ValueError, match=r"from_quat: takes an array with the last axes \(4,\), got f64\[3\]"):
        Rotation.from_quat(np.zeros(3))
    with pytest.raises(TypeError, match="a single rotation has no len"):
        len(pair()[0][0])
    with pytest.raises(TypeError, match="a single rotation has no parts"):
        pair()[0][0][0]
    ours, other = (vars(m) for m in (Rotation, jax.scipy.spatial.transform.Rotation))
    assert {name for name in other if name[0] != "_"} <= set(ours)


GRID = [np.array([0, 1, 3.5]), np.array([-1, 0, 0.5, 2])]
VALUES = rng.normal(size=(3, 4, 2))
PLACES = rng.uniform(-2, 4, (5, 7, 2))


@pytest.mark.parametrize("fill", [np.nan, 7.0, None])
@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_grids(method, fill):
    ours = RegularGridInterpolator(GRID, VALUES, method, fill_value=fill)
    other = scipy.interpolate.RegularGridInterpolator(GRID, VALUES, method, bounds_error=False, fill_value=fill)
    np.testing.assert_allclose(ours(PLACES), other(PLACES), atol=1e-12)
    corners = np.array([[0, -1], [3.5, 2], [1, 0.5], [0.5, 0.25]])
    np.testing.assert_allclose(ours(corners), other(corners), atol=1e-12)
    np.testing.assert_allclose(ours((PLACES[..., 0], 0.25)), other((PLACES[..., 0], 0.25)), atol=1e-12)
    np.testing.assert_allclose(pc.jit(lambda f, x: f(x, "linear"))(ours, PLACES), other(PLACES, "linear"), atol=1e-12)
    line = RegularGridInterpolator(GRID[:1], VALUES[:, 0, 0], method, fill_value=fill)
    want = scipy.interpolate.RegularGridInterpolator(GRID[:1], VALUES[:, 0, 0], method, False, fill)
    np.testing.assert_allclose(line(PLACES[0, :, 0]), want(PLACES[0, :, 0]), atol=1e-12)


def test_derivatives_and_errors_of_grids():
    plane = RegularGridInterpolator(GRID, 2 * GRID[0][:, None] + 3 * GRID[1])
    np.testing.assert_allclose(pc.grad(lambda x: plane(x)[0])(np.array([0.7, 0.2])), [2, 3], atol=1e-12)
    np.testing.assert_allclose(pc.vmap(plane)(np.array([[0.7, 0.2], [2, 1]]))[:, 0], [2, 7], atol=1e-12)
    with pytest.raises(ValueError, match="method is 'linear' or 'nearest', got 'cubic'"):
        RegularGridInterpolator(GRID, VALUES, "cubic")
    with pytest.raises(ValueError, match=r"the points of axis 1 must be a vector of 4, got f64\[3\]"):
        RegularGridInterpolator([GRID[0], GRID[0]], VALUES)
    with pytest.raises(ValueError, match=r"the places must have 2 coordinates in the last axis"):
        plane(np.zeros((4, 3)))
    with pytest.raises(NotImplementedError, match="bounds_error must be False"):
        RegularGridInterpolator(GRID, VALUES, bounds_error=True)
    with pytest.raises(ValueError, match="fill_value must be None or real"):
        RegularGridInterpolator(GRID, VALUES, fill_value=1j)
