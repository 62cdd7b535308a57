"""Rules of collectives inside the function for one member: derivatives there, and values that all members share.

Each function runs over a mapped axis and over four devices; the values are NumPy's on the arrays of all members.
"""

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import lax
from pycompiler.sharding import AxisType
from pycompiler.sharding import PartitionSpec as P

DEVICES = 4
RING = ((0, 1), (1, 2), (2, 3), (3, 0))
# Members 0 and 2 share the first maximum, members 1 and 3 the last minimum.
X = np.array([[3, 1, 2], [0, 5, -1], [3, 4, 7], [1, 2, -1]], np.float32)
T = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]], np.float32)


def over_devices(member):
    """A function of arrays with one row for each device, as vmap's."""
    mesh = pc.make_mesh((4,), ("i",), (AxisType.Auto,))

    def local(*rows):
        return member(*[row[0] for row in rows])[None]

    return pc.shard_map(local, mesh=mesh, in_specs=P("i"), out_specs=P("i"))


def over_mapped(member):
    return pc.vmap(member, axis_name="i")


WAYS = pytest.mark.parametrize("way", [over_mapped, over_devices])


@WAYS
@pytest.mark.parametrize("name", ["pmax", "pmin"])
def test_the_tangent_of_an_extremum_is_that_of_its_members(way, name):
    collective = getattr(lax, name)
    taken = (X.max(0) if name == "pmax" else X.min(0)) == X
    expected = (T * taken).sum(0) / taken.sum(0)
    found = way(lambda x, t: pc.jvp(lambda y: collective(y, "i"), (x,), (t,))[1])(X, T)
    np.testing.assert_allclose(found, np.stack([expected] * 4))
    # Backwards, from all members' results.
    outside = pc.grad(lambda x: (T * way(lambda x: collective(x, "i") + 0 * x)(x)).sum())(X)
    np.testing.assert_allclose(outside, taken / taken.sum(0) * T.sum(0), rtol=1e-6)


def test_the_tangent_of_an_extremum_in_groups():
    groups = [[0, 3], [2, 1]]
    found = pc.vmap(
        lambda x, t: pc.jvp(lambda y: lax.pmax(y, "i", axis_index_groups=groups), (x,), (t,))[1], axis_name="i"
    )(X[:, 0], T[:, 0])
    np.testing.assert_array_equal(found, [1, 7, 7, 1])


@WAYS
@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_the_cotangents_of_a_broadcast_return_to_its_source(way, shape):
    x, ct = (
        X[:, : shape[-1]].reshape(-1)[: np.prod(shape)].reshape(shape),
        T.reshape(-1)[: np.prod(shape)].reshape(shape),
    )
    expected = np.zeros(shape, np.float32)
    expected[2] = ct.sum(0)
    inside = way(lambda x, ct: pc.vjp(lambda y: lax.pbroadcast(y, "i", 2) + 0 * y, x)[1](ct)[0])
    np.testing.assert_allclose(inside(x, ct), expected)
    outside = pc.grad(lambda x: (ct * way(lambda x: lax.pbroadcast(x, "i", 2) + 0 * x)(x)).sum())
    np.testing.assert_allclose(outside(x), expected)


@WAYS
def test_the_cotangents_of_a_permutation_go_back(way):
    perm = ((0, 2), (2, 1))
    expected = np.zeros_like(T)
    for source, destination in perm:
        expected[source] = T[destination]
    inside = way(lambda x, ct: pc.vjp(lambda y: lax.ppermute(y, "i", perm), x)[1](ct)[0])
    np.testing.assert_array_equal(inside(X, T), expected)


# What all members share: vmap knows it, and the result needs no axis where it is the same for all, too.

