"""JAX's programs for several devices, in processes of their own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

ENVIRONMENT = {
    **os.environ,
    "JAX_PLATFORMS": "pycompiler",
    "PYCOMPILER_NUM_CPU_DEVICES": "8",
    "PYCOMPILER_ENABLE_COMPILATION_CACHE": "0",
}
PROLOGUE = """
import jax, jax.numpy as jnp, numpy as np
from jax import lax, shard_map
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
x = jax.device_put(np.arange(64.0, dtype=np.float32).reshape(8, 8), NamedSharding(mesh, P("x", "y")))
"""


def run(*arguments, timeout=400):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def program(text):
    return run("-c", PROLOGUE + textwrap.dedent(text))


def test_programs_have_the_values_of_xla():
    assert "0 failed" in run(str(Path(__file__).with_name("several_devices.py")))


def test_sizes_that_do_not_divide_are_jaxs_error():
    said = program("""
        try:
            jax.device_put(np.zeros(6), NamedSharding(mesh, P("x")))
        except ValueError as error:
            print(error)
    """)
    assert "divi" in said


def test_without_shardy_arrays_are_divided_and_shard_map_is_refused():
    said = program("""
        jax.config.update("jax_use_shardy_partitioner", False)
        compiled = jax.jit(lambda x: x * 2, out_shardings=NamedSharding(mesh, P(None, "x"))).lower(x).compile()
        print(compiled.input_shardings[0][0].spec, compiled.output_shardings.spec, "f32[8,2]" in compiled.as_text())
        try:
            jax.jit(shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))(x)
        except jax.errors.JaxRuntimeError as error:
            print(error)
    """)
    assert "P('x', 'y') P(None, 'x') True" in said.replace("PartitionSpec", "P")
    assert "shard_map of a program lowered without Shardy is not supported" in said
    assert "jax_use_shardy_partitioner=True" in said


def test_sums_are_of_parts():
    said = program("""
        text = jax.jit(lambda x: x.sum(1)).lower(x).compile().as_text()
        print("all-reduce" in text, "all-gather" in text, "f32[2,4]" in text)
    """)
    assert said.split() == ["True", "False", "True"]


def test_random_numbers_are_made_in_parts():
    said = program("""
        spread = NamedSharding(mesh, P("x", "y"))
        f = jax.jit(lambda: jax.random.bits(jax.random.key(0), (24, 40)), out_shardings=spread)
        text = f.lower().compile().as_text()
        print("[6,20]" in text, "[24,40]" in text, "all-gather" in text)
    """)
    assert said.split() == ["True", "False", "False"]


def test_a_program_is_divided_once():
    said = program("""
        from pycompiler.pjrt import source
        divide, times = source.divide, []
        source.divide = lambda *args: times.append(1) or divide(*args)
        print(jax.jit(lambda x: x @ x.T + 1)(x).shape, len(times))
    """)
    assert said.strip() == "(8, 8) 1"


def test_donated_arrays_that_no_result_can_take_stay():
    said = program("""
        f = jax.jit(lambda a, b, c: (c.reshape(-1), a.sum(1)), donate_argnums=(0, 1, 2))
        a, b, c = x, jnp.copy(x), jax.device_put(np.ones((8, 2), np.int32), NamedSharding(mesh, P("x")))
        f(jax.device_put(a.astype(complex), a.sharding), b, c)
        d = jax.device_put(np.ones(16, np.float32), NamedSharding(mesh, P("x")))
        g = jax.jit(lambda d: (d > 0).astype(np.int32).reshape(8, 2), donate_argnums=0, out_shardings=c.sharding)
        g(d)
        print(b.is_deleted(), c.is_deleted(), d.is_deleted())
    """)
    assert said.split() == ["False", "True", "True"]


def test_shardings_inside_of_a_program_are_told():
    said = program("""
        def f(x):
            jax.debug.inspect_array_sharding(x.T * 2, callback=lambda s: print(type(s).__name__, s.shard_shape((8, 8))))
            return x + 1
        jax.jit(f)(x)
        inner = lambda x: jax.debug.inspect_array_sharding(x, callback=lambda s: print(s.spec)) or x
        jax.jit(shard_map(inner, mesh=mesh, in_specs=P("x"), out_specs=P("x")))(x)
    """)
    assert said.splitlines() == ["NamedSharding (4, 2)", "P()"]


def test_neighbouring_sums_are_one_collective():
    said = program("""
        y = jnp.ones((8, 3), np.int32)
        f = shard_map(lambda *a: [lax.psum(x, "x") for x in a], mesh=mesh, in_specs=P("x"), out_specs=P())
        f = jax.jit(f)
        text = f.lower(x, 2 * x, y).compile().as_text()
        wanted = [np.asarray(a).reshape(4, 2, -1).sum(0) for a in (x, 2 * x, y)]
        print(text.count("all-reduce("), all(map(np.array_equal, f(x, 2 * x, y), wanted)))
    """)
    assert said.split() == ["2", "True"]


def test_sums_that_are_to_be_divided_are_scattered():
    said = program("""
        f = jax.jit(lambda x: x.sum(1), out_shardings=NamedSharding(mesh, P(("x", "y"))))
        text = f.lower(x).compile().as_text()
        print("reduce-scatter" in text, "all-gather" in text, np.array_equal(f(x), np.asarray(x).sum(1)))
    """)
    assert said.split() == ["True", "False", "True"]


def test_an_axis_goes_from_one_dimension_to_another():
    said = program("""
        x = jax.device_put(x, NamedSharding(mesh, P("x")))
        f = jax.jit(lambda x: x + 1, out_shardings=NamedSharding(mesh, P(None, "x")))
        text = f.lower(x).compile().as_text()
        print("all-to-all" in text, "all-gather" in text, np.array_equal(f(x), np.asarray(x) + 1))
    """)
    assert said.split() == ["True", "False", "True"]


def test_summands_are_added_once_behind_a_loop():
    said = program("""
        mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
        with jax.set_mesh(mesh):
            w = jax.device_put(np.ones((4, 4), np.float32), P(reduced={"x"}))
            x = jax.device_put(np.ones((3, 8, 4), np.float32), P(None, "x"))
            start = lambda: jax.sharding.reshard(jnp.zeros((4, 4)), P(unreduced={"x"}))
            grad = jax.grad(lambda w, x: jnp.sum(x @ w))
            f = lambda w, x: jax.sharding.reshard(lax.scan(lambda s, x: (s + grad(w, x), None), start(), x)[0], P())
            print(jax.jit(f).lower(w, x).compile().as_text().count("all-reduce("), float(jax.jit(f)(w, x).sum()))
    """)
    assert said.split() == ["1", str(3 * 8 * 16.0)]


def test_complex_summands_and_results_of_callbacks():
    """XLA's CPU crashes in some of these."""
    said = program("""
        mesh = jax.make_mesh((4, 2), ("x", "y"))
        with jax.set_mesh(mesh):
            a = (np.arange(128.0).reshape(16, 8) * (1 - 3j)).astype(np.complex64)
            given = jax.device_put(a, P("x", "y"))
            one = jax.sharding.reshard(given, P(None, "y", unreduced={"x"}))
            both = jax.sharding.reshard(given, P(unreduced={"x", "y"}))
            start = jax.sharding.reshard(jnp.zeros((16, 8), np.complex64), P(unreduced={"x"}))
            moved = [jax.sharding.reshard(some, P("x")) for some in (one, both, start)]
        print([np.array_equal(some, a * factor) for some, factor in zip(moved, (1, 1, 0), strict=True)])
        f = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(x) * 2j, x, x) + 1)
        print(np.array_equal(f(x.astype(np.complex64)), np.asarray(x) * 2j + 1))
    """)
    assert said.split() == ["[True,", "True,", "True]", "True"]


