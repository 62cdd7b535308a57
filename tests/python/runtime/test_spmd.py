"""Programs of several participants: each collective against `vmap`, which has all of them; many runs; errors."""

import os
import threading

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime as rt
from pycompiler import lax
from pycompiler.primitives import COLLECTIVES
from pycompiler.primitives.collective import reductions
from pycompiler.spmd.spmd import compile_spmd

DEVICES = 8
COUNT = 4
ONE = (("i", COUNT),)
TWO = (("a", 2), ("b", 2))
X = np.arange(4 * 12, dtype=np.float32).reshape(4, 4, 3) ** 2 % 7


def devices(count=COUNT):
    """In another order, because nothing depends on it."""
    return rt.devices()[:count][::-1]


def program(function, *args, mesh=ONE):
    """The function for the participants of a mesh; the arguments have a row for each."""
    avals = [pc.ShapeDtypeStruct(np.shape(x)[1:], np.asarray(x).dtype) for x in args]
    graph = pc.make_jaxpr(function, axis_env=list(mesh))(*avals)
    return compile_spmd(graph, mesh, getattr(function, "__name__", "function"))


def start(compiled, *args):
    count = compiled.count
    rows = [[pnp.asarray(np.asarray(x)[number]) for x in args] for number in range(count)]
    return compiled(devices(count), rows)


def stacked(results):
    return [np.stack([np.asarray(part) for part in parts]) for parts in zip(*results, strict=True)]


def spmd(function, *args, mesh=ONE):
    return stacked(start(program(function, *args, mesh=mesh), *args))


def mapped(function, *args, mesh=ONE):
    """By vmap, one for each axis of the mesh."""
    sizes = [size for _, size in mesh]
    for name, _ in reversed(mesh):
        function = pc.vmap(function, axis_name=name)
    out = function(*[np.reshape(x, (*sizes, *np.shape(x)[1:])) for x in args])
    leaves = out if isinstance(out, tuple | list) else [out]
    return [np.asarray(x).reshape(-1, *np.shape(x)[len(sizes) :]) for x in leaves]


def check(function, *args, mesh=ONE, rtol=1e-6):
    ours, want = spmd(function, *args, mesh=mesh), mapped(function, *args, mesh=mesh)
    assert len(ours) == len(want)
    for mine, other in zip(ours, want, strict=True):
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(mine, other, rtol=rtol, atol=1e-6)


# Every collective, with the samples of its entry.


@pytest.mark.parametrize("name", [name for name in COLLECTIVES if name != "axis_index"])
def test_collective_is_its_reference(name):
    primitive = COLLECTIVES[name]
    for args, params in primitive.sampler(np.random.default_rng(0)):
        (found,) = spmd(lambda *xs, p=params: primitive.bind(*xs, **p), *args, mesh=((reductions.SAMPLED, 4),))
        np.testing.assert_allclose(found, primitive.reference(*args, **params), rtol=1e-6, err_msg=str(params))


TWO_AXES = {
    "one": lambda x: lax.psum(x, "a") + lax.pmax(x, "b"),
    "both": lambda x: lax.psum(x, ("a", "b")) - lax.pmin(x, ("b", "a")),
    "index": lambda x: x * lax.axis_index("a") + 10 * lax.axis_index("b") + lax.axis_index(("b", "a")),
    "gather": lambda x: lax.all_gather(x, ("b", "a")),
    "gather tiled": lambda x: lax.all_gather(x, ("a", "b"), axis=1, tiled=True),
    "scatter": lambda x: lax.psum_scatter(x, ("b", "a")),
    "scatter tiled": lambda x: lax.psum_scatter(x, "b", tiled=True),
    "exchange": lambda x: lax.all_to_all(x, ("a", "b"), 0, 1, tiled=True),
    "permute": lambda x: lax.ppermute(x, ("b", "a"), [(0, 1), (1, 2), (3, 0)]),
    "permute one": lambda x: lax.ppermute(x, "b", [(0, 1)]),
    "broadcast": lambda x: lax.pbroadcast(x, ("a", "b"), 2),
    "groups": lambda x: lax.psum(x, "a", axis_index_groups=[[1, 0]]),
    "mean": lambda x: lax.pmean(x, "b"),
}


@pytest.mark.parametrize("name", TWO_AXES)
def test_two_axes(name):
    check(TWO_AXES[name], X, mesh=TWO)


def in_scan(x):
    def step(total, row):
        here = lax.psum(row, "i") + lax.ppermute(total, "i", [(0, 1), (1, 2), (2, 3), (3, 0)])
        return here % 5, lax.pmax(here, "i")

    return lax.scan(step, x[0], x)


