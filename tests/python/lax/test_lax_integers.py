"""Whatever Python takes for an integer is a bound, a window, a dimension of lax; a traced one is an error."""

import enum

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.errors import ConcretizationTypeError

X = pnp.arange(24.0).reshape(4, 6)
V = pnp.arange(6)
IMAGE = pnp.arange(32.0).reshape(1, 2, 4, 4)
KERNEL = pnp.ones((2, 2, 2, 2))


def as_enum(n):
    return enum.IntEnum("Size", {"N": n}).N


KINDS = {"np.int64": np.int64, "NumPy array": np.asarray, "array": pnp.asarray, "enum": as_enum}
CALLS = {
    "slice": lambda i: lax.slice(X, (i(1), i(0)), (i(3), i(6)), (i(1), i(2))),
    "slice_in_dim": lambda i: lax.slice_in_dim(X, i(1), i(5), i(2), i(1)),
    "index_in_dim": lambda i: lax.index_in_dim(X, i(1), i(1), False),
    "dynamic_slice": lambda i: lax.dynamic_slice(X, (1, 2), (i(2), i(3))),
    "dynamic_slice_in_dim": lambda i: lax.dynamic_slice_in_dim(X, 1, i(2), axis=i(1)),
    "dynamic_index_in_dim": lambda i: lax.dynamic_index_in_dim(X, 1, i(1)),
    "dynamic_update_slice_in_dim": lambda i: lax.dynamic_update_slice_in_dim(X, X[:1], 2, i(0)),
    "dynamic_update_index_in_dim": lambda i: lax.dynamic_update_index_in_dim(X, X[0], 2, i(0)),
    "reshape": lambda i: lax.reshape(X, (i(8), i(3)), (i(1), i(0))),
    "broadcast": lambda i: lax.broadcast(V, (i(2),)),
    "broadcast_in_dim": lambda i: lax.broadcast_in_dim(V, (i(2), i(6)), (i(1),)),
    "broadcast_to_rank": lambda i: lax.broadcast_to_rank(V, i(3)),
    "broadcasted_iota": lambda i: lax.broadcasted_iota(int, (i(2), i(3)), i(1)),
    "iota": lambda i: lax.iota(int, i(3)),
    "full": lambda i: lax.full((i(2), i(3)), 1.0),
    "full_like": lambda i: lax.full_like(X, 1, shape=(i(2),)),
    "transpose": lambda i: lax.transpose(X, (i(1), i(0))),
    "squeeze": lambda i: lax.squeeze(X[None], (i(0),)),
    "expand_dims": lambda i: lax.expand_dims(X, (i(1),)),
    "rev": lambda i: lax.rev(X, (i(1),)),
    "collapse": lambda i: lax.collapse(X, i(0), i(2)),
    "concatenate": lambda i: lax.concatenate([X, X], i(1)),
    "pad": lambda i: lax.pad(X, 0.0, ((i(1), i(0), i(0)), (i(0), i(2), i(1)))),
    "split": lambda i: lax.split(X, (i(1), i(3)), i(0)),
    "stack": lambda i: lax.stack([V, V], i(1)),
    "tile": lambda i: lax.tile(V, (i(2),)),
    "reduce_sum": lambda i: lax.reduce_sum(X, (i(1),)),
    "reduce_max": lambda i: lax.reduce_max(X, (i(0), i(1))),
    "reduce": lambda i: lax.reduce(X, 0.0, lax.add, (i(1),)),
    "argmax": lambda i: lax.argmax(X, i(1), int),
    "sort": lambda i: lax.sort(X, i(0)),
    "sort several": lambda i: lax.sort((X, X), dimension=i(1), num_keys=i(2)),
    "sort_key_val": lambda i: lax.sort_key_val(X, X, i(1)),
    "top_k": lambda i: lax.top_k(V, i(2)),
    "approx_max_k": lambda i: lax.approx_max_k(X, i(2), reduction_dimension=i(1)),
    "cumsum": lambda i: lax.cumsum(X, i(1)),
    "cummax": lambda i: lax.cummax(X, axis=i(0)),
    "associative_scan": lambda i: lax.associative_scan(lax.add, X, axis=i(1)),
    "reduce_window": lambda i: lax.reduce_window(X, 0.0, lax.add, (i(2), i(2)), (i(1), i(2)), ((i(0), i(1)),) * 2),
    "conv_general_dilated": lambda i: lax.conv_general_dilated(
        IMAGE, KERNEL, (i(1), i(2)), ((i(1), i(0)),) * 2, (i(1), i(1)), (i(2), i(1)), feature_group_count=i(1)
    ),
    "conv": lambda i: lax.conv(IMAGE, KERNEL, (i(1), i(1)), "SAME"),
    "dot_general": lambda i: lax.dot_general(X, X, (((i(1),), (i(1),)), ((), ()))),
    "integer_pow": lambda i: lax.integer_pow(X, i(3)),
    "fft": lambda i: lax.fft(X + 0j, "FFT", (i(6),)),
    "reduce_precision": lambda i: lax.reduce_precision(X / 7, i(8), i(10)),
    "gather": lambda i: lax.gather(
        X,
        pnp.array([[1], [2]]),
        lax.GatherDimensionNumbers((i(1),), (i(0),), (i(0),)),
        (i(1), i(6)),
    ),
    "scatter": lambda i: lax.scatter(
        X, pnp.array([[1], [2]]), X[:2], lax.ScatterDimensionNumbers((i(1),), (i(0),), (i(0),))
    ),
    "map in batches": lambda i: lax.map(lambda row: row + 1, X, batch_size=i(2)),
    "scan of a length": lambda i: lax.scan(lambda c, _: (c + 1, c), 0, length=i(3)),
    "rng_bit_generator": lambda i: lax.rng_bit_generator(pnp.array([1, 2, 3, 4], pnp.uint32), (i(2), i(2)))[1],
}


def same(one, other):
    one, other = pc.tree.leaves(one), pc.tree.leaves(other)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
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


@pytest.mark.parametrize("name", CALLS)
def test_a_traced_one_is_an_error_that_says_what_to_do(name):
    with pytest.raises(ConcretizationTypeError, match="What to do"):
        pc.jit(lambda n: CALLS[name](lambda number: n + number))(0)


@pytest.mark.parametrize("make", [np.asarray, pnp.asarray, list])
def test_an_array_of_integers_is_a_shape(make):
    same(lax.slice(X, make([0, 1]), make([2, 3])), X[:2, 1:3])
    same(lax.reshape(X, make([8, 3])), X.reshape(8, 3))
    same(lax.dynamic_slice(X, (0, 0), make([2, 3])), X[:2, :3])
    same(lax.transpose(X, make([1, 0])), X.T)
    same(lax.pad(V, 0, make([[1, 0, 1]])), lax.pad(V, 0, [(1, 0, 1)]))
