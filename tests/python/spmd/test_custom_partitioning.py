"""`custom_partitioning`: functions whose author divides them over devices, and its rules of factors."""

import functools

import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.errors import ArgumentError, NotDifferentiableError
from pycompiler.experimental import custom_partitioning as module
from pycompiler.experimental.custom_partitioning import BATCHING, SdyShardingRule, custom_partitioning
from pycompiler.sharding import NamedSharding
from pycompiler.sharding import PartitionSpec as P
from pycompiler.spmd.partition.factors import divided_by, parsed

DEVICES = 4
A = np.random.default_rng(0).standard_normal((8, 4), np.float32)
B = np.random.default_rng(1).standard_normal((4, 6), np.float32)


@functools.cache
def mesh_of_four():
    return auto_mesh((2, 2), ("x", "y"))


def put(x, *spec):
    return pc.device_put(x, NamedSharding(mesh_of_four(), P(*spec)))


def over_rows(sharding, ndim):
    return NamedSharding(sharding.mesh, P(*sharding.spec[: ndim - 1]))


def rowwise(calls, **options):
    """FFTs along the last dimension, which is gathered; the calls of the function for one device are noted."""

    @custom_partitioning
    def fft(x):
        return pnp.fft.fft(x)

    def local(x):
        calls.append(x.shape)
        return pnp.fft.fft(x)

    def partition(mesh, args, result):
        rows = over_rows(args[0].sharding, args[0].ndim)
        return mesh, local, rows, (rows,)

    fft.def_partition(partition, **options)
    return fft


@pytest.mark.parametrize(
    "options",
    [
        {"infer_sharding_from_operands": lambda mesh, args, result: over_rows(args[0].sharding, 2)},
        {"sharding_rule": "... i -> ... i", "need_replication_factors": ("i",)},
        {"sharding_rule": SdyShardingRule(((BATCHING, "i"),), ((BATCHING, "i"),))},
        {"sharding_rule": lambda mesh, args, results: "i j -> i j"},
        {"sharding_rule": lambda mesh, args, results: ("i j -> i j", {"need_replication_factors": ("j",)})},
        {},
    ],
    ids=["infer", "text", "rule", "function", "function with options", "nothing"],
)
def test_rows_stay_on_their_devices(options):
    calls = []
    fft = rowwise(calls, **options)
    for spec, part in ((("x",), (4, 4)), (("x", "y"), (4, 4)), ((("x", "y"), None), (2, 4)), ((None, "y"), (8, 4))):
        calls.clear()
        found = pc.jit(fft)(put(A, *spec))
        np.testing.assert_allclose(found, np.fft.fft(A), rtol=1e-4, atol=1e-4)
        assert set(calls) == {part}
        assert found.sharding.shard_shape((8, 4)) == part
    eager = fft(put(A, "x"))
    np.testing.assert_allclose(eager, np.fft.fft(A), rtol=1e-4, atol=1e-4)
    assert eager.sharding.shard_shape((8, 4)) == (4, 4)


def test_collectives_in_the_function_for_one_device():
    @custom_partitioning
    def matmul(x, w):
        return x @ w

    seen = []

    def partition(mesh, args, result):
        x, w = args
        seen.append((x.sharding.spec, w.sharding.spec, result.sharding.spec, x.shape, result.shape))
        over = x.sharding.spec[1]

        def local(x, w):
            return lax.psum(x @ w, over) if over else x @ w

        rows = P(x.sharding.spec[0], None)
        return mesh, local, NamedSharding(mesh, rows), (x.sharding, NamedSharding(mesh, P(over, None)))

    matmul.def_partition(partition, sharding_rule="i k, k j -> i j", reduction_factors=("k",))

    @pc.jit
    def f(x, w):
        return pnp.tanh(matmul(x * 2, w)) + 1

    found = f(put(A, "x", "y"), put(B, None))
    np.testing.assert_allclose(found, np.tanh(A * 2 @ B) + 1, rtol=1e-4, atol=1e-4)
    assert seen == [(P("x", "y"), P("y", None), P("x", None), (8, 4), (8, 6))]
    assert found.sharding.spec == P("x", None) or found.sharding.shard_shape((8, 6)) == (4, 6)
    # Without a mesh, and in shard_map, it is the function.
    np.testing.assert_allclose(matmul(A, B), A @ B, rtol=1e-4, atol=1e-4)
    manual = pc.shard_map(matmul, mesh=mesh_of_four(), in_specs=(P("x"), P()), out_specs=P("x"))
    np.testing.assert_allclose(manual(A, B), A @ B, rtol=1e-4, atol=1e-4)
    assert len(seen) == 1


def test_trees_static_arguments_and_loops():
    def partition(scale, mesh, args, result):
        def local(d, y):
            return {"sum": d["a"] * scale + y, "y": y}

        return (
            mesh,
            local,
            {"sum": args[0]["a"].sharding, "y": args[1].sharding},
            (
                {"a": args[0]["a"].sharding},
                args[0]["a"].sharding,
            ),
        )

    def plain(d, y, scale):
        return {"sum": d["a"] * scale + y, "y": y}

    f = custom_partitioning(plain, static_argnums=(2,))
    f.def_partition(
        partition,
        infer_sharding_from_operands=lambda scale, mesh, args, result: {
            "sum": args[0]["a"].sharding,
            "y": args[0]["a"].sharding,
        },
    )
    x, y = put(A, "x"), put(A + 1, "x")
    found = pc.jit(lambda x, y: f({"a": x}, y, scale=3))(x, y)
    np.testing.assert_allclose(found["sum"], A * 3 + A + 1, rtol=1e-5)
    looped = pc.jit(lambda x, y: lax.fori_loop(0, 3, lambda _, c: f({"a": c}, y, 2)["sum"], x))(x, y)
    want = A
    for _ in range(3):
        want = want * 2 + A + 1
    np.testing.assert_allclose(looped, want, rtol=1e-4, atol=1e-4)


