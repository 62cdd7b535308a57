"""`out_sharding` of all functions that take it: the result is divided accordingly, traced and not."""

import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, nn, random

MESH = auto_mesh((4, 2), ("x", "y"))
KEY = random.PRNGKey(0)
A = np.arange(32, dtype=np.float32).reshape(4, 8)
IMAGE = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
# Functions of matrices whose dimensions 4 divides.
FUNCTIONS = {
    "array": lambda **s: pnp.array(A, **s),
    "asarray": lambda **s: pnp.asarray(A, **s),
    "zeros": lambda **s: pnp.zeros((4, 8), **s),
    "ones": lambda **s: pnp.ones((4, 8), **s),
    "empty": lambda **s: pnp.empty((4, 8), **s),
    "full": lambda **s: pnp.full((4, 8), 3.0, **s),
    "full of an array": lambda **s: pnp.full((4, 8), np.arange(8, dtype=np.float32), **s),
    "zeros_like": lambda **s: pnp.zeros_like(A, **s),
    "ones_like": lambda **s: pnp.ones_like(A, **s),
    "full_like": lambda **s: pnp.full_like(A, 2, **s),
    "broadcast_to": lambda **s: pnp.broadcast_to(A[0], (4, 8), **s),
    "reshape": lambda **s: pnp.reshape(A, (8, 4), **s),
    "reshape method": lambda **s: pnp.asarray(A).reshape(8, 4, **s),
    "repeat": lambda **s: pnp.repeat(A, 2, axis=0, **s),
    "dot": lambda **s: pnp.dot(A, A.T, **s),
    "matmul": lambda **s: pnp.matmul(A, A.T, **s),
    "tensordot": lambda **s: pnp.tensordot(A, A.T, 1, **s),
    "linalg.tensordot": lambda **s: pnp.linalg.tensordot(A, A.T, axes=1, **s),
    "einsum": lambda **s: pnp.einsum("ij,kj->ik", A, A, **s),
    "percentile": lambda **s: pnp.percentile(A[None], 30, axis=0, **s),
    "lax.broadcast": lambda **s: lax.broadcast(A[0], (4,), **s),
    "lax.broadcast_in_dim": lambda **s: lax.broadcast_in_dim(A[0], (4, 8), (1,), **s),
    "lax.broadcasted_iota": lambda **s: lax.broadcasted_iota(np.int32, (4, 8), 1, **s),
    "lax.dot": lambda **s: lax.dot(A, A.T, **s),
    "lax.dot_general": lambda **s: lax.dot_general(A, A, (((1,), (1,)), ((), ())), **s),
    "lax.empty": lambda **s: lax.empty((4, 8), np.float32, **s),
    "lax.reshape": lambda **s: lax.reshape(A, (8, 4), **s),
    "lax.reduce_sum": lambda **s: lax.reduce_sum(A[None], (0,), **s),
    "lax.reduce": lambda **s: lax.reduce(A[None], 0.0, lax.add, (0,), **s),
    "lax.ragged_dot": lambda **s: lax.ragged_dot(A, np.ones((2, 8, 4), np.float32), np.array([1, 3], np.int32), **s),
    "initializers.ones": lambda **s: nn.initializers.ones(KEY, (4, 8), **s),
    "initializers.zeros": lambda **s: nn.initializers.zeros(KEY, (4, 8), **s),
    "normal": lambda **s: random.normal(KEY, (4, 8), **s),
    "uniform": lambda **s: random.uniform(KEY, (4, 8), **s),
    "bits": lambda **s: random.bits(KEY, (4, 8), **s),
    "randint": lambda **s: random.randint(KEY, (4, 8), 0, 9, **s),
    "bernoulli": lambda **s: random.bernoulli(KEY, 0.5, (4, 8), **s),
    "gamma": lambda **s: random.gamma(KEY, 2.0, (4, 8), **s),
    "permutation": lambda **s: random.permutation(KEY, A, **s),
    "orthogonal": lambda **s: random.orthogonal(KEY, 4, **s),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_result_is_divided(name):
    function = FUNCTIONS[name]
    want = np.asarray(function())
    spec = pc.P("x", "y")
    sharding = pc.NamedSharding(MESH, spec)
    for make in (lambda: function(out_sharding=sharding), lambda: pc.jit(lambda: function(out_sharding=sharding))()):
        got = make()
        assert got.sharding.spec == spec
        assert len(got.addressable_shards) == 8
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)
    with pc.set_mesh(MESH):
        got = function(out_sharding=pc.P(None, "x"))
        assert got.sharding.spec == pc.P(None, "x")


def test_vectors():
    sharding = pc.NamedSharding(MESH, pc.P("x"))
    for make in (
        lambda: pnp.arange(8, out_sharding=sharding),
        lambda: pnp.ravel(A, out_sharding=sharding),
        lambda: pnp.asarray(A).flatten(out_sharding=sharding),
        lambda: pnp.bincount(np.arange(8, dtype=np.int32), out_sharding=sharding),
        lambda: lax.full((8,), 1.0, sharding=sharding),
        lambda: lax.full_like(np.ones(8), 1.0, sharding=sharding),
    ):
        for got in (make(), pc.jit(make)()):
            assert got.sharding.spec == pc.P("x")
            np.testing.assert_array_equal(np.asarray(got), np.asarray(make()))


def test_what_is_refused():
    with pytest.raises(TypeError, match="out_sharding is a sharding or a PartitionSpec"):
        pnp.zeros((4, 8), out_sharding="x")
    with pytest.raises(ValueError, match="no mesh"):
        pnp.zeros((4, 8), out_sharding=pc.P("x"))
    with pytest.raises(ValueError, match="divided evenly"):
        pnp.zeros((3, 8), out_sharding=pc.NamedSharding(MESH, pc.P("x")))
    image = lax.conv_general_dilated(IMAGE, np.ones((1, 1, 1, 1), np.float32), (1, 1), "VALID")
    divided = lax.conv_general_dilated(
        IMAGE,
        np.ones((1, 1, 1, 1), np.float32),
        (1, 1),
        "VALID",
        out_sharding=pc.NamedSharding(MESH, pc.P(None, None, "x")),
    )
    np.testing.assert_array_equal(np.asarray(divided), np.asarray(image))


def test_the_bits_of_a_generator_are_divided_and_its_state_is_not():
    state = np.array([1, 2, 3, 4], np.uint32)
    with pc.set_mesh(pc.make_mesh((8,), ("x",))):
        new, bits = pc.lax.rng_bit_generator(state, (8, 4), out_sharding=pc.P("x"))
        assert bits.sharding.spec == pc.P("x", None)
    wanted = pc.lax.rng_bit_generator(state, (8, 4))
    np.testing.assert_array_equal(new, wanted[0])
    np.testing.assert_array_equal(bits, wanted[1])
