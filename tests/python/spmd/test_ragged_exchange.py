"""`ragged_all_to_all` over devices and over a mapped axis, beside slices that NumPy moves."""

import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.errors import ArgumentError
from pycompiler.sharding import PartitionSpec as P

DEVICES = 4
rng = np.random.default_rng(0)


def plan(members, per_member, rows, space):
    """Offsets and sizes of slices that fit: what members send is cut at random, and arrives one after the other."""
    count = members * per_member
    cuts = np.sort(rng.integers(0, rows + 1, (members, count - 1)), 1)
    starts = np.concatenate([np.zeros((members, 1), int), cuts], 1)
    sizes = np.diff(np.concatenate([starts, np.full((members, 1), rows)], 1))
    sizes = np.minimum(sizes, space // count)
    # arriving[to, from, i] is what `to` gets, in this order.
    arriving = sizes.reshape(members, members, per_member).transpose(1, 0, 2).reshape(members, count)
    places = np.cumsum(arriving, 1) - arriving
    offsets = places.reshape(members, members, per_member).transpose(1, 0, 2).reshape(members, count)
    return [x.astype(np.int32) for x in (starts, sizes, offsets, arriving)]


def expected(operand, output, starts, sizes, offsets, arriving):
    result = output.copy()
    members, count = starts.shape
    for sender in range(members):
        for i in range(count):
            to, size = i // (count // members), sizes[sender, i]
            part = operand[sender, starts[sender, i] : starts[sender, i] + size]
            result[to, offsets[sender, i] : offsets[sender, i] + size] = part
    return result


def exchange(*args, **groups):
    return lax.ragged_all_to_all(*args, axis_name="x", **groups)


def over_devices(*args):
    """The same with one member on each device."""

    def member(*parts):
        return exchange(*[part[0] for part in parts])[None]

    return pc.jit(pc.shard_map(member, mesh=auto_mesh((4,), ("x",)), in_specs=(P("x"),) * 6, out_specs=P("x")))(*args)


@pytest.mark.parametrize("way", [over_devices, pc.vmap(exchange, axis_name="x")], ids=["devices", "vmap"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64"])
@pytest.mark.parametrize("per_member", [1, 3])
def test_slices_go_to_their_places(way, dtype, per_member):
    where = plan(4, per_member, 10, 30)
    operand = (rng.standard_normal((4, 10, 2)) * 9).astype(dtype)
    output = (rng.standard_normal((4, 30, 2)) * 9).astype(dtype)
    np.testing.assert_array_equal(way(operand, output, *where), expected(operand, output, *where))


@pytest.mark.parametrize("way", [over_devices, pc.vmap(exchange, axis_name="x")], ids=["devices", "vmap"])
def test_the_derivative_sends_cotangents_back(way):
    where = plan(4, 2, 10, 30)
    operand, output = rng.standard_normal((4, 10), np.float32), rng.standard_normal((4, 30), np.float32)
    ct = rng.standard_normal((4, 30), np.float32)
    _, pull = pc.vjp(lambda a, b: way(a, b, *where), operand, output)
    by_operand, by_output = pull(ct)
    # Of a linear function: the product with any tangent is that of the result.
    tangents = rng.standard_normal((4, 10), np.float32), rng.standard_normal((4, 30), np.float32)
    left = (np.asarray(by_operand) * tangents[0]).sum() + (np.asarray(by_output) * tangents[1]).sum()
    np.testing.assert_allclose(left, (ct * expected(*tangents, *where)).sum(), rtol=1e-4)
    written = expected(np.ones((4, 10)), np.zeros((4, 30)), *where) == 1
    np.testing.assert_array_equal(by_output, np.where(written, 0, ct))
    _, tangent = pc.jvp(lambda a, b: way(a, b, *where), (operand, output), tangents)
    np.testing.assert_allclose(tangent, expected(*tangents, *where))


def test_groups_and_batches():
    where = plan(2, 2, 6, 20)
    operand, output = rng.standard_normal((2, 6), np.float32), rng.standard_normal((2, 20), np.float32)
    want = expected(operand, output, *where)
    twice = [np.concatenate([x, x]) for x in (operand, output, *where)]
    grouped = pc.vmap(lambda *args: exchange(*args, axis_index_groups=[[0, 1], [2, 3]]), axis_name="x")
    np.testing.assert_array_equal(grouped(*twice), np.concatenate([want, want]))
    batched = pc.vmap(lambda a, b: pc.vmap(exchange, axis_name="x")(a, b, *where))
    np.testing.assert_array_equal(
        batched(np.stack([operand, -operand]), np.stack([output, -output])), np.stack([want, -want])
    )


def test_the_last_of_overlapping_slices_counts():
    one = [np.array([x], np.int32) for x in ([0, 1], [2, 2], [0, 1], [2, 2])]
    found = pc.vmap(exchange, axis_name="x")(pnp.array([[1, 2, 3]]), pnp.zeros((1, 4), int), *one)
    np.testing.assert_array_equal(found, [[1, 2, 3, 0]])


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({2: np.zeros((2, 3), np.int32)}, "vectors of integers of one length, got input_offsets i32"),
        ({3: np.zeros((2, 4), np.float32)}, "vectors of integers of one length"),
        ({0: np.zeros((2, 5, 2), np.float32)}, "equal dimensions after the first"),
        ({1: np.zeros((2, 5), np.float16)}, "arrays of one dtype"),
        (dict.fromkeys(range(2, 6), np.zeros((2, 3), np.int32)), "3 slices, expected a multiple of the 2 members"),
        (dict.fromkeys(range(2, 6), np.zeros((2, 0), np.int32)), "expected one slice or more"),
    ],
)
def test_what_does_not_fit(changed, text):
    args = [np.zeros((2, 5), np.float32)] * 2 + [np.zeros((2, 4), np.int32)] * 4
    for place, value in changed.items():
        args[place] = value
    with pytest.raises(ArgumentError, match=text):
        pc.vmap(exchange, axis_name="x")(*args)
    with pytest.raises(NameError, match="y"):
        lax.ragged_all_to_all(
            *[x[0] for x in [np.zeros((2, 5), np.float32)] * 2], *[np.zeros(4, np.int32)] * 4, axis_name="y"
        )
