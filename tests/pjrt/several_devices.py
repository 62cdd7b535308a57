"""Programs of JAX on eight of our devices, beside eight of XLA's CPU. test_jax_devices.py runs this in a process of its
own, because the number of devices is that of a process."""

import os

os.environ["JAX_PLATFORMS"] = "pycompiler,cpu"
os.environ["PYCOMPILER_NUM_CPU_DEVICES"] = "8"
os.environ["JAX_NUM_CPU_DEVICES"] = "8"
os.environ.setdefault("PYCOMPILER_ENABLE_COMPILATION_CACHE", "0")

import sys
import traceback

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, shard_map
from jax._src.lax import parallel
from jax.experimental.control_deps import schedule
from jax.experimental.layout import Format, Layout, with_layout_constraint
from jax.sharding import AxisType, NamedSharding, reshard
from jax.sharding import PartitionSpec as P

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def mesh_of(devices, sizes=(4, 2), names=("x", "y"), kind=AxisType.Auto):
    return jax.sharding.Mesh(np.array(devices).reshape(sizes), names, axis_types=(kind,) * len(names))


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def on(mesh, x, *spec):
    return jax.device_put(x, NamedSharding(mesh, P(*spec)))


@program
def orders_of_dimensions(devices):
    """Beside arrays of XLA in one order: its CPU refuses other layouts of some results."""
    mesh = mesh_of(devices)
    is_ours = devices[0].platform == "pycompiler"
    place, turn = NamedSharding(mesh, P("x", "y")), NamedSharding(mesh, P("y", "x"))
    columns = Format(Layout((1, 0)), place) if is_ours else place
    auto = Format(Layout.AUTO, turn) if is_ours else turn
    given = jax.device_put(numbers(8, 16), columns)
    f = jax.jit(lambda x: (x @ x.T, jnp.sin(x), x.T), out_shardings=(place, columns, auto))
    product, sine, turned = f(given)
    if is_ours:
        arrays = [given, sine, *[part.data for part in sine.addressable_shards]]
        assert all(one.format.layout.major_to_minor == (1, 0) for one in arrays)
        # The memory is that of the argument.
        assert turned.format.layout.major_to_minor == product.format.layout.major_to_minor == (0, 1)
    return given, product, sine, turned, jax.jit(lambda x: x[:4] * 2, out_shardings=place)(given)


@program
def without_shardy(devices):
    """JAX writes shardings as tiles of devices."""
    x, w = numbers(8, 8), numbers(8, 16, seed=1)
    mixed = [devices[place] for place in (3, 1, 2, 0, 7, 6, 5, 4)]
    found = []
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        for mesh in (mesh_of(devices), mesh_of(devices[:6], (2, 3)), mesh_of(devices[:6], (3, 2)), mesh_of(mixed)):
            a = np.tile(x, (3, 3))
            given = on(mesh, a, "x", "y"), on(mesh, np.tile(w, (3, 3)), None, ("y", "x"))

            def f(a, b, mesh=mesh):
                c = lax.with_sharding_constraint(a @ b, NamedSharding(mesh, P(P.UNCONSTRAINED, "y")))
                return (
                    jnp.tanh(c),
                    c.sum(0),
                    lax.with_sharding_constraint(a, NamedSharding(mesh, P())) + mesh.shape["x"],
                )

            out = tuple([NamedSharding(mesh, P(*spec)) for spec in (("y", "x"), ("x",), (None, "y"))])
            found += jax.jit(f, out_shardings=out)(*given)
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)
    return found


@program
def a_program_of_one_device_called_by_eight(devices):
    """The exported program has a mesh of its own, of one device."""
    x = numbers(8, 10)
    one = mesh_of(devices[:1], (1,), ("i",))
    platform = devices[0].platform

    def f(x):
        return lax.with_sharding_constraint(x * x, NamedSharding(one, P("i"))).sum(0)

    g = jax.jit(f, in_shardings=NamedSharding(one, P("i")), out_shardings=NamedSharding(one, P()))
    exported = jax.export.export(g, platforms=[platform])(x)
    mesh = mesh_of(devices, (8,), ("i",))
    given = on(mesh, x, "i")
    return jax.jit(exported.call)(given), jax.jit(lambda x: jnp.sin(exported.call(x)) + x)(given)


