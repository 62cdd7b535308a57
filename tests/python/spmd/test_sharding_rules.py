"""Divided operands, operation by operation: each primitive has a rule or a reason for none, and gives the results of
one device on eight devices, for any division of its operands."""

import gc
import itertools

import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.user_primitive import Composition
from pycompiler.primitives import COLLECTIVES, PRIMITIVES
from pycompiler.sharding import NamedSharding
from pycompiler.sharding import PartitionSpec as P
from pycompiler.spmd import collective_ops
from pycompiler.spmd.partition import partition
from pycompiler.spmd.partition.interpreter import FORMS
from pycompiler.spmd.partition.table import RULES, WITHOUT_RULE

# Of the process. Once the tests are collected, the collector no longer knows them (conftest.py).
_EVERY = [x for x in gc.get_objects() if isinstance(x, Primitive) and not isinstance(x, Composition)]


@pytest.fixture(autouse=True)
def with_wide_types():
    with pc.enable_x64():
        yield


def test_every_primitive_has_a_rule_or_a_reason():
    """All primitives of the process except the collectives, which the axes of a mesh replace."""
    apart = {*COLLECTIVES.values(), *(x for x in vars(collective_ops).values() if isinstance(x, Primitive))}
    # A composition binds other primitives; it is in no graph.
    every = set(_EVERY) - apart
    assert every >= set(PRIMITIVES.values())
    kinds = (set(RULES), set(FORMS), set(WITHOUT_RULE))
    missing = every - set().union(*kinds)
    assert not missing, "has no rule in spmd/partition: " + ", ".join(sorted(map(str, missing)))
    for one, other in itertools.combinations(kinds, 2):
        assert not one & other


# Primitives without an array to divide, or with graphs in their samples: test_partitioned tests loops and branches.
_APART = {"while", "scan", "cond", "dim_as_value", "iota", "optimization_barrier"}
if pc.devices()[0].platform == "gpu":  # they have no kernel there (docs/differences.md)
    _APART |= {"eig", "schur", "sylvester"}
_MESH = auto_mesh((3, 2), ("x", "y"), devices=pc.devices()[:6])
_SAMPLES = 8


_NAMES = [name for name in PRIMITIVES if name not in _APART]


def _close(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    name, kind = got.dtype.name, got.dtype.kind
    if kind in "fcV" and got.size and wanted.dtype.itemsize > 1:
        got, wanted = (x.astype(np.complex128 if kind == "c" else np.float64) for x in (got, wanted))
        tolerance = {"float16": 2e-2, "bfloat16": 1e-1}.get(name, 2e-4)
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, wanted)


def _layouts(shapes, order):
    """For each operand: each dimension over an axis that divides it, as long as there are axes, in this order."""
    found = []
    for shape in shapes:
        left, spec = list(order), []
        for size in shape:
            names = [name for name in left if size and size % _MESH.shape[name] == 0][:1]
            left = [name for name in left if name not in names]
            spec.append(names[0] if names else None)
        found.append(spec)
    return found


def _samples(primitive, seed=0):
    with np.errstate(all="ignore"):
        return list(primitive.sampler(np.random.default_rng(seed)))


def _outs(primitive, out):
    return out if primitive.multiple_results else (out,)


@pytest.mark.parametrize("name", _NAMES)
def test_operands_may_be_divided_in_any_way(name):
    primitive, count = PRIMITIVES[name], 0
    for args, params in _samples(primitive):
        for order in (("x", "y"), ("y", "x")):
            specs = _layouts([np.shape(arg) for arg in args], order)
            if count >= _SAMPLES or not any(any(spec) for spec in specs):
                continue
            count += 1
            put = [NamedSharding(_MESH, P(*spec)).place(arg) for arg, spec in zip(args, specs, strict=True)]
            wanted = _outs(primitive, primitive.bind(*args, **params))
            for x, y in zip(_outs(primitive, primitive.bind(*put, **params)), wanted, strict=True):
                _close(x, y)


@pytest.mark.parametrize("name", _NAMES)
def test_a_batch_stays_divided(name):
    primitive = PRIMITIVES[name]
    drawn = [_samples(primitive, seed) for seed in range(6)]
    alike = [
        number
        for number, (args, _) in enumerate(drawn[0])
        if args and all(arg.size for arg in args if arg.shape) and any(arg.shape for arg in args)
        and all([np.shape(x) for x in d[number].args] == [np.shape(x) for x in args] for d in drawn)
    ]  # fmt: skip
    assert alike
    samples = [d[alike[0]] for d in drawn]
    params = samples[0].params
    stacks = [np.stack(arrays) for arrays in zip(*(sample.args for sample in samples), strict=True)]
    fun = pc.vmap(lambda *xs: primitive.bind(*xs, **params))
    over = NamedSharding(_MESH, P(("x", "y")))
    got = _outs(primitive, pc.jit(fun)(*[over.place(x) for x in stacks]))
    for number, sample in enumerate(samples):
        for x, y in zip(got, _outs(primitive, primitive.bind(*sample.args, **params)), strict=True):
            _close(x[number], y)
    graph = pc.make_jaxpr(fun)(*stacks)
    local = partition(graph, _MESH, tuple([(("x", "y"), *((),) * (x.ndim - 1)) for x in stacks]))
    assert "all_gather" not in str(local.graph)


A = np.arange(48, dtype=np.float32).reshape(6, 8) / 7
ROWS = (("x", "y"), ())
COLUMNS = ((), ("y",))


