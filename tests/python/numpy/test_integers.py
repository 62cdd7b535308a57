"""Whatever Python takes for an integer is a size, an axis, a count, a bound or a shift: NumPy's integers, ours."""

import enum

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import nn, random
from pycompiler.errors import ConcretizationTypeError
from pycompiler.scipy import linalg as slinalg
from pycompiler.scipy import signal, special

X = pnp.arange(24.0).reshape(4, 6)
V = pnp.arange(6)
KEY = random.PRNGKey(3)


def as_enum(n):
    return enum.IntEnum("Size", {"N": n}).N


KINDS = {
    "np.int64": np.int64,
    "np.uint8": lambda n: np.int64(n) if n < 0 else np.uint8(n),
    "NumPy array": np.asarray,
    "array": pnp.asarray,
    "array of int8": lambda n: pnp.asarray(n, pnp.int8),
    "enum": as_enum,
}
# A call for each function; `i` makes an integer of the kind that is tested.
CALLS = {
    "slice": lambda i: X[i(1) : i(3)],
    "slice by steps": lambda i: X[:: i(2), i(-1) : i(0) : i(-2)],
    "at a slice": lambda i: X.at[: i(2), i(1) :].set(0),
    "index": lambda i: X[i(1), i(-1)],
    "reshape": lambda i: pnp.reshape(X, (i(3), i(-1))),
    "reshape to one": lambda i: pnp.reshape(X, i(24)),
    "reshape method": lambda i: X.reshape(i(8), i(3)),
    "transpose": lambda i: pnp.transpose(X, (i(1), i(0))),
    "transpose method": lambda i: X.transpose(i(1), i(0)),
    "zeros": lambda i: pnp.zeros((i(2), i(3))),
    "ones": lambda i: pnp.ones(i(3)),
    "full": lambda i: pnp.full((i(2),), 7),
    "full_like": lambda i: pnp.full_like(X, 1, shape=(i(2),)),
    "empty": lambda i: pnp.empty((i(2), 1)).shape,
    "eye": lambda i: pnp.eye(i(3), i(4), k=i(1)),
    "identity": lambda i: pnp.identity(i(3)),
    "tri": lambda i: pnp.tri(i(3), i(4), i(1)),
    "tril": lambda i: pnp.tril(X, i(1)),
    "triu": lambda i: pnp.triu(X, k=i(-1)),
    "tril_indices": lambda i: pnp.tril_indices(i(3), i(1), i(4)),
    "triu_indices": lambda i: pnp.triu_indices(i(3), i(1), i(4)),
    "diag": lambda i: pnp.diag(V, i(1)),
    "diagflat": lambda i: pnp.diagflat(V, i(-1)),
    "diagonal": lambda i: pnp.diagonal(X, i(1), i(0), i(1)),
    "trace": lambda i: pnp.trace(X, i(1), i(0), i(1)),
    "diag_indices": lambda i: pnp.diag_indices(i(3), i(3)),
    "indices": lambda i: pnp.indices((i(2), i(3))),
    "arange": lambda i: pnp.arange(i(2), i(9), i(3), dtype="int32"),
    "linspace": lambda i: pnp.linspace(0, 1, i(5), axis=i(0)),
    "logspace": lambda i: pnp.logspace(0, 1, num=i(4)),
    "geomspace": lambda i: pnp.geomspace(1, 8, i(4)),
    "split": lambda i: pnp.split(X, i(2), i(0)),
    "split at": lambda i: pnp.split(X, (i(1), i(3)), axis=i(1)),
    "array_split": lambda i: pnp.array_split(X, i(3)),
    "vsplit": lambda i: pnp.vsplit(X, i(2)),
    "hsplit": lambda i: pnp.hsplit(X, (i(2), i(4))),
    "unstack": lambda i: pnp.unstack(X, axis=i(1)),
    "roll": lambda i: pnp.roll(X, i(2), i(1)),
    "roll both": lambda i: pnp.roll(X, (i(1), i(-2)), (i(0), i(1))),
    "rot90": lambda i: pnp.rot90(X, i(3), (i(0), i(1))),
    "flip": lambda i: pnp.flip(X, i(1)),
    "tile": lambda i: pnp.tile(V, (i(2), i(1))),
    "repeat": lambda i: pnp.repeat(V, i(2), axis=i(0), total_repeat_length=i(12)),
    "resize": lambda i: pnp.resize(V, (i(2), i(2))),
    "pad": lambda i: pnp.pad(V, (i(1), i(2))),
    "pad each": lambda i: pnp.pad(X, ((i(1), i(0)), (i(0), i(2)))),
    "moveaxis": lambda i: pnp.moveaxis(X, i(0), i(-1)),
    "rollaxis": lambda i: pnp.rollaxis(X, i(1), i(0)),
    "swapaxes": lambda i: pnp.swapaxes(X, i(0), i(1)),
    "expand_dims": lambda i: pnp.expand_dims(X, (i(0), i(2))),
    "squeeze": lambda i: pnp.squeeze(X[None], i(0)),
    "broadcast_to": lambda i: pnp.broadcast_to(V, (i(2), i(6))),
    "broadcast_shapes": lambda i: pnp.broadcast_shapes((i(2), i(1)), (i(1), i(3))),
    "concatenate": lambda i: pnp.concatenate([X, X], i(1)),
    "stack": lambda i: pnp.stack([V, V], axis=i(-1)),
    "sum": lambda i: pnp.sum(X, i(1)),
    "sum over both": lambda i: pnp.sum(X, axis=(i(0), i(1))),
    "mean method": lambda i: X.mean(axis=i(0)),
    "var": lambda i: pnp.var(X, i(1), ddof=i(1)),
    "max": lambda i: pnp.max(X, axis=i(-1)),
    "argmax": lambda i: pnp.argmax(X, i(1)),
    "cumsum": lambda i: pnp.cumsum(X, i(0)),
    "sort": lambda i: pnp.sort(X, i(0)),
    "argsort": lambda i: pnp.argsort(X, axis=i(0)),
    "partition": lambda i: pnp.partition(V, i(2), i(0)),
    "median": lambda i: pnp.median(X, i(0)),
    "quantile": lambda i: pnp.quantile(X, 0.5, i(1)),
    "average": lambda i: pnp.average(X, i(1)),
    "diff": lambda i: pnp.diff(X, i(2), i(1)),
    "gradient": lambda i: pnp.gradient(X, axis=i(0)),
    "trapezoid": lambda i: pnp.trapezoid(X, axis=i(0)),
    "take": lambda i: pnp.take(X, i(2), i(1)),
    "take_along_axis": lambda i: pnp.take_along_axis(X, pnp.argsort(X, 0), i(0)),
    "compress": lambda i: pnp.compress(np.array([True, False, True, True]), X, i(0)),
    "delete": lambda i: pnp.delete(V, i(2), i(0)),
    "insert": lambda i: pnp.insert(V, i(2), 9, i(0)),
    "append": lambda i: pnp.append(X, X, i(1)),
    "nonzero": lambda i: pnp.nonzero(V, size=i(4), fill_value=0),
    "bincount": lambda i: pnp.bincount(V, minlength=i(8), length=i(9)),
    "histogram": lambda i: pnp.histogram(X, i(3)),
    "histogram2d": lambda i: pnp.histogram2d(V, V, bins=i(2)),
    "unravel_index": lambda i: pnp.unravel_index(5, (i(2), i(3))),
    "ravel_multi_index": lambda i: pnp.ravel_multi_index((1, 2), (i(2), i(3))),
    "vander": lambda i: pnp.vander(V, i(3)),
    "hanning": lambda i: pnp.hanning(i(5)),
    "kaiser": lambda i: pnp.kaiser(i(5), 2.0),
    "tensordot": lambda i: pnp.tensordot(X, X, ((i(0), i(1)), (i(0), i(1)))),
    "tensordot of some": lambda i: pnp.tensordot(X, X.T, i(1)),
    "cross": lambda i: pnp.cross(X[:, :3], X[:, 3:], axis=i(1)),
    "polyint": lambda i: pnp.polyint(pnp.ones(3), i(2)),
    "polyder": lambda i: pnp.polyder(pnp.ones(5), m=i(2)),
    "polyfit": lambda i: pnp.polyfit(pnp.arange(6.0), pnp.arange(6.0) ** 2, i(2)),
    "round": lambda i: pnp.round(X / 7, i(2)),
    "round method": lambda i: round(X / 7, i(2)),
    "percentile": lambda i: pnp.percentile(X, 30, axis=i(0)),
    "apply_along_axis": lambda i: pnp.apply_along_axis(lambda row: row.sum(), i(1), X),
    "unwrap": lambda i: pnp.unwrap(X, axis=i(0)),
    "packbits": lambda i: pnp.packbits(X > 5, axis=i(1)),
    "unpackbits": lambda i: pnp.unpackbits(pnp.array([[3, 1]], pnp.uint8), axis=i(1), count=i(9)),
    "frombuffer": lambda i: pnp.frombuffer(b"abcdef", pnp.uint8, i(3), i(1)),
    "norm": lambda i: pnp.linalg.norm(X, axis=i(1)),
    "matrix_power": lambda i: pnp.linalg.matrix_power(pnp.eye(2) * 2, i(3)),
    "fft": lambda i: pnp.fft.fft(X, i(4), i(1)),
    "rfftn": lambda i: pnp.fft.rfftn(X, (i(4), i(4)), axes=(i(0), i(1))),
    "fftfreq": lambda i: pnp.fft.fftfreq(i(4)),
    "fftshift": lambda i: pnp.fft.fftshift(X, i(1)),
    "softmax": lambda i: nn.softmax(X, i(0)),
    "one_hot": lambda i: nn.one_hot(V, i(6), axis=i(0)),
    "initializers": lambda i: nn.initializers.orthogonal(column_axis=i(1))(KEY, (i(3), i(2))),
    "normal": lambda i: random.normal(KEY, (i(2), i(3))),
    "uniform of one": lambda i: random.uniform(KEY, i(3)),
    "randint": lambda i: random.randint(KEY, (i(3),), i(0), i(9)),
    "permutation": lambda i: random.permutation(KEY, i(5)),
    "choice": lambda i: random.choice(KEY, i(5), (i(3),)),
    "split keys": lambda i: random.split(KEY, i(3)),
    "logsumexp": lambda i: special.logsumexp(X, axis=i(1)),
    "multigammaln": lambda i: special.multigammaln(pnp.ones(2) * 4, i(2)),
    "toeplitz": lambda i: slinalg.hilbert(i(3)) if hasattr(slinalg, "hilbert") else slinalg.dft(i(3)),
    "welch": lambda i: signal.welch(pnp.arange(32.0), nperseg=i(8), noverlap=i(4)),
}