def test_gathers_scatters_and_windows_are_of_parts():
    said = program("""
        x = jax.device_put(x, NamedSharding(mesh, P("x")))
        i = jax.device_put(np.arange(8) % 3, NamedSharding(mesh, P("x")))
        w = np.ones((5, 8), np.float32)
        for f in (
            lambda x, i: jnp.asarray(w)[i] + x,
            lambda x, i: jax.vmap(lambda x, i: x.at[i].add(1))(x, i),
            lambda x, i: lax.cumsum(x, 1),
            lambda x, i: jnp.linalg.qr(x[:, :, None])[1],
        ):
            print("all-gather" in jax.jit(f).lower(x, i).compile().as_text(), end=" ")
        f = lambda x, i: jax.ops.segment_sum(x, i, 3)
        text = jax.jit(f).lower(x, i).compile().as_text()
        print("all-gather" in text, "all-reduce" in text)
    """)
    assert said.split() == ["False"] * 5 + ["True"]


def test_an_operation_that_is_not_divided_is_computed_whole():
    said = program("""
        f = jax.jit(lambda x: lax.cumsum(x, 0))
        print("all-gather" in f.lower(x).compile().as_text(), np.array_equal(f(x), np.cumsum(np.asarray(x), 0)))
    """)
    assert said.split() == ["True", "True"]


def test_callbacks_run_once():
    said = program("""
        calls = []
        def host(x):
            calls.append(1)
            return np.asarray(x) * 2
        f = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + 1)
        print(np.array_equal(f(x), np.asarray(x) * 2 + 1))
        jax.jit(lambda x: jax.debug.print("said {}", x.sum()))(x)
        jax.effects_barrier()
        print("called", len(calls))
    """)
    assert said.count("True") == 1
    assert said.count("said 2016.0") == 1
    assert "called 1" in said


def test_callbacks_of_parts():
    said = program("""
        f = lambda x: (jax.debug.print("part {}", x.sum() * 0), x * 2)[1]
        jax.block_until_ready(jax.jit(shard_map(f, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y")))(x))
        jax.effects_barrier()
    """)
    assert said.count("part 0.0") == 8