def _stays(fun, layouts, wanted, *arrays, gathers=()):
    """The computation of a device on parts, and the shapes of its gathers."""
    local = partition(pc.make_jaxpr(fun)(*arrays), _MESH, tuple(layouts))
    assert local.out_layouts[0] == wanted
    equations = local.graph.graph.equations
    assert [e.outputs[0].aval.shape for e in equations if e.primitive.name == "all_gather"] == list(gathers)
    specs = [P(*(names or None for names in layout)) for layout in layouts]
    put = [NamedSharding(_MESH, spec).place(x) for x, spec in zip(arrays, specs, strict=True)]
    _close(pc.jit(fun)(*put), fun(*map(pnp.asarray, arrays)))


@pytest.mark.parametrize("reduce", [lax.reduce_and, lax.reduce_or, lax.reduce_xor, lax.reduce_prod])
def test_a_reduction_gathers_what_each_device_has_come_to(reduce):
    x = np.random.default_rng(0).integers(-99, 99, (6, 8)).astype(np.int32)
    _stays(lambda x: reduce(x, axes=(0,)), [ROWS], ((),), x, gathers=[(6, 8)])
    _stays(lambda x: reduce(x, axes=(1,)), [ROWS], (("x", "y"),), x)
    _stays(lambda x: pnp.max(x > 0, axis=0), [ROWS], ((),), x, gathers=[(6, 8)])


def test_running_reductions_are_along_whole_dimensions():
    for run in (lax.cumlogsumexp, lax.cumsum, lax.cummax):
        _stays(lambda x, run=run: run(x, axis=1), [ROWS], ROWS, A)
        _stays(lambda x, run=run: run(x, axis=1), [COLUMNS], ((), ()), A, gathers=[(6, 8)])


def test_windows_that_are_taken_whole_stay_divided():
    rows = np.array([5, 0, 1, 1, 3, 2])
    _stays(lambda x, i: x[i], [COLUMNS, (("x",),)], (("x",), ("y",)), A, rows)
    _stays(lambda x, i: x.at[i].add(x), [COLUMNS, ((),)], COLUMNS, A, rows)
    _stays(lambda x, i: pnp.take_along_axis(x, i[:, None], 1), [ROWS, (("x", "y"),)], ROWS, A, rows)


def test_convolutions_and_windows():
    x = np.random.default_rng(0).normal(size=(6, 4, 9)).astype(np.float32)
    w = np.random.default_rng(1).normal(size=(6, 4, 3)).astype(np.float32)

    def conv(x, w):
        return lax.conv(x, w, (1,), "SAME")

    _stays(conv, [(("x",), (), ()), (("y",), (), ())], (("x",), ("y",), ()), x, w)
    _stays(conv, [(("x",), ("y",), ()), ((), ("y",), ())], (("x",), (), ()), x, w)
    pool = lax.reduce_window
    _stays(lambda x: pool(x, -np.inf, lax.max, (1, 2, 3), (1, 2, 1), "SAME"), [(("x",), (), ())], (("x",), (), ()), x)


def test_a_stack_of_matrices_stays_divided():
    a = np.random.default_rng(0).normal(size=(6, 3, 3)).astype(np.float32)
    stack = (("x", "y"), (), ())
    _stays(lambda a: pnp.linalg.qr(a)[1], [stack], stack, a)
    _stays(lambda a: pnp.linalg.solve(a, a + 1), [stack], stack, a)
    _stays(lambda a: abs(pnp.fft.fft(a)), [stack], stack, a)
    _stays(lambda a: lax.top_k(a, 2)[0], [stack], stack, a)


def _told(fun, *args):
    before = len(pc.debug.remarks())
    pc.jit(fun)(*args)
    return [(remark.kind, remark.text) for remark in pc.debug.remarks()[before:]]


def test_what_is_gathered_is_a_remark_with_its_line():
    x = NamedSharding(_MESH, P("x", "y")).place(A)
    assert _told(lambda x: pnp.cumsum(x, 1), x) == [
        ("gathered-operand", "cumsum: f32[6,8], divided along dimension 1 over 'y', is gathered")
    ]
    assert __file__.rpartition("/")[2] in pc.debug.remarks()[-1].place
    assert _told(lambda x: pnp.cumsum(pnp.tanh(x), 1) @ x.T, x)[0][1].startswith("cumsum: ")
    assert _told(lambda x: x + 1, x) == []
    # Explicit gathers of the program are no remark; layouts that are tried for a loop are none, either.
    assert _told(lambda x: lax.with_sharding_constraint(x, NamedSharding(_MESH, P("x"))), x) == []
    told = _told(lambda x: lax.fori_loop(0, 3, lambda i, c: c + pnp.cumsum(c, 0), x), x)
    assert told == [("gathered-operand", "cumsum: f32[6,8], divided along dimension 0 over 'x', is gathered")]


def test_donated_arrays_of_devices_and_ways_by_the_host_are_remarks():
    x = NamedSharding(_MESH, P("x")).place(A)
    before = len(pc.debug.remarks())
    f = pc.jit(lambda x: x + 1, donate_argnums=0)
    f(f(x))
    assert [remark.kind for remark in pc.debug.remarks()[before:]] == ["donated-on-devices"]
    other = auto_mesh((2,), ("z",), devices=pc.devices()[:2])
    pc.device_put(NamedSharding(_MESH, P("x")).place(A), NamedSharding(other, P("z")))
    assert pc.debug.remarks()[-1].kind == "through-host"
