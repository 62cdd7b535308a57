"""Arrays that share memory, and copies: each is donated and deleted separately, and others keep their elements."""

import copy
import warnings

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

COUNT = 4096
X = np.arange(1, COUNT + 1, dtype=np.float32)

doubled = pc.jit(lambda x: x * 2, donate_argnums=0)


def donated(x):
    """Donate x. Its memory is taken, or copied if other arrays share it, which is reported once for each place."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return doubled(x)


# In separate memory.
COPIES = {
    "array": pnp.array,
    "array of a dtype": lambda x: pnp.array(x, dtype=x.dtype),
    "copy=True": lambda x: pnp.array(x, copy=True),
    "asarray": lambda x: pnp.asarray(x, copy=True),
    "astype": lambda x: pnp.astype(x, x.dtype, copy=True),
    "method astype": lambda x: x.astype(x.dtype, copy=True),
    "copy": pnp.copy,
    "method": lambda x: x.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy of a tree": lambda x: copy.deepcopy({"w": [x]})["w"][0],
    "device_put": lambda x: pc.device_put(x, may_alias=False),
}
# Another array, possibly in the same memory.
OTHERS = {
    "jit": pc.jit(lambda x: x),
    "jit of a tree": lambda x: pc.jit(lambda t: t)({"a": [x]})["a"][0],
    "jit with another result": lambda x: pc.jit(lambda x: (x + 1, x))(x)[1],
    "nested jit": pc.jit(lambda x: pc.jit(lambda y: y)(x)),
    "jit of reshape": lambda x: pc.jit(lambda x: x.reshape(64, 64))(x).reshape(-1),
    "jit of copy": pc.jit(lambda x: x.copy()),
    "jit of a barrier": pc.jit(lax.optimization_barrier),
    "jit of vmap": pc.jit(pc.vmap(lambda x: x)),
    "jit of checkpoint": pc.jit(pc.checkpoint(lambda x: x)),
    "jit of scan": pc.jit(lambda x: lax.scan(lambda c, _: (c, None), x, None, length=3)[0]),
    "jit of cond": pc.jit(lambda x: lax.cond(x[0] > 0, lambda x: x, lambda x: x + 1, x)),
    "closed over": lambda x: pc.jit(lambda: x)(),
    "pos": lambda x: +x,
    "positive": pnp.positive,
    "barrier": lax.optimization_barrier,
    "real": pnp.real,
    "x.real": lambda x: x.real,
    "conj": pnp.conj,
    "ravel": pnp.ravel,
    "flatten": lambda x: x.flatten(),
    "squeeze": pnp.squeeze,
    "repeat": lambda x: pnp.repeat(x, 1),
    "tile": lambda x: pnp.tile(x, 1),
    "expand_dims": lambda x: pnp.expand_dims(x, ()),
    "pad": lambda x: pnp.pad(x, 0),
    "reshape": lambda x: x.reshape(64, 64).reshape(-1),
    "from_dlpack": pnp.from_dlpack,
    "device_put there": lambda x: pc.device_put(x, pc.devices()[0]),
    "device_put again": lambda x: pc.device_put(pc.device_put(x, pc.devices()[0]), pc.devices()[0]),
    "to_device": lambda x: x.to_device(pc.devices()[0]),
}


@pytest.mark.parametrize("name", [*COPIES, *OTHERS])
def test_what_is_donated_leaves_the_other_as_it_is(name):
    make = {**COPIES, **OTHERS}[name]
    x = pnp.asarray(X)
    other = make(x)
    assert other is not x
    np.testing.assert_array_equal(donated(other), X * 2)
    assert other.is_deleted() or name == "from_dlpack"
    assert not x.is_deleted()
    np.testing.assert_array_equal(x, X)
    other = make(x)
    np.testing.assert_array_equal(donated(x), X * 2)
    np.testing.assert_array_equal(other, X)
    other = make(y := pnp.asarray(X))
    other.delete()
    np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize("name", COPIES)
def test_copies_have_memory_of_their_own(name):
    x = pnp.asarray(X)
    before = x.unsafe_buffer_pointer()
    other = COPIES[name](x)
    assert other.unsafe_buffer_pointer() != before
    assert (other.aval, other.committed) == (x.aval, x.committed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = doubled(other)
    np.testing.assert_array_equal(result, X * 2)


def test_arrays_of_all_kinds_are_copied():
    for x in (
        pnp.asarray(3),
        pnp.zeros((0, 3)),
        pnp.arange(5, dtype="bfloat16"),
        pnp.asarray([True, False]),
        pnp.asarray([1j, 2.0]),
    ):
        other = x.copy()
        assert (other.dtype, other.shape, other.weak_type) == (x.dtype, x.shape, x.weak_type)
        np.testing.assert_array_equal(other, x)
    keys = pc.random.split(pc.random.key(0), 3)
    other = copy.deepcopy(keys)
    keys.delete()
    assert pc.random.uniform(other[1]) == pc.random.uniform(pc.random.split(pc.random.key(0), 3)[1])
    gone = pnp.ones(3)
    gone.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        gone.copy()


def test_a_copy_of_what_is_pending_does_not_wait():
    slow = pc.jit(lambda x: lax.fori_loop(0, 3000, lambda i, c: pnp.sin(c) + x, x))
    wanted = np.asarray(slow(pnp.asarray(X)))
    pending = slow(pnp.asarray(X))
    other = pending.copy()
    np.testing.assert_array_equal(donated(pending), wanted * 2)
    np.testing.assert_array_equal(other, wanted)


def test_traced_values_are_copied_in_the_program_alone():
    for function in (pnp.copy, pnp.array, copy.copy, copy.deepcopy, lambda x: x.copy(), lambda x: +x):
        assert pc.grad(lambda x, f=function: (f(x) ** 2).sum())(pnp.asarray([3.0])).tolist() == [6.0]
        np.testing.assert_array_equal(pc.vmap(function)(pnp.asarray(X)), X)
        np.testing.assert_array_equal(pc.jit(function)(pnp.asarray(X)), X)


def test_asarray_is_the_array_itself_as_in_jax():
    x = pnp.asarray(X)
    assert pnp.asarray(x) is x
    assert pnp.array(x, copy=False) is x


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x + 1, x + 1),
        lambda x: (y := x + 1, y),
        lambda x: {"a": (y := x + 1), "b": [y, y]},
        lambda x: (x, x),
        lambda x: (x.reshape(64, 64), x.reshape(64, 64)),
        lambda x: lax.scan(lambda c, _: ((c[0], c[0]), None), (x, x), None, length=2)[0],
    ],
)
def test_equal_results_are_different_arrays(function):
    jitted = pc.jit(function)
    x = pnp.asarray(X)
    wanted = [np.array(leaf) for leaf in pc.tree.leaves(jitted(x))]
    results = pc.tree.leaves(jitted(x))
    assert len(set(map(id, results))) == len(results)
    results[0].delete()
    for result, value in zip(results[1:], wanted[1:], strict=True):
        np.testing.assert_array_equal(result, value)
        donated(result.reshape(-1)[:].copy())
    np.testing.assert_array_equal(x, X)


def test_a_constant_is_the_compiled_function_s_own():
    c = pnp.asarray(X)
    returns, reads = pc.jit(lambda: c), pc.jit(lambda x: x + c)
    ones = pnp.ones(COUNT)
    result = returns()
    np.testing.assert_array_equal(reads(ones), X + 1)
    donated(result)
    np.testing.assert_array_equal(returns(), X)
    np.testing.assert_array_equal(c, X)
    donated(c)
    assert c.is_deleted()
    np.testing.assert_array_equal(returns(), X)
    np.testing.assert_array_equal(reads(ones), X + 1)


def test_results_of_other_transformations():
    for make in (
        lambda x: pc.vjp(lambda x: x * 1, x)[0],
        lambda x: pc.value_and_grad(lambda x: (x.sum(), x), has_aux=True)(x)[0][1],
        lambda x: lax.fori_loop(0, 0, lambda i, c: c + 1, x),
        lambda x: lax.while_loop(lambda c: c[0] < 0, lambda c: c + 1, x),
    ):
        x = pnp.asarray(X)
        other = make(x)
        if other is not x:
            donated(other)
            np.testing.assert_array_equal(x, X)


def test_arrays_of_several_devices_are_shared_and_copied_so_too():
    mesh = pc.make_mesh((1,), ("d",))
    sharding = pc.sharding.NamedSharding(mesh, pc.sharding.PartitionSpec("d"))
    for make in (
        pc.jit(lambda x: x),
        lambda x: +x,
        lambda x: x.copy(),
        copy.deepcopy,
        lambda x: pc.device_put(x, sharding),
    ):
        x = pc.device_put(X, sharding)
        other = make(x)
        assert other.sharding.is_equivalent_to(sharding, 1)
        if other is x:
            continue
        other.delete()
        np.testing.assert_array_equal(x, X)
        other = make(x)
        x.delete()
        np.testing.assert_array_equal(other, X)