@program
def collectives(devices):
    mesh = mesh_of(devices)

    def f(x):
        i = lax.axis_index("x")
        shifted = lax.ppermute(x, "x", [(n, (n + 1) % 4) for n in range(3)])
        exchanged = lax.all_to_all(x.reshape(4, -1), "x", 0, 1, tiled=True)
        return (
            lax.psum(x, "x") + i,
            lax.pmax(x, ("x", "y")),
            lax.pmin(x, "y"),
            lax.all_gather(x, "y", tiled=True),
            lax.psum_scatter(x, "x", scatter_dimension=0, tiled=True),
            shifted,
            exchanged,
        )

    spec = P("x", "y")
    outs = (spec, spec, spec, spec, spec, spec, spec)
    return jax.jit(shard_map(f, mesh=mesh, in_specs=spec, out_specs=outs, check_vma=False))(numbers(16, 8))


@program
def groups_of_different_sizes(devices):
    mesh = mesh_of(devices, (8,), ("x",))
    groups = [[0, 3], [1, 2, 4], [5], [6, 7]]

    def f(x):
        return lax.psum((x, 2 * x), "x", axis_index_groups=groups), lax.pmax(x, "x", axis_index_groups=groups)

    each = shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    return jax.jit(each)(numbers(8, 6))


@program
def numbers_of_parts(devices):
    mesh = mesh_of(devices)
    spread = NamedSharding(mesh, P("y", "x"))
    kinds = (np.int32, np.uint8, np.float32, np.float16, np.complex64)

    def f():
        made = [lax.broadcasted_iota(kind, (8, 16), axis) for kind in kinds for axis in (0, 1)]
        made[0] = with_layout_constraint(made[0], Layout(major_to_minor=(1, 0)))
        return lax.with_sharding_constraint(made, spread), jax.random.normal(jax.random.key(0), (8, 12))

    return jax.jit(f, out_shardings=spread)()


@program
def gradients_through_shard_map(devices):
    mesh = mesh_of(devices)

    def loss(w, x):
        f = shard_map(
            lambda w, x: lax.psum(jnp.tanh(x @ w), "y"), mesh=mesh, in_specs=(P("y", None), P("x", "y")),
            out_specs=P("x", None),
        )  # fmt: skip
        return jnp.sum(f(w, x) ** 2)

    return jax.jit(jax.value_and_grad(loss))(numbers(8, 4), numbers(8, 8, seed=1))


