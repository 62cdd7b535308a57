"""Computations with sharded arrays: the values of whole arrays, and results with the sharding of the operands."""

import types

import jax
import numpy as np
import plain
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.sharding import NamedSharding
from pycompiler.sharding import PartitionSpec as P

MESH = auto_mesh((4, 2), ("x", "y"))
A = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
B = np.random.default_rng(1).normal(size=(4, 8)).astype(np.float32)
C = np.random.default_rng(2).normal(size=(8, 6, 4)).astype(np.float32)


def put(values, *spec):
    return NamedSharding(MESH, P(*spec)).place(values)


def close(got, wanted, tolerance=1e-5):
    for x, y in zip(pc.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        assert x.shape == y.shape
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance)


# The computation, the specs of its operands, and the spec of the result (None: not checked).
CASES = {
    "elementwise": (lambda m, a, b: m.sin(a) * b + 1, [(A, "x"), (A, "x", "y")], ("x", "y")),
    "mixed": (lambda m, a, b: m.where(a > b, a, -b), [(A, "x"), (A, None, "x")], None),
    "scalar": (lambda m, a: a / 2 - m.float32(1), [(A, ("x", "y"))], (("x", "y"),)),
    "with whole": (lambda m, a: a + m.arange(4.0), [(A, "x", "y")], ("x", "y")),
    "broadcast": (lambda m, a: a[:, None, :] * m.ones((8, 3, 4)), [(A, "x", "y")], ("x", None, "y")),
    "transpose": (lambda m, a: a.T, [(A, "x", "y")], ("y", "x")),
    "merge": (lambda m, a: a.reshape(-1), [(A, "x")], ("x",)),
    "merge inner": (lambda m, a: a.reshape(-1), [(A, None, "y")], ()),
    "split": (lambda m, a: a.reshape(4, 2, 4), [(A, "x", "y")], ("x", None, "y")),
    "split unevenly": (lambda m, a: a.reshape(2, 4, 4), [(A, "x")], None),
    "expand": (lambda m, a: a.reshape(1, 8, 1, 4), [(A, "x", "y")], (None, "x", None, "y")),
    "sum": (lambda m, a: a.sum(0), [(A, "x", "y")], ("y",)),
    "sum of all": (lambda m, a: a.sum(), [(A, "x", "y")], ()),
    "mean": (lambda m, a: a.mean(1), [(A, "x", "y")], ("x",)),
    "max": (lambda m, a: a.max(0) - a.min(0), [(A, "x")], ()),
    "product": (lambda m, a: a.prod(1), [(A, "x", "y")], ("x",)),
    "any": (lambda m, a: (a > 1).any(0), [(A, "x", "y")], ("y",)),
    "argmax": (lambda m, a: m.argmax(a, 1), [(A, "x", "y")], ("x",)),
    "softmax": (
        lambda m, a: m.exp(a - a.max(1, keepdims=True)) / m.exp(a).sum(1, keepdims=True),
        [(A, "x", "y")],
        None,
    ),
    "rows by whole": (lambda m, a, b: a @ b, [(A, "x"), (B,)], ("x",)),
    "rows by columns": (lambda m, a, b: a @ b, [(A, "x"), (B, None, "y")], ("x", "y")),
    "contracted": (lambda m, a, b: a @ b, [(A, "x", "y"), (B, "y")], ("x",)),
    "contracted once": (lambda m, a, b: a @ b, [(A, None, "y"), (B,)], ()),
    "against": (lambda m, a, b: a @ b, [(A, "x"), (B, None, "x")], None),
    "batched": (lambda m, a, b: m.einsum("bij,bkj->bik", a, b), [(C, "x"), (C, "x", None, "y")], ("x",)),
    "slice": (lambda m, a: a[:, 1:3], [(A, "x", "y")], ("x",)),
    "row": (lambda m, a: a[2], [(A, "x", "y")], ("y",)),
    "strided": (lambda m, a: a[::2, ::-1], [(A, "x", "y")], None),
    "take": (lambda m, a: a[m.array([3, 1])], [(A, "x", "y")], None),
    "concatenate": (lambda m, a, b: m.concatenate([a, b], 1), [(A, "x"), (A, "x", "y")], ("x",)),
    "pad": (lambda m, a: m.pad(a, ((0, 0), (1, 2))), [(A, "x", "y")], ("x",)),
    "cumsum": (lambda m, a: m.cumsum(a, 0), [(A, "x", "y")], (None, "y")),
    "sort": (lambda m, a: m.sort(a, 1), [(A, "x", "y")], ("x",)),
    "matrix": (lambda m, a: m.linalg.inv(a[:4] @ a[:4].T + m.eye(4)), [(A, "x")], None),
    "tree": (lambda m, a, b: {"s": a.sum(), "t": (a @ b, b)}, [(A, "x"), (B, "y")], None),
    "nothing": (lambda m, a: a, [(A, "x", "y")], ("x", "y")),
    "constant": (lambda m, a: (a + 1, m.ones(3)), [(A, "x", "y")], None),
}