def same(one, other):
    one, other = pc.tree.leaves(one), pc.tree.leaves(other)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("name", CALLS)
def test_an_integer_is_an_integer(name):
    want = CALLS[name](int)
    for kind, make in KINDS.items():
        try:
            got = CALLS[name](make)
        except Exception as error:
            raise AssertionError(f"{name} of {kind}") from error
        same(got, want)


# A few of each kind, where arrays and tuples of sizes stand for all of them.
ARRAYS = {
    "reshape": (lambda sizes: pnp.reshape(X, sizes), (3, 8)),
    "zeros": (pnp.zeros, (2, 3)),
    "transpose": (lambda axes: pnp.transpose(X, axes), (1, 0)),
    "moveaxis": (lambda axes: pnp.moveaxis(X[None], axes, (0, 1)), (1, 2)),
    "sum": (lambda axes: pnp.sum(X, axes), (0, 1)),
    "split": (lambda places: pnp.split(X, places, 1), (1, 4)),
    "pad": (lambda width: pnp.pad(X, width), ((1, 2), (0, 1))),
    "tile": (lambda reps: pnp.tile(V, reps), (2, 2)),
    "roll": (lambda shifts: pnp.roll(X, shifts, (0, 1)), (1, 2)),
    "normal": (lambda shape: random.normal(KEY, shape), (2, 2)),
    "fftn": (lambda sizes: pnp.fft.fftn(X, sizes), (2, 3)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_integers_is_a_shape(name):
    function, sizes = ARRAYS[name]
    want = function(sizes)
    for make in (np.asarray, pnp.asarray, list, lambda s: np.asarray(s, np.int8)):
        same(function(make(sizes)), want)


def test_bools_are_0_and_1_where_numpy_takes_them():
    same(X[:True], X[:1])
    same(pnp.zeros((True, 2)), pnp.zeros((1, 2)))
    same(pnp.reshape(V, (True, 6)), pnp.reshape(V, (1, 6)))
    same(pnp.roll(V, True), pnp.roll(V, 1))


# Where a value may be traced.
TRACED = ("roll", "index", "trace", "take", "insert", "randint")


@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith(TRACED)])
def test_a_traced_size_is_an_error_that_says_what_to_do(name):
    """What decides a shape, or which axis is meant, is known while tracing."""

    def traced(n):
        return CALLS[name](lambda number: n + number)

    with pytest.raises((ConcretizationTypeError, IndexError), match="traced"):
        pc.jit(traced)(0)


# What may be a float in some place.
OF_FLOATS = ("arange", "average", "randint", "trapezoid", "eye", "tri", "trace", "repeat", "insert", "take", "welch")


@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith(OF_FLOATS)])
def test_a_float_is_refused(name):
    with pytest.raises((TypeError, ValueError)):
        CALLS[name](lambda n: n + 0.5)


def test_what_is_no_integer_is_refused():
    for bad in (1.5, np.float32(2), pnp.asarray(2.0), "2", pnp.asarray([1, 2])):
        with pytest.raises(TypeError):
            X[:bad]
        with pytest.raises(TypeError):
            pnp.sum(X, axis=bad if not isinstance(bad, pc.Array) or bad.ndim == 0 else 1.5)
    for call in (lambda n: pnp.zeros((n,)), lambda n: pnp.reshape(X, n), lambda n: pnp.linspace(0, 1, n)):
        for bad in (1.5, np.float32(2), pnp.asarray(2.0), "2"):
            with pytest.raises(TypeError):
                call(bad)