@program
def some_axes_manual(devices):
    mesh = mesh_of(devices)
    f = shard_map(lambda x: lax.psum(x * 2, "x"), mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"})
    return jax.jit(lambda x: f(jnp.sin(x)) + 1)(on(mesh, numbers(8, 8), "x", "y"))


@program
def pmap(devices):
    f = jax.pmap(lambda x, y: (x - lax.pmean(x, "i"), y @ x), axis_name="i", in_axes=(0, None), devices=devices)
    return f(numbers(8, 4), numbers(3, 4))


@program
def elementwise_and_reductions(devices):
    mesh = mesh_of(devices)

    def f(x):
        return (
            x * 2, x.sum(1), x.max(0), x.mean(), jnp.argmax(x, 1), x.T @ x, jnp.sort(x, 0), jnp.cumsum(x, 1),
            jax.nn.softmax(x), lax.erf_inv(jnp.tanh(x)), x[1:5, ::2], x.reshape(4, 16), jnp.pad(x, 1), x[::-1],
            jnp.concatenate([x, x + 1], 0), jnp.arange(16.0) + x[0, 0],
            x[jnp.array([3, 1])], x.at[2].set(0), jnp.any(x > 1), (x > 0).sum(0), jnp.linalg.norm(x), jnp.prod(x, 1),
        )  # fmt: skip

    return jax.jit(f)(on(mesh, numbers(8, 8), "x", "y"))


@program
def loops_and_branches(devices):
    mesh = mesh_of(devices)

    def f(x, n):
        y = lax.fori_loop(0, n, lambda i, y: jnp.tanh(y @ x), x)
        z, some = lax.scan(lambda c, row: (c + row, c.sum()), jnp.zeros(8), x)
        return y, z, some, lax.cond(n > 3, lambda: x.sum(0), lambda: x.max(0))

    return jax.jit(f)(on(mesh, numbers(8, 8) / 4, "x", "y"), 5)


@program
def training_step(devices):
    mesh = mesh_of(devices)
    w1, w2 = on(mesh, numbers(16, 32), None, "y"), on(mesh, numbers(32, 4, seed=1), "y", None)
    x, y = on(mesh, numbers(24, 16, seed=2), "x", None), on(mesh, numbers(24, 4, seed=3), "x", None)

    def loss(ws, x, y):
        h = jax.nn.relu(x @ ws[0])
        return jnp.mean((h @ ws[1] - y) ** 2)

    @jax.jit
    def step(ws, x, y):
        value, grads = jax.value_and_grad(loss)(ws, x, y)
        return [w - 0.1 * g for w, g in zip(ws, grads, strict=True)], value

    return step([w1, w2], x, y)


@program
def constraints(devices):
    mesh = mesh_of(devices)

    def f(x):
        y = lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, ("x", "y"))))
        return y + 1, lax.with_sharding_constraint(y * 2, NamedSharding(mesh, P("y", "x")))

    return jax.jit(f)(on(mesh, numbers(8, 8), "x", "y"))


@program
def given_shardings(devices):
    mesh = mesh_of(devices, (8,), ("x",))
    s, whole = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
    f = jax.jit(lambda x, y: (x + y, x * y), in_shardings=(s, whole), out_shardings=(whole, s), donate_argnums=0)
    return f(numbers(16), numbers(16, seed=1))


@program
def explicit_axes(devices):
    mesh = mesh_of(devices, kind=AxisType.Explicit)
    with jax.sharding.use_mesh(mesh) if hasattr(jax.sharding, "use_mesh") else jax.set_mesh(mesh):
        x = on(mesh, numbers(8, 8), "x", None)
        return jax.jit(lambda x: jnp.einsum("ij,kj->ik", x, x, out_sharding=P("x", None)).sum(1))(x)


@program
def random_numbers(devices):
    mesh = mesh_of(devices)
    s = NamedSharding(mesh, P("x", "y"))
    return jax.jit(lambda key: jax.random.normal(key, (8, 16)), out_shardings=s)(jax.random.key(3))


@program
def arrays_move(devices):
    mesh = mesh_of(devices)
    x = on(mesh, numbers(8, 8), "x", "y")
    y = jax.device_put(x, NamedSharding(mesh, P("y", "x")))
    z = jax.device_put(x, devices[3])
    return y, z, x[2:4], x.addressable_shards[3].data, x + y


@program
def sizes_that_do_not_divide(devices):
    mesh = mesh_of(devices)
    x = on(mesh, numbers(8, 6), "x", "y")
    return jax.jit(lambda x: (x[:3] * 2, jnp.concatenate([x, x[:1]]), x.reshape(-1)[:7], x.sum(0)[:5]))(x)


@program
def reductions_from_another_start(devices):
    # XLA's partitioner adds the start once for each part; that of one device is JAX's value.
    x = on(mesh_of(devices), numbers(8, 8), "x", "y" if devices[0].platform == "pycompiler" else None)
    return jax.jit(lambda x: lax.reduce(x, 3.0, lax.add, (1,)), out_shardings=NamedSharding(x.sharding.mesh, P()))(x)