def in_cond(x):
    # All take the same branch.
    return lax.cond(lax.psum(x[0, 0], "i") > 1, lambda y: lax.psum(y, "i"), lambda y: y, x)


def in_switch_of_groups(x):
    # The members of each group take one branch. Other groups take other branches meanwhile.
    rounds = 1 + lax.axis_index("a")

    def body(i, y):
        return y + lax.pmean(y * lax.axis_index("b"), "b")

    y = lax.fori_loop(0, rounds, body, x)
    return lax.cond(rounds > 1, lambda v: lax.psum(v, "b"), lambda v: 2 * v, y)


def in_while(x):
    def unfinished(state):
        return lax.pmax(state[1].sum(), "i") < 1000

    return lax.while_loop(unfinished, lambda state: (state[0] + 1, state[1] + lax.psum(state[1], "i")), (0, x))


@pc.jit
def summed(x):
    return lax.psum(x, "i")


def in_calls(x):
    return summed(x) + summed(2 * x), pc.checkpoint(lambda y: pnp.sin(lax.psum(y, "i")))(x)


@pc.custom_jvp
def halved(x):
    return lax.pmean(x, "i") / 2


halved.defjvp(lambda primals, tangents: (halved(*primals), lax.psum(tangents[0], "i")))


def in_derivatives(x):
    def loss(y):
        return (lax.psum(y, "i") * lax.all_gather(y, "i").sum(0)).sum()

    return pc.grad(loss)(x), pc.jvp(halved, (x,), (x + 1,))[1], pc.grad(lambda y: in_scan(y)[0].sum())(x)


@pytest.mark.parametrize("function", [in_scan, in_cond, in_while, in_calls, in_derivatives], ids=lambda f: f.__name__)
def test_inside(function):
    check(function, X, rtol=1e-5)


def test_groups_go_their_own_ways():
    (found,) = spmd(in_switch_of_groups, X, mesh=TWO)
    want = []
    for a in range(2):
        pair = X[2 * a : 2 * a + 2]
        for _ in range(1 + a):
            pair = pair + pair[1] / 2
        want += [pair.sum(0)] * 2 if a else [2 * pair[0], 2 * pair[1]]
    np.testing.assert_allclose(found, want, rtol=1e-5)


def test_vmap_inside():
    check(lambda x: pc.vmap(lambda row: row + lax.psum(row, "i"))(x), X)
    check(lambda x: pc.vmap(lambda row: lax.psum(row, ("i", "j")), axis_name="j")(x), X)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "float16", "bfloat16", "float32", "complex64"])
def test_dtypes(dtype):
    x = X.astype(pnp.dtype(dtype))
    check(lambda y: (lax.psum(y, "i"), lax.all_gather(y, "i"), lax.ppermute(y, "i", [(0, 2)])), x, rtol=1e-2)
    if dtype != "complex64":
        check(lambda y: (lax.pmax(y, "i"), lax.pmin(y, "i")), x)


def test_bools_and_keys():
    check(lambda x: (lax.pmax(x > 3, "i"), lax.all_gather(x > 3, "i")), X)
    numbers = spmd(
        lambda x: pc.random.bits(lax.all_gather(pc.random.key(x), "i")[1], (2,)), np.arange(4, dtype=np.int32)
    )
    np.testing.assert_array_equal(numbers[0], [pc.random.bits(pc.random.key(1), (2,))] * 4)


def test_sums_are_the_same_bits_for_all():
    x = np.random.default_rng(0).normal(size=(4, 100_000)).astype(np.float32)
    (found,) = spmd(lambda y: lax.psum(y, "i"), x)
    np.testing.assert_array_equal(found, [((x[0] + x[1]) + x[2]) + x[3]] * 4)


def test_participants_on_one_device():
    rows = [[pnp.asarray(row)] for row in X]
    found = program(lambda x: lax.psum(x, "i"), X)(rt.devices()[:1] * 4, rows)
    np.testing.assert_allclose(stacked(found)[0], [X.sum(0)] * 4)


def test_results_are_on_their_devices():
    """Also results that are constants, and results that are arguments."""
    compiled = program(lambda x: (lax.psum(x, "i"), x, pnp.asarray(X[0]), 2.5 * x), X)
    for results, device in zip(start(compiled, X), devices(), strict=True):
        assert all(out.device is device and out.committed for out in results)


# Many at once.


