"""Rules of operations with graphs where nothing varies, where values are shared, and where a rule must refuse."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import kernel, lax
from pycompiler.sharding import PartitionSpec as P

X = np.array([1.5, 2.0, 4.0], np.float32)
T = np.array([1.0, -2.0, 3.0], np.float32)


@pc.custom_batching.custom_vmap
def rounded(x):
    return pnp.round(x).astype(pnp.int32)


@rounded.def_vmap
def _(size, mapped, x):
    return rounded(x), True


@pc.custom_vjp
def counted(x):
    return (2 * x).astype(pnp.int32)


counted.defvjp(lambda x: (counted(x), None), lambda _, ct: (pnp.zeros(3),))


def solved(x):
    return lax.custom_linear_solve(
        lambda y: lax.stop_gradient(x) * y, pnp.ones(3), lambda _, b: b / lax.stop_gradient(x), symmetric=True
    )


def divided(x):
    mesh = pc.make_mesh((1,), ("x",))
    return pc.shard_map(lambda x: lax.stop_gradient(2 * x), mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


# name -> (a function whose result does not vary with its argument, the result)
CONSTANT = {
    "checkpoint": (pc.checkpoint(lambda x: lax.stop_gradient(2 * x)), 2 * X),
    "jit": (pc.jit(lambda x: lax.stop_gradient(2 * x)), 2 * X),
    "cond": (lambda x: lax.cond(x[0] > 0, lambda x: lax.stop_gradient(x), lambda x: pnp.zeros(3), x), X),
    "scan": (lambda x: lax.scan(lambda c, y: (c, lax.stop_gradient(y) + c), 1.0, x)[1], X + 1),
    "custom_vmap": (rounded, np.array([2, 2, 4], np.int32)),
    "custom_vjp": (counted, np.array([3, 4, 8], np.int32)),
    "custom_linear_solve": (solved, 1 / X),
    "shard_map": (divided, 2 * X),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_a_result_that_does_not_vary_has_no_derivative(name):
    function, expected = CONSTANT[name]

    def total(x):
        return (function(x) * x).sum()

    for form in (total, pc.jit(total)):
        out, tangent = pc.jvp(form, (X,), (T,))
        np.testing.assert_allclose(out, (expected * X).sum(), rtol=1e-6)
        np.testing.assert_allclose(tangent, (expected * T).sum(), rtol=1e-6)
        np.testing.assert_allclose(pc.grad(form)(X), expected, rtol=1e-6)
    tangents = pc.jvp(lambda x: (function(x), x), (X,), (T,))[1]
    assert not np.asarray(tangents[0]).astype(bool).any()
    np.testing.assert_array_equal(tangents[1], T)


def test_a_branch_without_the_linear_operand_has_a_zero_cotangent():
    def chosen(x):
        return lax.cond(pnp.asarray(True), lambda x: pnp.zeros(3), lambda x: pnp.zeros(3), x)

    np.testing.assert_array_equal(pc.linear_transpose(chosen, X)(T)[0], np.zeros(3))


def test_mapped_branches_are_transposed_for_their_members():
    takes = np.array([True, False, True])

    def chosen(x):
        return pc.vmap(
            lambda p, x: lax.cond(
                p, lambda x: lax.scan(lambda c, y: (c / 2 + y, c), x, np.zeros(2))[0], lambda x: 3 * x, x
            )
        )(takes, x)

    np.testing.assert_allclose(chosen(X), np.where(takes, X / 4, 3 * X))
    np.testing.assert_allclose(pc.linear_transpose(chosen, X)(T)[0], np.where(takes, T / 4, 3 * T))


# Kernels


def test_a_kernel_reads_a_mapped_value_from_outside():
    def scaled(x, factor, first):
        def body(x, o):
            o[...] = x[...] * factor[0] + factor[1]

        # The blocks begin at a mapped place.
        spec = kernel.BlockSpec((kernel.Element(2),), lambda i: 2 * i + first)
        call = kernel.kernel_call(
            body,
            pc.ShapeDtypeStruct((4,), "float32"),
            grid=(2,),
            in_specs=[spec],
            out_specs=kernel.BlockSpec((2,), lambda i: i),
        )
        return call(x)

    x, factors = np.arange(6, dtype=np.float32), np.array([[2, 1], [3, 5], [4, 0]], np.float32)
    first = np.array([0, 1, 2], np.int32)
    found = pc.vmap(scaled, (None, 0, 0))(x, factors, first)
    np.testing.assert_array_equal(found, [x[f : f + 4] * a + b for (a, b), f in zip(factors, first, strict=True)])


def test_a_kernel_is_not_mapped_over_a_symbolic_size():
    call = kernel.kernel_call(lambda x, o: o.set(2 * x[...]), pc.ShapeDtypeStruct((4,), "float32"))
    with pytest.raises(
        NotImplementedError, match=r"^kernel_call: vmap over an axis of the symbolic size n, and a grid"
    ):
        pc.jit(lambda x: pc.vmap(call)(x), dynamic={"x": ("n", None)})(np.zeros((3, 4), np.float32))


# Mapped axes that a rule refuses


def test_a_mapped_axis_of_devices_is_divided_evenly():
    mesh = pc.make_mesh((1,), ("x",))
    mapped = pc.vmap(pc.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P(), out_specs=P()), spmd_axis_name="x")
    np.testing.assert_array_equal(mapped(np.ones((3, 2), np.float32)), np.full((3, 2), 2))


def test_a_condition_can_read_a_reference_alone():
    ref = pc.new_ref(pnp.int32(0))

    def condition(x):
        ref[...] = x
        return x < 3

    with pytest.raises(
        TypeError, match=r"while_loop: cond_fun writes a reference of type .*, but a condition can only read"
    ):
        lax.while_loop(condition, lambda x: x + 1, pnp.int32(0))


def test_a_moved_value_is_moved_for_all_members():
    moved = pc.vmap(lambda x: pc.device_put(2 * x, pc.devices()[0]) + 1)(X)
    np.testing.assert_array_equal(moved, 2 * X + 1)
    np.testing.assert_array_equal(pc.vmap(pc.grad(lambda x: pc.device_put(x * x, pc.devices()[0])))(X), 2 * X)