@program
def convolutions(devices):
    mesh = mesh_of(devices)
    x, w = (
        on(mesh, numbers(8, 6, 6, 4), "x", None, None, "y"),
        on(mesh, numbers(3, 3, 4, 6, seed=1) / 6, None, None, "y"),
    )

    def f(x, w):
        y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    return jax.jit(jax.value_and_grad(lambda x, w: jnp.sum(f(x, w) ** 2), (0, 1)))(x, w)


@program
def grouped_convolution(devices):
    mesh = mesh_of(devices)
    x, w = on(mesh, numbers(8, 6, 8), "x", None, "y"), numbers(3, 2, 8, seed=1)
    f = jax.jit(lambda x, w: lax.conv_general_dilated(
        x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC"), feature_group_count=4))  # fmt: skip
    return f(x, w)


@program
def gathers_and_scatters(devices):
    mesh = mesh_of(devices)
    i = np.array([3, 1, 7, 3])

    def f(x, i):
        return (
            x[i], x.at[i].add(1), jnp.take_along_axis(x, x.argsort(1), 1), x.at[:, i].set(2.0), x.at[i, i].max(0.5),
            lax.dynamic_slice(x, (i[0], 0), (2, 8)), lax.dynamic_update_slice(x, x[:2] * 3, (i[1], 0)),
            jnp.roll(x, 3, 0), jnp.diagonal(x), jnp.tril(x), jnp.repeat(x, 2, 0), jnp.tile(x, (2, 1)),
            jnp.where(x > 0, x, 0).sum(), jnp.stack([x, x], 1), jnp.squeeze(x[:, :1]), jnp.median(x, 0), jnp.flip(x, 1),
        )  # fmt: skip

    return jax.jit(f)(on(mesh, numbers(8, 8), "x", "y"), i)


@program
def gathers_and_scatters_of_parts(devices):
    mesh = mesh_of(devices)
    i = on(mesh, np.array([3, 1, 7, 3, 0, 5, 5, 2]), "x")
    x, u, base = on(mesh, numbers(16, 8), "x", "y"), on(mesh, numbers(8, 8, seed=1), "x", "y"), numbers(16, 8, seed=2)
    rows = on(mesh, np.arange(24).reshape(8, 3) % 8, "x", None)

    def f(x, u, i, base, rows):
        return (
            x[i], x[:, i], base[i], x.at[i].add(u), base.at[i].add(u), base.at[i].max(u), base.at[i].min(u),
            base.at[i].multiply(u), base.at[i].set(u), jnp.zeros((16, 8)).at[i].add(u), jax.ops.segment_sum(u, i, 9),
            jnp.take_along_axis(u, rows, 1), jax.vmap(lambda u, i: u.at[i].add(1.0))(u, rows),
            jnp.bincount(i, length=8), jax.grad(lambda x: jnp.sum(jnp.sin(x[i]) * u))(x),
            jnp.take(x, i, 0, mode="fill"),
        )  # fmt: skip

    return jax.jit(f)(x, u, i, base, rows)


@program
def windows(devices):
    mesh = mesh_of(devices)
    x = on(mesh, numbers(8, 6, 6, 4), "x", None, None, "y")

    def pooled(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")

    def f(x):
        return (
            pooled(x), jax.grad(lambda x: jnp.sum(pooled(x) ** 2))(x), jnp.cumsum(x, 1), jnp.cumsum(x, 0),
            lax.cummax(x, 3), lax.cumprod(x, 2, reverse=True), lax.cumlogsumexp(x, 1),
            lax.reduce_window(x, 0.0, lax.add, (2, 1, 3, 1), (1, 1, 2, 1), ((1, 0), (0, 0), (1, 1), (0, 0))),
            lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.uint8),
        )  # fmt: skip

    return jax.jit(f)(x)


@program
def batches_of_matrices(devices):
    mesh = mesh_of(devices)
    x = on(mesh, numbers(8, 5, 5) + 5 * np.eye(5, dtype=np.float32), "x")

    def f(x):
        q, r = jnp.linalg.qr(x)
        s = x + x.transpose(0, 2, 1)
        w, v = jnp.linalg.eigh(s)
        return q @ r, w, jnp.abs(v), jnp.linalg.svd(x)[1], jnp.linalg.solve(x, x[:, :, :2]), jnp.linalg.inv(x)

    return jax.jit(f)(x)


@program
def top_k(devices):
    mesh = mesh_of(devices)
    s = NamedSharding(mesh, P("x"))
    return jax.jit(lambda x: lax.top_k(x, 3), out_shardings=s)(on(mesh, numbers(8, 8), "x", "y"))


@program
def reshapes_and_transposes(devices):
    mesh = mesh_of(devices)

    def f(x):
        y = x.reshape(8, 2, 4)
        return y, y.transpose(2, 0, 1), x.reshape(64), x.reshape(2, 4, 8), x.reshape(2, 32) * 2, y.sum(1), x[None], x.T

    return jax.jit(f)(on(mesh, numbers(8, 8), "x", "y"))


@program
def attention(devices):
    mesh = mesh_of(devices)
    q, k, v = (on(mesh, numbers(4, 8, 4, 2, seed=n), "x", None, "y") for n in range(3))

    def f(q, k, v):
        s = jnp.einsum("bthd,bshd->bhts", q, k)
        s = jnp.where(jnp.tril(jnp.ones((8, 8), bool)), s, -1e9)
        return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(s), v)

    return jax.jit(f)(q, k, v), jax.jit(jax.grad(lambda *a: jnp.sum(f(*a) ** 2), (0, 1, 2)))(q, k, v)


@program
def parameters_over_data_axis(devices):
    mesh = mesh_of(devices, (8,), ("x",))
    w = [on(mesh, numbers(3, 16, 16) / 4, None, "x")]

    def loss(w, x):
        y, _ = lax.scan(jax.checkpoint(lambda c, w: (jnp.tanh(c @ w), None)), x, w[0])
        return jnp.mean(y**2)

    return jax.jit(jax.value_and_grad(loss), donate_argnums=0)(w, on(mesh, numbers(16, 16, seed=1), "x"))


@program
def linear_algebra(devices):
    mesh = mesh_of(devices)
    x = numbers(8, 4, 4)
    a = on(mesh, x @ x.transpose(0, 2, 1) + 4 * np.eye(4, dtype=np.float32), "x", "y")
    f = jax.jit(lambda a: (jnp.linalg.cholesky(a), jnp.linalg.inv(a), jnp.linalg.det(a), jnp.fft.rfft(a).real))
    return f(a)


@program
def meshes_of_other_orders(devices):
    one, other = mesh_of(devices), mesh_of([devices[n] for n in (3, 1, 4, 0, 5, 2, 7, 6)], (2, 4), ("a", "b"))
    x = on(other, numbers(8, 8), "a", "b")
    f = jax.jit(lambda x: (x + 1, x.sum(0)), out_shardings=NamedSharding(other, P("b")))
    y = shard_map(lambda x: lax.psum(x, "a") + lax.axis_index("b"), mesh=other, in_specs=P("b", "a"), out_specs=P("b"))
    return f(x), jax.jit(y)(x), jax.device_put(x, NamedSharding(one, P("y", "x")))


@program
def loops_in_shard_map(devices):
    mesh = mesh_of(devices)

    def f(x):
        n = lax.axis_index("x") + 1
        y = lax.fori_loop(0, n, lambda i, y: y * 2, x)
        z, _ = lax.scan(lambda c, _: (lax.ppermute(c, "y", [(0, 1), (1, 0)]) + 1, None), x, None, length=3)
        return y, z, lax.cond(n > 2, lambda: x, lambda: -x)

    spec = P("x", "y")
    return jax.jit(shard_map(f, mesh=mesh, in_specs=spec, out_specs=(spec,) * 3, check_vma=False))(numbers(8, 8))


@program
def small_dtypes(devices):
    mesh = mesh_of(devices)

    def f(x):
        b, h, i = x > 0, x.astype(jnp.bfloat16), (x * 9).astype(jnp.int8)
        return b.all(0), b.any(), jnp.sum(i, 0), i.max(), i.min(1), (x + 1j * x).sum(0), (x + 1j).T, h.max(1), b.T, i.T

    y = jax.jit(f)(on(mesh, numbers(8, 8), "x", "y"))
    return [one.astype(jnp.float32) if one.dtype == jnp.bfloat16 else one for one in y]


@program
def keys(devices):
    mesh = mesh_of(devices)
    keys = jax.device_put(jax.random.split(jax.random.key(0), 8), NamedSharding(mesh, P("x")))
    draw = jax.jit(jax.vmap(lambda key: (jax.random.uniform(key, (4,)), jax.random.permutation(key, 6))))
    return draw(keys)


@program
def eager_operators(devices):
    x = on(mesh_of(devices), numbers(8, 8), "x", "y")
    return x + 1, x @ x, x.sum(0), jnp.sort(x), x[3], x[:, ::2], jnp.exp(x).T, -x


@program
def pmap_of_collectives(devices):
    def f(x):
        return (
            lax.all_gather(x, "i"), lax.psum_scatter(x, "i", tiled=True), lax.axis_index("i"), lax.pmax(x, "i"),
            lax.all_to_all(x, "i", 0, 0, tiled=True), lax.psum(1, "i"), lax.ppermute(x, "i", [(0, 7)]),
        )  # fmt: skip

    return jax.pmap(f, axis_name="i", devices=devices)(numbers(8, 8))


@program
def one_device(devices):
    """A mesh of one: each collective has one member."""
    mesh = mesh_of(devices[:1], (1, 1))

    def f(x):
        return (
            lax.psum(x, "x") + lax.axis_index("y"),
            lax.pmax(x, ("x", "y")),
            lax.all_gather(x, "y", tiled=True),
            lax.psum_scatter(x, "x", scatter_dimension=0, tiled=True),
            lax.ppermute(x, "x", [(0, 0)]),
            lax.ppermute(x, "y", []),
            lax.all_to_all(x, "x", 0, 1, tiled=True),
        )

    spec = P("x", "y")
    mapped = shard_map(f, mesh=mesh, in_specs=spec, out_specs=(spec,) * 7, check_vma=False)
    product = shard_map(jnp.dot, mesh=mesh, in_specs=(P("y"), P("x")), out_specs=P("x", "y"))
    slopes = jax.grad(lambda x, y: jax.remat(product)(x, y).sum(), (0, 1))(numbers(3, 2), numbers(2, 4))
    each = jax.pmap(lambda x: lax.pmean(x, "i"), "i", devices=devices[:1])(numbers(1, 4))
    return jax.jit(mapped)(numbers(6, 8)), mapped(numbers(6, 8)), slopes, each


def shards(x):
    return [one.data for one in sorted(x.addressable_shards, key=lambda one: one.device.id)]


@program
def sums_that_are_not_added_up(devices):
    mesh = mesh_of(devices, kind=AxisType.Explicit)
    with jax.set_mesh(mesh):
        x, y = on(mesh, numbers(8, 4), "x", "y"), on(mesh, numbers(4, 8, seed=1), "y", None)

        def f(x, y):
            z = jnp.einsum("ij,jk->ik", x, y, out_sharding=P("x", None, unreduced={"y"}))
            w = jnp.concatenate([z, z + z], 1)
            total = lax.reduce_sum(x, (0, 1), out_sharding=P(unreduced={"x", "y"}))
            return z, reshard(z + z, P("x", "y")), reshard(w.T, P(None, "x")), reshard(total, P())

        z, *rest = jax.jit(f)(x, y)
        return shards(z), rest, jax.jit(lambda z: reshard(z + z, P("x")))(z)


@program
def wholes_and_parts_as_summands(devices):
    mesh = mesh_of(devices, kind=AxisType.Explicit)
    with jax.set_mesh(mesh):
        x = numbers(8, 8)
        whole, parts = jax.device_put(x, P()), jax.device_put(x, P("x", "y"))
        given = [
            jax.jit(lambda x, s=s: reshard(x, s))(one)
            for one in (whole, parts)
            for s in (P(unreduced={"x"}), P(unreduced={"x", "y"}), P(None, "y", unreduced={"x"}))
        ]
        return (
            [shards(one) for one in given],
            [reshard(one, P("y", "x")) for one in given],
            reshard(given[0].sum(1), P()),
        )


@program
def gradients_are_summands(devices):
    """A step's gradients are added up once, behind a loop over parts of the batch."""
    mesh = mesh_of(devices, (8,), ("x",), kind=AxisType.Explicit)
    with jax.set_mesh(mesh):
        w = jax.device_put(numbers(4, 4), P(reduced={"x"}))
        x = jax.device_put(numbers(3, 8, 4, seed=1), P(None, "x", None))

        @jax.jit
        def step(w, x):
            start = reshard(jnp.zeros_like(w), P(unreduced={"x"}))
            grad = jax.grad(lambda w, x: jnp.sum(jnp.sin(x @ w)))
            total, _ = lax.scan(lambda sum, x: (sum + grad(w, x), None), start, x)
            return reshard(w, P()) - 0.1 * reshard(total, P())

        return step(w, x)


@program
def summands_of_parts(devices):
    mesh = mesh_of(devices, kind=AxisType.Explicit)
    with jax.set_mesh(mesh):
        x, y = on(mesh, numbers(8, 4), None, "x"), on(mesh, numbers(4, 8, seed=1), "x", None)
        f = shard_map(
            lambda x, y: lax.psum(x @ y, "x"),
            in_specs=(P(None, "x"), P("x", None)), out_specs=P(),
        )  # fmt: skip
        given = shard_map(lambda x, y: x @ y, in_specs=(P(None, "x"), P("x", None)), out_specs=P(unreduced={"x"}),
                          check_vma=False)  # fmt: skip
        z = jax.jit(given)(x, y)
        taken = shard_map(lambda z: lax.psum(z, "x"), in_specs=P(unreduced={"x"}), out_specs=P(), check_vma=False)
        w = jax.device_put(numbers(4, 2), P(reduced={"x"}))
        loss = jax.grad(lambda w, x: shard_map(lambda x, w: lax.psum(jnp.sum(jnp.sin(x @ w)), "x"),
                                               in_specs=(P("x"), P(reduced={"x"})), out_specs=P())(x, w))  # fmt: skip
        slope = jax.jit(loss)(w, on(mesh, numbers(8, 4, seed=2), "x", None))
        return jax.jit(f)(x, y), shards(z), reshard(z, P("x")), jax.jit(taken)(z), shards(slope), reshard(slope, P())


@program
def greatest_and_least_elements(devices):
    mesh = mesh_of(devices)
    functions = lax.top_k, lax.approx_max_k, lax.approx_min_k

    def f(x):
        return [function(x, 3) for function in functions], lax.approx_max_k(x, 2, reduction_dimension=0)

    g = jax.jit(f, out_shardings=NamedSharding(mesh, P()))
    return [g(on(mesh, numbers(16, 8), *spec)) for spec in (("x",), ("x", "y"), (None, ("x", "y")))]


@program
def arrays_without_elements(devices):
    mesh = mesh_of(devices)

    def f(x):
        scanned = [lax.associative_scan(jnp.add, x, axis=axis, reverse=axis == 1) for axis in (0, 1)]
        ends = jnp.concatenate([x[:0], x, x[16:]]) * 2
        return *scanned, ends, x[:0].sum(0), (x[:, :0] @ x[:, :0].T).sum()

    places = [NamedSharding(mesh, P(*spec)) for spec in (("x",), ("x", "y"), (None, "y"), (("y", "x"),))]
    values = [numbers(16, 8), numbers(16, 8) * (1 + 2j)]
    given = [jax.device_put(values[0], place) for place in places] + [jax.device_put(x, places[1]) for x in values[1:]]
    return [jax.jit(f, out_shardings=NamedSharding(mesh, P()))(x) for x in given]


@program
def divided_updates(devices):
    mesh = mesh_of(devices)

    def cache(x, row):
        def step(carry, i):
            kept, count = carry
            kept = lax.dynamic_update_slice(kept, jnp.sin(row + kept[:4]), (i * 3, 0))
            return (kept, count + kept.sum()), kept[i]

        return lax.scan(step, (x, jnp.float32(0)), jnp.arange(5))

    x, u = numbers(16, 8), numbers(4, 4, seed=1)
    found = []
    for given in ((), ("x", "y"), (("y", "x"),)):
        for update in ((), ("x",), ("x", "y"), ("y", "x")):
            big, small = on(mesh, x, *given), on(mesh, u, *update)
            found += [
                jax.jit(lambda x, u, i: lax.dynamic_update_slice(x, jnp.cos(u), (i, 2)))(big, small, start)
                for start in (3, 14)
            ]
        found += [
            jax.jit(cache)(big, on(mesh, numbers(4, 8), "x")),
            jax.jit(lambda x: lax.dynamic_update_slice(x, x[:8] * 3, (5, 0)))(big),
            jax.jit(jax.grad(lambda x: (lax.dynamic_update_slice(x, x[:8] * 3, (5, 0)) ** 2).sum()))(big),
        ]
    return found


@program
def collectives_that_are_started(devices):
    mesh = mesh_of(devices, (8,), ("x",))

    def f(x):
        rows = parallel.all_gather_start(x, "x", tiled=True)
        total = parallel.psum_start(x, "x").done()
        part = parallel.psum_scatter_start(x, "x", scatter_dimension=0, tiled=True)
        turned = parallel.ppermute_start(x, "x", [(i, (i + 1) % 8) for i in range(8)])
        exchanged = parallel.all_to_all_start(x, "x", split_axis=0, concat_axis=0, tiled=True)
        product = jnp.sin(x) @ jnp.ones((3, 3))
        schedule([rows.x, product, total])
        lax.dce_sink(total + product, prevent_mlir_dce=True)
        scanned = lax.scan(lambda c, row: (parallel.psum_start(row + c, "x").done(), row), jnp.zeros(3), x)[0]
        return total, rows.done(), scanned, part.done(), turned.done(), exchanged.done(), product

    outs = (P(), P(), P(), P("x"), P("x"), P("x"), P("x"))
    return jax.jit(shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=outs, check_vma=False))(numbers(64, 3))


def flat(tree):
    return [(np.asarray(x), x.sharding) for x in jax.tree.leaves(tree)]


def main(names):
    failed = 0
    for name in names or PROGRAMS:
        try:
            theirs = flat(PROGRAMS[name](jax.devices("cpu")))
            with jax.default_device(jax.devices("pycompiler")[0]):
                ours = flat(PROGRAMS[name](jax.devices("pycompiler")))
            for number, ((a, placed), (b, wanted)) in enumerate(zip(ours, theirs, strict=True)):
                np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5, err_msg=f"result {number}")
                assert a.dtype == b.dtype
                parts = placed.shard_shape(a.shape), wanted.shard_shape(b.shape)
                assert parts[0] == parts[1], (number, placed, wanted)
        except Exception:
            failed += 1
            print(f"{name}:", traceback.format_exc(limit=3)[-1500:])
    print(f"{failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