@pytest.mark.parametrize("name", CASES)
def test_under_jit(name):
    fun, operands, spec = CASES[name]
    args = [put(*operand) for operand in operands]
    got = pc.jit(lambda *xs: fun(pnp, *xs))(*args)
    close(got, fun(plain.numpy, *[plain.array(operand[0]) for operand in operands]), 1e-4)
    if spec is not None:
        assert got.sharding.is_equivalent_to(NamedSharding(MESH, P(*spec)), got.ndim), got.sharding


@pytest.mark.parametrize("name", ["elementwise", "softmax", "contracted", "row", "sort", "merge inner", "any"])
def test_op_by_op(name):
    fun, operands, spec = CASES[name]
    got = fun(pnp, *[put(*operand) for operand in operands])
    close(got, fun(plain.numpy, *[plain.array(operand[0]) for operand in operands]), 1e-4)
    if spec is not None:
        assert got.sharding.is_equivalent_to(NamedSharding(MESH, P(*spec)), got.ndim), got.sharding


def test_operators():
    a, b = put(A, "x", "y"), put(A + 1, "x")
    close(
        [a + b, a - 1, 2 * a, a / b, -a, abs(a), a**2, a < b],
        [A + A + 1, A - 1, 2 * A, A / (A + 1), -A, abs(A), A**2, A < A + 1],
    )
    close(
        [a[0], a.T @ b, a.sum(), a.at[0].set(0.0)],
        [A[0], A.T @ (A + 1), A.sum(), np.concatenate([0 * A[:1], A[1:]])],
        1e-4,
    )
    assert (a + b).sharding.spec == P("x", "y")


def test_what_is_divided_is_not_gathered():
    text = str(pc.make_jaxpr(lambda a: a + 1)(put(A, "x")))
    assert "all_gather" not in text
    x = pc.jit(lambda a, b: pnp.tanh(a @ b))(put(A, "x"), put(B))
    assert {shard.data.shape for shard in x.addressable_shards} == {(2, 8)}


def test_transformations():
    def loss(w, x):
        return (pnp.tanh(x @ w) ** 2).sum()

    w, x = put(B, None, "y"), put(A, "x")
    wanted = pc.grad(loss)(pnp.asarray(B), pnp.asarray(A))
    got = pc.jit(pc.grad(loss))(w, x)
    close(got, wanted, 1e-4)
    close(pc.grad(loss)(w, x), wanted, 1e-4)
    close(pc.vmap(lambda r: r * 2 + r.sum())(x), A * 2 + A.sum(1, keepdims=True))
    close(pc.jvp(lambda x: x * x, (x,), (x,)), (A * A, 2 * A * A))


def test_loops_and_branches():
    def run(m, a):
        c, ys = m.lax.scan(lambda c, r: (c * 0.5 + r.sum(), c + r), m.numpy.zeros(4), a)
        d = m.lax.fori_loop(0, 3, lambda i, x: x * 0.5 + a, a)
        e = m.lax.cond(a[0, 0] > 0, lambda x: x + 1, lambda x: x.T.reshape(8, 4), a)
        f = m.lax.while_loop(lambda x: x.sum() < 100, lambda x: abs(x) * 2, a)
        return c, ys, d, e, f

    wanted = run(types.SimpleNamespace(lax=plain.lax, numpy=plain.numpy), plain.array(A))
    for spec in [("x",), ("x", "y"), (None, "y")]:
        close(pc.jit(lambda a: run(pc, a))(put(A, *spec)), wanted, 1e-4)


def test_constraints():
    @pc.jit
    def f(a):
        b = lax.with_sharding_constraint(a * 2, NamedSharding(MESH, P("x", "y")))
        return b, lax.with_sharding_constraint(b + 1, NamedSharding(MESH, P(None, "x")))

    for a in (pnp.asarray(A), put(A, ("y", "x"))):
        b, c = f(a)
        close((b, c), (A * 2, A * 2 + 1))
        assert b.sharding.spec == P("x", "y")
        assert c.sharding.spec == P(None, "x")
    close(pc.grad(lambda a: (f(a)[0] ** 2).sum())(pnp.asarray(A)), 8 * A, 1e-4)
    got = lax.with_sharding_constraint(pnp.asarray(A), NamedSharding(MESH, P("x")))
    assert got.sharding.spec == P("x")
    with pytest.raises(ValueError, match=r"dimension 0 .*of size 7"):
        pc.jit(lambda a: lax.with_sharding_constraint(a, NamedSharding(MESH, P("x"))))(pnp.ones(7))


def test_shardings_of_jit():
    rows, columns = NamedSharding(MESH, P("x")), NamedSharding(MESH, P(None, "y"))
    f = pc.jit(lambda a, b: {"c": a @ b, "d": a}, in_shardings=(rows, columns), out_shardings={"c": columns, "d": None})
    out = f(A, B)
    close(out, {"c": A @ B, "d": A}, 1e-4)
    assert out["c"].sharding == columns
    assert out["d"].sharding.is_equivalent_to(rows, 2)
    g = pc.jit(lambda a: a + 1, out_shardings=rows)
    assert g(A).sharding == rows
    close(pc.jit(lambda a: a + 1, in_shardings=rows)(A), A + 1)