def test_ordered_callbacks_without_results_in_shard_map():
    said = program("""
        from jax.experimental import io_callback
        mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        def f(x, y):
            io_callback(lambda part: print("part", part.shape), (), x, ordered=True)
            return x + y[..., None]
        f = jax.jit(shard_map(f, mesh=mesh, in_specs=(P(None, "i"), P(None)), out_specs=P(None, "i")))
        out = f(jnp.zeros((2, 16)), jnp.ones(2))
        jax.effects_barrier()
        print(float(out.sum()))
    """)
    assert said.count("part (2, 4)") == 4
    assert "32.0" in said


def test_ordered_callbacks_run_once_in_order():
    said = program("""
        from jax.experimental import io_callback
        seen = []
        def host(x):
            seen.append(float(np.sum(x)))
            return np.asarray(x) + 1
        def f(x):
            y = io_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x, ordered=True)
            return io_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), y, ordered=True)
        f = jax.jit(f, out_shardings=NamedSharding(mesh, P()))
        print(np.array_equal(f(x), np.asarray(x) + 2), list(seen))
        print(np.array_equal(f(f(x)), np.asarray(x) + 4), len(seen))
    """)
    assert said.split() == ["True", "[2016.0,", "2080.0]", "True", "6"]


def test_partitioned_callbacks_are_of_parts():
    said = program("""
        jax.jit(lambda x: jax.debug.print("rows {}", x.sum(1), partitioned=True))(x)
        jax.jit(lambda x: jax.debug.callback(lambda x: print("part", x.shape), x + 1, partitioned=True))(x)
        jax.effects_barrier()
    """)
    assert said.count("part (2, 4)") == 8
    assert said.count("rows [28. 92.]") == 2


DIVISION = """
    from jax.experimental.custom_partitioning import custom_partitioning

    @custom_partitioning
    def f(x, w):
        return jnp.sin(x) @ w, x.sum(1)

    def part(mesh, given, made):
        rows = NamedSharding(mesh, P(given[0].sharding.spec[0], None))
        print("asked", given[0].sharding.spec, [str(one.dtype) for one in made])
        outs = rows, NamedSharding(mesh, P(rows.spec[0]))
        return mesh, lambda x, w: (jnp.sin(x) @ w + 1, x.sum(1)), outs, (rows, NamedSharding(mesh, P(None, None)))

    f.def_partition(partition=part, sharding_rule="i j, j k -> i k, i")
    w = np.arange(40, dtype=np.float32).reshape(8, 5)
    whole = np.sin(np.asarray(x)) @ w, np.asarray(x).sum(1)
"""


def test_functions_that_bring_their_division():
    said = program(
        textwrap.dedent(DIVISION)
        + textwrap.dedent("""
        for spec in ("x", "y"), ("x",), (("x", "y"),), (None, "y"), ():
            given = jax.device_put(x, NamedSharding(mesh, P(*spec)))
            product, sums = jax.jit(f)(given, w)
            parts = NamedSharding(mesh, P(*spec[:1])).shard_shape((8, 5))
            right = np.allclose(product, whole[0] + 1, atol=1e-4), np.allclose(sums, whole[1])
            print(*right, product.sharding.shard_shape((8, 5)) == parts)
        g = jax.jit(lambda x, w: lax.scan(lambda c, _: (c + f(x * 2, w)[0].sum(0), None), jnp.zeros(5), None, 3)[0])
        wanted = 3 * (np.sin(2 * np.asarray(x)) @ w + 1).sum(0)
        print("loop", np.allclose(g(x, w), wanted, atol=1e-2))

        @custom_partitioning
        def total(x):
            return x.sum(0)

        def summand(mesh, given, made):
            return mesh, lambda x: lax.psum(x.sum(0), "x"), NamedSharding(mesh, P()), (NamedSharding(mesh, P("x")),)

        total.def_partition(partition=summand, sharding_rule="i j -> j")
        print("sum", np.array_equal(jax.jit(total)(x), np.asarray(x).sum(0)), total(np.ones((2, 3))).shape)
        """)
    )
    assert said.count("True True True") == 5, said
    assert "asked P('x', 'y') ['float32', 'float32']" in said.replace("PartitionSpec", "P")
    assert "loop True" in said
    assert "sum True (3,)" in said


def test_a_division_of_the_programs_own_is_in_jaxs_cache_alone(tmp_path):
    settings = {
        "PYCOMPILER_ENABLE_COMPILATION_CACHE": "1",
        "PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path / "ours"),
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax"),
        "JAX_REMOVE_CUSTOM_PARTITIONING_PTR_FROM_CACHE_KEY": "1",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    ENVIRONMENT.update(settings)
    try:
        text = textwrap.dedent(DIVISION) + textwrap.dedent("""
            compiled = jax.jit(f).lower(x, w).compile()
            print(np.allclose(compiled(x, w)[0], whole[0] + 1, atol=1e-4), "f32[2,8]" in compiled.as_text())
        """)
        first, again = program(text), program(text)
    finally:
        for name in settings:
            del ENVIRONMENT[name]
        ENVIRONMENT["PYCOMPILER_ENABLE_COMPILATION_CACHE"] = "0"
    assert ("asked" in first, "asked" in again) == (True, False)
    assert first.endswith("True True\n")
    assert again.endswith("True True\n")