def test_derivatives_are_the_users_and_maps_are_of_the_function():
    fft = rowwise([], sharding_rule="... i -> ... i", need_replication_factors=("i",))
    with pytest.raises(NotDifferentiableError, match="custom_vjp"):
        pc.grad(lambda x: abs(fft(x)).sum())(A)
    np.testing.assert_allclose(pc.vmap(fft)(np.stack([A, -A]))[1], np.fft.fft(-A), rtol=1e-4, atol=1e-4)
    square = custom_partitioning(lambda x: x * x)
    square.def_partition(
        lambda mesh, args, result: (mesh, lambda x: x * x, result.sharding, (args[0].sharding,)),
        sharding_rule="i j -> i j",
    )
    ours = pc.custom_vjp(lambda x: square(x))
    ours.defvjp(lambda x: (square(x), x), lambda x, ct: (2 * x * ct,))
    np.testing.assert_allclose(pc.jit(pc.grad(lambda x: ours(x).sum()))(put(A, "x")), 2 * A, rtol=1e-6)


def test_a_rule_divides_factors():
    sizes = {"x": 2, "y": 2}
    rule = parsed("(a b) c -> a c", b=2)
    operands, results = divided_by(rule, [(8, 4)], [(4, 4)], [(("x",), ("y",))], sizes)
    assert operands == [(("x",), ("y",))]
    assert results == [(("x",), ("y",))]
    rule = parsed("i j, j -> i", reduction_factors=("j",))
    assert divided_by(rule, [(4, 4), (4,)], [(4,)], [((), ("y",)), (("x",),)], sizes) == (
        [((), ("y",)), (("y",),)],
        [((),)],
    )
    assert parsed("... k, ...1 k->").operand_mappings == (
        module.ArrayMapping(BATCHING, "k"),
        module.ArrayMapping(BATCHING + "1", "k"),
    )
    assert parsed("->").result_mappings == (module.ArrayMapping(),)
    assert str(SdyShardingRule((("i",),), (("i",),), permutation_factors=("i",))) == (
        "SdyShardingRule((('i',),), (('i',),), {} permutation_factors=('i',))"
    )
    with pytest.raises(ArgumentError, match="operand 0 has 1 dimensions"):
        divided_by(parsed("i j -> i"), [(4,)], [(4,)], [((),)], sizes)
    with pytest.raises(ArgumentError, match="1 operands and 1 results, and there are 2 and 1"):
        divided_by(parsed("i -> i"), [(4,), (4,)], [(4,)], [((),), ((),)], sizes)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: parsed("i j"), "one ->"),
        (lambda: parsed("i (j -> i"), "brackets"),
        (lambda: parsed("i ((j k)) -> i"), "brackets"),
        (lambda: parsed("i) -> i"), "brackets"),
        (lambda: parsed("i $ -> i"), "no factor"),
        (lambda: parsed("2i -> i"), "no factor"),
        (lambda: parsed("i ... -> i"), "comes first"),
        (lambda: parsed("(i j) -> i"), r"\['j'\].*expected a size"),
        (lambda: parsed("i -> i", i=2), "and for no other"),
        (lambda: parsed("i -> i", reduction_factors=("j",)), "not used"),
        (lambda: parsed("i -> i", reduction_factors=("i",), permutation_factors=("i",)), "given twice"),
        (lambda: module.CompoundFactor("a"), "two factors or more"),
        (lambda: module.ArrayMapping("a", BATCHING), "comes first"),
        (lambda: custom_partitioning(lambda x: x)(A), "call its def_partition first"),
        (lambda: custom_partitioning(lambda x: x).def_partition(print, i=2), "need a sharding_rule"),
    ],
)
def test_rules_that_are_none(make, text):
    with pytest.raises(ArgumentError, match=text):
        make()


def test_answers_that_do_not_fit():
    def ask(answer):
        f = custom_partitioning(lambda x: x + 1)
        f.def_partition(answer, sharding_rule="i j -> i j")
        return pc.jit(f)(put(A, "x"))

    with pytest.raises(ArgumentError, match=r"expected \(mesh, function"):
        ask(lambda mesh, args, result: None)
    with pytest.raises(ArgumentError, match=r"shardings of results .* have .*expected shardings"):
        ask(lambda mesh, args, result: (mesh, lambda x: x, P("x"), (args[0].sharding,)))
    with pytest.raises(ArgumentError, match="no tree like"):
        ask(lambda mesh, args, result: (mesh, lambda x: x, result.sharding, args[0].sharding))
    with pytest.raises(ArgumentError, match=r"returned f32\[2,4\].*expected f32\[4,4\]"):
        ask(lambda mesh, args, result: (mesh, lambda x: x[:2], result.sharding, (args[0].sharding,)))