def test_donated_arrays_are_deleted():
    a = put(A, "x")
    out = pc.jit(lambda a: a + 1, donate_argnums=0)(a)
    close(out, A + 1)
    assert a.is_deleted()
    with pytest.raises(pc.errors.ExecutionError):
        pc.jit(lambda a: a * 2)(a).block_until_ready()


def test_different_devices_are_an_error_that_names_both():
    small = auto_mesh((2,), ("z",), devices=pc.devices()[:2])
    a, b = put(A, "x"), NamedSharding(small, P("z")).place(A)
    for call in (lambda: a + b, lambda: pc.jit(lambda a, b: a @ b.T)(a, b)):
        with pytest.raises(ValueError, match=r"Mesh\('x': 4, 'y': 2,.*Mesh\('z': 2,.*What to do"):
            call()


def test_an_array_that_is_committed_to_one_device():
    one = pc.device_put(A, pc.devices()[3])
    with pytest.raises(ValueError, match=r"committed to \w+Device\(id=3\).*What to do"):
        put(A, "x") + one
    close(pc.pmap(lambda r: r * 2)(one), A * 2)
    moved = pc.device_put(one, NamedSharding(MESH, P("x")))
    close(moved + put(A, "x"), A + A)
    assert moved.committed
    assert moved.device == NamedSharding(MESH, P("x"))
    back = pc.device_put(moved, pc.devices()[2])
    close(back, A)
    assert back.devices() == {pc.devices()[2]}
    inside = pc.jit(lambda a: pc.device_put(a * 2, NamedSharding(MESH, P(None, "y"))))(A)
    assert inside.sharding.spec == P(None, "y")


def test_other_meshes_of_the_same_devices():
    renamed = auto_mesh((4, 2), ("p", "q"))
    flat = auto_mesh((8,), ("z",))
    a = put(A, "x", "y")
    close(a + NamedSharding(renamed, P("p")).place(A), A + A)
    close(a + NamedSharding(flat, P("z")).place(A), A + A)
    mapped = pc.pmap(lambda r: r + lax.psum(r, "i"), axis_name="i")(A)
    close(pc.jit(lambda m: m * 2)(mapped), (A + A.sum(0)) * 2, 1e-4)
    close(pc.jit(lambda m: pc.pmap(lambda r: r + 1)(m * 2).sum(0))(mapped), ((A + A.sum(0)) * 2 + 1).sum(0), 1e-4)


def test_a_constant_may_be_sharded():
    w = put(B, "y")
    close(pc.jit(lambda a: a @ w)(A), A @ B, 1e-4)


def test_it_is_traced_and_compiled_once():
    count = []

    @pc.jit
    def f(a):
        count.append(1)
        return a * 2

    for spec in [("x",), ("x",), ("y",)]:
        close(f(put(A, *spec)), A * 2)
    assert len(count) == 1


def test_callbacks_are_called_once_with_whole_arrays(capsys):
    seen = []

    @pc.jit
    def f(a):
        pc.debug.print("the sum is {s}", s=a.sum())
        pc.debug.callback(lambda x: seen.append(x.shape), a)
        return pc.pure_callback(lambda x: x + 1, pc.ShapeDtypeStruct(a.shape, a.dtype), a) * 2

    close(f(put(np.ones((8, 4), np.float32), "x", "y")), np.full((8, 4), 4.0))
    pc.effects_barrier()
    assert capsys.readouterr().out == "the sum is 32.0\n"
    assert seen == [(8, 4)]


def test_callbacks_in_loops_and_branches_are_called_once(capsys):
    @pc.jit
    def f(x):
        total = x.sum()
        lax.cond(total > 3, lambda: pc.debug.print("branch {}", total), lambda: None)
        lax.fori_loop(0, 2, lambda i, c: (pc.debug.print("fori {}", c), c + 1)[1], total)
        lax.scan(lambda c, i: (c, pc.debug.callback(lambda i: print("scan", int(i)), i)), 0, pnp.arange(2))
        lax.while_loop(lambda c: c < 40, lambda c: (pc.debug.print("while {}", c), c * 2)[1], total)
        return x

    f(pc.device_put(np.arange(8, dtype=np.float32), NamedSharding(MESH, P("x"))))
    pc.effects_barrier()
    lines = "branch 28.0|fori 28.0|fori 29.0|scan 0|scan 1|while 28.0"
    assert sorted(capsys.readouterr().out.split("\n")[:-1]) == lines.split("|")


def test_each_device_prints_what_it_has(capsys):
    pc.pmap(lambda r: pc.debug.print("{s}", s=r.sum()) or r)(np.arange(8, dtype=np.float32).reshape(8, 1))
    pc.effects_barrier()
    assert sorted(capsys.readouterr().out.split()) == [f"{i}.0" for i in range(8)]