def test_many_runs_in_flight():
    compiled = program(lambda x: lax.psum(x * 2, "i") / 4 - x, X)
    first = [pnp.asarray(row) for row in X]
    rows = [[x] for x in first]
    want = X
    for _ in range(30):
        rows = compiled(devices(), rows)
        want = want.sum(0) / 2 - want
    np.testing.assert_allclose(stacked(rows)[0], want, rtol=1e-4, atol=1e-4)


def test_two_meshes_from_threads():
    eight = (("a", 2), ("b", 4))
    large = np.concatenate([X, X + 1])
    compiled = program(lambda x: lax.psum(x, "i"), X), program(lambda x: lax.psum(x, ("a", "b")), large, mesh=eight)
    wrong = []

    def work(which):
        data = (X, large)[which]
        started = [start(compiled[which], data + n) for n in range(10)]
        for n, results in enumerate(started):
            if not np.allclose(stacked(results)[0], (data + n).sum(0)):
                wrong.append((which, n))

    threads = [threading.Thread(target=work, args=(number % 2,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_calls_between():
    """Ordinary calls wait for the results of a run, and runs for those of calls."""
    compiled = program(lambda x: lax.psum(x, "i"), X)
    step = pc.jit(lambda x: x / 4 + 1)
    rows, want = [[pnp.asarray(row)] for row in X], X
    for _ in range(10):
        rows = [[step(out)] for (out,) in compiled(devices(), rows)]
        want = np.broadcast_to(want.sum(0), want.shape) / 4 + 1
    np.testing.assert_allclose(stacked(rows)[0], want, rtol=1e-5)


def test_runs_that_wait_for_arguments_hold_no_threads(load, vector):
    (late,) = load("slow_add_one", cost_ns=1e9).execute([vector(0, 1, 2, 3)], [vector(1, 2, 3, 4).aval])
    compiled = program(lambda x: lax.psum(x, "i"), np.zeros((4, 4), np.float32))
    there = pnp.zeros(4)
    # Other tests and libraries of this process have threads, too.
    before = len(os.listdir("/proc/self/task"))
    started = [compiled(devices(), [[there], [late], [there], [there]]) for _ in range(40)]
    assert len(os.listdir("/proc/self/task")) < before + 40
    for results in started:
        np.testing.assert_array_equal(stacked(results)[0], [[1, 2, 3, 4]] * 4)


# Errors.


def test_a_failed_participant_fails_the_others(load, vector):
    (bad,) = load("fails", cost_ns=1e9).execute([vector(1, 2, 3, 4)], [vector(1, 2, 3, 4).aval])
    compiled = program(lambda x: lax.psum(x, "i"), np.zeros((4, 4), np.float32))
    results = compiled(devices(), [[pnp.zeros(4)], [bad], [pnp.zeros(4)], [pnp.zeros(4)]])
    with pytest.raises(Exception, match="a library routine failed") as cause:
        bad.block_until_ready()
    for (out,) in results:
        with pytest.raises(Exception, match="a library routine failed") as raised:
            out.block_until_ready()
        assert str(raised.value) == str(cause.value)


def test_deleted_arguments():
    compiled = program(lambda x: lax.psum(x, "i"), X)
    gone = pnp.asarray(X[1])
    gone.delete()
    with pytest.raises(Exception, match="deleted"):
        compiled(devices(), [[pnp.asarray(X[0])], [gone], [pnp.asarray(X[2])], [pnp.asarray(X[3])]])
    check(lambda x: lax.psum(x, "i"), X)


def test_participants_that_part_ways():
    """Half of a group waits for the other half, which has ended: an error, not an endless wait."""

    def parted(x):
        return lax.cond(lax.axis_index("i") < 2, lambda y: lax.psum(y, "i"), lambda y: y, x)

    results = start(program(parted, X), X)
    for (out,) in results[:2]:
        with pytest.raises(Exception, match="has ended without reaching the collective"):
            out.block_until_ready()
    for (out,), x in zip(results[2:], X[2:], strict=True):
        np.testing.assert_array_equal(out, x)


def test_unknown_axes():
    graph = pc.make_jaxpr(lambda x: lax.psum(x, "j"), axis_env=[("j", 4)])(pc.ShapeDtypeStruct((3,), np.float32))
    with pytest.raises(NameError, match="the mesh has no axis named 'j'; its axes are: 'i'"):
        compile_spmd(graph, ONE, "f")


def test_wrong_counts():
    compiled = program(lambda x: lax.psum(x, "i"), X)
    with pytest.raises(ValueError, match=r"4 participants, 3 here, take as many devices"):
        compiled(devices(3), [[pnp.asarray(row)] for row in X[:3]])
