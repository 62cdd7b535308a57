"""Rotations in three dimensions, and interpolation between them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pycompiler.numpy as pnp
from pycompiler.core.tracing.boundary import with_boundary
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import check_arrays
from pycompiler.numpy.promotion import inexact
from pycompiler.random import normal
from pycompiler.scipy.spatial import quaternions

__all__ = ["Rotation", "Slerp"]

Array = Any


def _real(name: str, x: Any, *tail: int) -> Array:
    """x as an array of floats whose last axes have these sizes."""
    check_arrays(name, x)
    aval = get_aval(x)
    if aval.shape[len(aval.shape) - len(tail) :] != tail:
        raise ValueError(f"{name}: takes an array with the last axes {tail}, got {short(aval)}")
    if aval.dtype.kind == "c":
        raise TypeError(f"{name}: takes real numbers, got {short(aval)}")
    return pnp.asarray(x).astype(inexact(aval.dtype))


@with_boundary
class Rotation(NamedTuple):
    """A rotation, or several: a pytree of unit quaternions (x, y, z, w), f[4] or f[n, 4].

    `p * q` is the rotation q followed by p. `r[i]` and `len(r)` are for several rotations.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy.spatial.transform import Rotation
    >>> Rotation.from_euler("z", 90.0, degrees=True).apply(pnp.array([1.0, 0.0, 0.0])).round(3)
    Array([0., 1., 0.], dtype=float32)
    """

    quat: Array

    @classmethod
    def concatenate(cls, rotations: Sequence["Rotation"]) -> "Rotation":
        """The rotations of several objects, each with several, as one object."""
        return cls(pnp.concatenate([rotation.quat for rotation in rotations]))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> "Rotation":
        """From angles around axes, f[..., n] for n of 1 to 3 letters. 'xyz': fixed axes; 'XYZ': axes of the body."""
        axes, intrinsic = quaternions.axes_of("from_euler", seq, (1, 2, 3))
        angles = pnp.atleast_1d(_real("from_euler", angles))
        if angles.shape[-1] != len(axes):
            raise ValueError(f"from_euler: {seq!r} needs {len(axes)} angles in the last axis, got {short(angles)}")
        return cls(quaternions.from_euler(axes, intrinsic, pnp.deg2rad(angles) if degrees else angles))

    @classmethod
    def from_matrix(cls, matrix: Any) -> "Rotation":
        """From rotation matrices, f[..., 3, 3]."""
        return cls(quaternions.from_matrix(_real("from_matrix", matrix, 3, 3)))

    @classmethod
    def from_mrp(cls, mrp: Any) -> "Rotation":
        """From modified Rodrigues parameters, f[..., 3]: the axis, with the length tan(angle / 4)."""
        return cls(quaternions.from_mrp(_real("from_mrp", mrp, 3)))

    @classmethod
    def from_quat(cls, quat: Any) -> "Rotation":
        """From quaternions (x, y, z, w), f[..., 4]. They are normalized."""
        return cls(quaternions.normalized(_real("from_quat", quat, 4)))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> "Rotation":
        """From axes, f[..., 3], with the angles as their lengths."""
        rotvec = _real("from_rotvec", rotvec, 3)
        return cls(quaternions.from_rotvec(pnp.deg2rad(rotvec) if degrees else rotvec))

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> "Rotation":
        """The identity, or `num` identities."""
        quat = pnp.array([0.0, 0.0, 0.0, 1.0], dtype=dtype)
        return cls(quat if num is None else pnp.tile(quat, (num, 1)))

    @classmethod
    def random(cls, random_key: Any, num: int | None = None) -> "Rotation":
        """Rotations that are uniformly distributed, from a key of `random.key`."""
        quat = normal(random_key, (4,) if num is None else (num, 4))
        return cls(quaternions.normalized(quat))

    def __getitem__(self, indexer: Any) -> "Rotation":
        if self.single:
            raise TypeError("Rotation: a single rotation has no parts")
        return Rotation(self.quat[indexer])

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Rotation: a single rotation has no len()")
        return self.quat.shape[0]

    def __mul__(self, other: Any) -> "Rotation":
        if not isinstance(other, Rotation):
            raise TypeError(f"Rotation: a rotation is multiplied by a rotation, got {type(other).__name__}")
        return Rotation.from_quat(quaternions.product(self.quat, other.quat))

    def apply(self, vectors: Any, inverse: bool = False) -> Array:
        """The rotated vectors, f[..., 3]; several rotations and several vectors broadcast."""
        vectors = _real("apply", vectors, 3)
        matrix = self.as_matrix()
        return pnp.einsum("...ji,...j->...i" if inverse else "...ij,...j->...i", matrix, vectors)

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """Angles around three axes, f[..., 3]; `seq` as in `from_euler`."""
        axes, intrinsic = quaternions.axes_of("as_euler", seq, (3,))
        angles = quaternions.to_euler(axes, intrinsic, self.quat)
        return pnp.rad2deg(angles) if degrees else angles

    def as_matrix(self) -> Array:
        """f[..., 3, 3]."""
        return quaternions.to_matrix(self.quat)

    def as_mrp(self) -> Array:
        """Modified Rodrigues parameters, f[..., 3]."""
        return quaternions.to_mrp(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Array:
        """The axes, f[..., 3], with the angles as their lengths."""
        rotvec = quaternions.to_rotvec(self.quat)
        return pnp.rad2deg(rotvec) if degrees else rotvec

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """The quaternions (x, y, z, w), or (w, x, y, z). canonical: the quaternion with positive w, of the two of a
        rotation."""
        quat = quaternions.canonical(self.quat) if canonical else self.quat
        return pnp.roll(quat, 1, -1) if scalar_first else quat

    def inv(self) -> "Rotation":
        """The inverse rotations."""
        return Rotation(quaternions.inverse(self.quat))

    def magnitude(self) -> Array:
        """The angles, from 0 to pi."""
        return quaternions.magnitude(self.quat)

    def mean(self, weights: Any = None) -> "Rotation":
        """The mean of several rotations, by their chordal distance. weights: f[n]."""
        count = len(self)
        weights = pnp.ones(count, self.quat.dtype) if weights is None else pnp.asarray(weights, self.quat.dtype)
        if weights.shape != (count,):
            raise ValueError(f"mean: takes one weight for each of {count} rotations, got {short(weights)}")
        products = pnp.matmul((weights[:, None] * self.quat).T, self.quat)
        return Rotation(pnp.linalg.eigh(products)[1][:, -1])

    @property
    def single(self) -> bool:
        """Whether this is one rotation, not several."""
        return self.quat.ndim == 1


@with_boundary
class Slerp(NamedTuple):
    """Interpolation between rotations at given times, with a constant axis and speed between two times; a pytree.
    `Slerp.init` makes it.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy.spatial.transform import Rotation, Slerp
    >>> ends = Rotation.from_euler("z", pnp.array([[0.0], [90.0]]), degrees=True)
    >>> Slerp.init(pnp.array([0.0, 1.0]), ends)(0.5).as_rotvec(degrees=True).round(2)
    Array([ 0.,  0., 45.], dtype=float32)
    """

    times: Array
    timedelta: Array
    rotations: Rotation
    rotvecs: Array

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> "Slerp":
        """times: f[n], increasing, for n rotations; n is at least 2. ValueError for other shapes."""
        if not isinstance(rotations, Rotation):
            raise TypeError(f"Slerp: rotations must be a Rotation, got {type(rotations).__name__}")
        if rotations.single or len(rotations) == 1:
            raise ValueError("Slerp: needs two rotations")
        check_arrays("Slerp", times)
        times = pnp.asarray(times).astype(rotations.quat.dtype)
        if times.shape != (len(rotations),):
            raise ValueError(f"Slerp: takes one time for each of {len(rotations)} rotations, got {short(times)}")
        begin, end = Rotation(rotations.quat[:-1]), Rotation(rotations.quat[1:])
        return cls(times, pnp.diff(times), begin, (begin.inv() * end).as_rotvec())

    def __call__(self, times: Any) -> Rotation:
        """The rotation at a time, or those at a vector of times."""
        check_arrays("Slerp", times)
        times = pnp.asarray(times).astype(self.times.dtype)
        if times.ndim > 1:
            raise ValueError(f"Slerp: takes a time or a vector of times, got {short(times)}")
        several = pnp.atleast_1d(times)
        place = pnp.clip(pnp.searchsorted(self.times, several) - 1, 0, self.timedelta.shape[0] - 1)
        share = (several - self.times[place]) / self.timedelta[place]
        result = self.rotations[place] * Rotation.from_rotvec(self.rotvecs[place] * share[:, None])
        return result[0] if times.ndim == 0 else result


__getattr__ = nearest_name(__name__, __all__)