SHARED = {
    "psum": (lambda c: lax.psum(c, "i"), 4 * X[0]),
    "psum in groups": (lambda c: lax.psum(c, "i", axis_index_groups=[[0, 3], [2, 1]]), 2 * X[0]),
    "pmax": (lambda c: lax.pmax(c, "i"), X[0]),
    "pmin in groups": (lambda c: lax.pmin(c, "i", axis_index_groups=[[0, 3], [2, 1]]), X[0]),
    "pbroadcast": (lambda c: lax.pbroadcast(c, "i", 3), X[0]),
    "ppermute to all": (lambda c: lax.ppermute(c, "i", RING), X[0]),
}


@pytest.mark.parametrize("name", SHARED)
def test_collectives_of_a_shared_value_are_shared(name):
    function, expected = SHARED[name]
    mapped = pc.vmap(lambda x, c: function(c), (0, None), None, axis_name="i")
    np.testing.assert_array_equal(mapped(np.zeros(4), X[0]), expected)
    graph = pc.jit(function)
    np.testing.assert_array_equal(pc.vmap(lambda x, c: graph(c), (0, None), None, axis_name="i")(X, X[0]), expected)


def test_a_member_without_a_sender_has_zeros_of_a_shared_value():
    found = pc.vmap(lambda x, c: lax.ppermute(c, "i", RING[:2]), (0, None), axis_name="i")(np.zeros(4), X[0])
    np.testing.assert_array_equal(found, np.array([0, 1, 1, 0])[:, None] * X[0])


def test_an_index_within_another_mapped_axis():
    def member(x):
        return 10 * lax.axis_index("i") + x

    expected = 10 * np.arange(4)[:, None] + np.arange(3)
    for form in (member, pc.jit(member), lambda x: lax.scan(lambda c, _: (c, member(x)), 0, None, length=1)[1][0]):
        inside = pc.vmap(pc.vmap(form, axis_name="j"), None, axis_name="i", axis_size=4)
        np.testing.assert_array_equal(inside(np.arange(3)), expected)
        around = pc.vmap(pc.vmap(form, None, axis_name="i", axis_size=4), out_axes=1, axis_name="j")
        np.testing.assert_array_equal(around(np.arange(3)), expected)


def test_groups_over_several_axes():
    """Of a mesh they are positions along all of the axes together; mapped axes have none, as in JAX."""
    calls = [
        lambda x, **given: lax.psum(x, ("i", "j"), **given),
        lambda x, **given: lax.all_gather(x, ("i", "j"), **given).sum(0),
        lambda x, **given: lax.psum_scatter(x, ("i", "j"), **given),
        lambda x, **given: lax.all_to_all(x, ("i", "j"), 0, 0, **given),
    ]
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    members = x.reshape(4, 2)
    sums = members + members[::-1]  # 0 and 3, 1 and 2
    places = [0, 0, 1, 1]  # in the groups
    exchanged = [members[group, place] for group, place in zip(([0, 3], [1, 2], [1, 2], [0, 3]), places, strict=True)]
    expected = [sums, sums, sums[range(4), places], np.stack(exchanged)]
    mesh = pc.make_mesh((2, 2), ("i", "j"), (AxisType.Auto,) * 2)
    for call, wanted in zip(calls, expected, strict=True):
        found = pc.shard_map(
            lambda x, call=call: call(x[0, 0], axis_index_groups=[[0, 3], [1, 2]])[None, None],
            mesh=mesh,
            in_specs=P("i", "j"),
            out_specs=P("i", "j"),
            check_vma=False,
        )(x)
        np.testing.assert_array_equal(found, wanted.reshape(2, 2, *wanted.shape[1:]))
    for call in calls:
        member = pc.vmap(lambda x, call=call: call(x, axis_index_groups=[[0, 3], [1, 2]]), axis_name="j")
        with pytest.raises(ValueError, match=r"axis_index_groups are of one axis, got the axes \('i', 'j'\)"):
            pc.vmap(member, axis_name="i")(x)


@WAYS
def test_a_permutation_of_absent_members_is_told(way):
    with pytest.raises(ValueError, match=r"ppermute: \(0, 4\) in perm is out of range for 4 members"):
        way(lambda x: lax.ppermute_p.bind(x, axis_name=("i",), perm=((0, 4),)))(X)
