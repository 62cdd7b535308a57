"""What JAX asks of a backend besides values: arrays, donation, deletion, statistics, errors, exchange."""

import array
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def ours(device):
    with jax.default_device(device):
        yield


def test_platforms_are_beside_each_other(device):
    assert device.platform == "pycompiler"
    other = jax.devices("cpu")[0]
    x = jax.device_put(np.arange(3), device)
    y = jax.device_put(x, other)
    assert (x.devices(), y.devices()) == ({device}, {other})
    np.testing.assert_array_equal(jax.device_put(y, device), np.arange(3))
    assert jax.jit(lambda x: x + 1, device=other)(1).devices() == {other}


def test_a_donated_array_gives_its_memory():
    x = jnp.ones(100_000)
    before = x.unsafe_buffer_pointer()
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    assert y.unsafe_buffer_pointer() == before
    np.testing.assert_array_equal(y, 2)
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(x)


def test_a_donated_array_is_one_argument_alone():
    x = jnp.zeros(10)
    f = jax.jit(lambda x, y: x + y, donate_argnums=0)
    with pytest.raises(jax.errors.JaxRuntimeError, match="the same array is another argument"):
        f(x, x)
    np.testing.assert_array_equal(f(x, jnp.copy(x)), np.zeros(10))


def test_a_donated_array_that_numpy_reads_is_copied():
    x = jnp.ones(1000)
    seen = np.asarray(x)
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    np.testing.assert_array_equal(seen, 1)
    np.testing.assert_array_equal(y, 2)


def test_numpys_memory_is_read_in_place_and_never_written():
    memory = np.zeros(1 << 16, np.float32)
    start = -memory.ctypes.data % 64 // 4
    given = memory[start : start + 1024]
    x = jax.device_put(given, may_alias=True)
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    np.testing.assert_array_equal(y, 1)
    np.testing.assert_array_equal(memory, 0)


def test_strides_of_numpy():
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    np.testing.assert_array_equal(jax.device_put(x.transpose(2, 0, 1)), x.transpose(2, 0, 1))
    np.testing.assert_array_equal(jax.device_put(x[:, ::-1, ::2]), x[:, ::-1, ::2])


def test_deletion_and_readiness():
    x = jnp.ones(10)
    assert x.block_until_ready().is_ready()
    x.delete()
    assert x.is_deleted()


def test_statistics_and_analyses(device):
    assert device.memory_stats()["bytes_in_use"] >= 0
    compiled = jax.jit(lambda x: x @ x).lower(np.ones((64, 64), np.float32)).compile()
    assert compiled.cost_analysis()["flops"] > 2 * 64**3 / 2
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 64 * 64 * 4
    assert "dot" in compiled.as_text()
    kept = jnp.ones(3)
    assert any(live is kept for live in jax.live_arrays("pycompiler"))
    assert compiled.output_formats is not None


def test_an_error_of_a_callback_is_raised_and_the_next_call_works():
    def fail(x):
        raise ValueError("it broke")

    f = jax.jit(lambda x: jax.pure_callback(fail, jax.ShapeDtypeStruct((), np.float32), x))
    with pytest.raises(jax.errors.JaxRuntimeError, match="it broke"):
        (f(1.0) + 1).block_until_ready()
    np.testing.assert_array_equal(jax.jit(lambda x: x + 1)(1.0), 2)


def test_too_much_memory_is_an_error(device):
    limit = device.memory_stats()["bytes_limit"]
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"RESOURCE_EXHAUSTED.*out of memory"):
        jnp.zeros((limit,), np.float32).block_until_ready()


def test_dlpack():
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(np.from_dlpack(x), np.arange(6.0).reshape(2, 3))
    y = jnp.from_dlpack(np.arange(5))
    np.testing.assert_array_equal(y + 1, np.arange(5) + 1)
    np.testing.assert_array_equal(jnp.from_dlpack(x), x)


def test_many_threads():
    f = jax.jit(lambda x, n: jnp.sin(x) + n)
    failures = []

    def work(number):
        try:
            for turn in range(20):
                got = f(np.full(2000, turn, np.float32), number)
                np.testing.assert_allclose(got, np.sin(np.float32(turn)) + number, rtol=1e-5)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_memory_of_the_host_is_taken_without_a_copy(device):
    for x in (np.arange(4, dtype=np.int32), array.array("i", [0, 1, 2, 3])):
        np.testing.assert_array_equal(jnp.asarray(x, copy=False), [0, 1, 2, 3])
        np.testing.assert_array_equal(jnp.asarray(x, copy=False, device=device), [0, 1, 2, 3])


def test_memories():
    x = jnp.ones(3)
    assert x.sharding.memory_kind == "device"
    y = jax.device_put(x, x.sharding.with_memory_kind("pinned_host"))
    assert y.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(y, 1)


@pytest.mark.parametrize("platforms", [["cpu"], ["pycompiler"], ["cuda", "cpu"]])
def test_exported_programs_of_several_sizes(platforms):
    (size,) = jax.export.symbolic_shape("n")
    f = jax.jit(lambda x: jax.lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos).cumsum() * x.shape[0])
    exported = jax.export.export(f, platforms=platforms)(jax.ShapeDtypeStruct((size,), np.float32))
    for n in (1, 3, 8):
        x = np.arange(n, dtype=np.float32)
        wanted = np.cumsum(np.sin(x)) * n
        np.testing.assert_allclose(exported.call(x), wanted, rtol=1e-5)
        np.testing.assert_allclose(jax.jit(lambda x: exported.call(x) + 1)(x), wanted + 1, rtol=1e-5)


@pytest.mark.parametrize("platform", ["cpu", "pycompiler"])
@pytest.mark.parametrize("algorithm", ["RNG_DEFAULT", "RNG_THREE_FRY", "RNG_PHILOX"])
@pytest.mark.parametrize("dtype", ["uint8", "uint32"])
def test_bits_of_exported_programs(platform, algorithm, dtype):
    def draw(key, x):
        return jax.lax.rng_bit_generator(key, (x.shape[0], 3), dtype, getattr(jax.lax.RandomAlgorithm, algorithm))

    (size,) = jax.export.symbolic_shape("n")
    key, x = np.arange(4, dtype=np.uint32), np.zeros(5, np.float32)
    with jax.default_device(jax.devices("cpu")[0]):
        wanted = jax.tree.map(np.asarray, jax.jit(draw)(key, x))
    for given in (x, jax.ShapeDtypeStruct((size,), np.float32)):
        exported = jax.export.export(jax.jit(draw), platforms=[platform])(key, given)
        jax.tree.map(np.testing.assert_array_equal, exported.call(key, x), wanted)


def test_an_exported_program_in_one_for_several_platforms():
    x = np.arange(4, dtype=np.float32)

    def f(x):
        return jax.lax.platform_dependent(x, cpu=jnp.sin, cuda=jnp.cos, default=jnp.tan)

    inner = jax.export.export(jax.jit(f), platforms=["tpu", "cpu", "cuda"])(x)
    outer = jax.export.export(jax.jit(lambda x: inner.call(x) + 1), platforms=["cuda", "pycompiler"])(x)
    np.testing.assert_allclose(outer.call(x), np.sin(x) + 1, rtol=1e-6)
    with pytest.raises(ValueError, match="exported for platforms"):
        jax.export.export(jax.jit(inner.call), platforms=["pycompiler", "rocm"])(x)


def test_a_program_exported_for_another_platform_is_jaxs_error():
    exported = jax.export.export(jax.jit(jnp.sin), platforms=["cuda"])(1.0)
    with pytest.raises(ValueError, match="exported for platforms"):
        exported.call(1.0)


def test_options_of_xla_have_no_effect_and_others_are_refused():
    lowered = jax.jit(jnp.sin).lower(1.0)
    assert lowered.compile(compiler_options={"xla_embed_ir_in_executable": True})(1.0) == jnp.sin(1.0)
    with pytest.raises(jax.errors.JaxRuntimeError, match="No such compile option: 'no_option'"):
        lowered.compile(compiler_options={"no_option": 1})
    with pytest.raises(jax.errors.JaxRuntimeError, match="No such compile option: 'xla_no_option'"):
        lowered.compile(compiler_options={"xla_no_option": 1})
    with pytest.raises(jax.errors.JaxRuntimeError, match="not a valid bool value"):
        lowered.compile(compiler_options={"xla_embed_ir_in_executable": "perhaps"})


def test_a_kept_program_is_not_read_again(tmp_path, monkeypatch):
    """JAX reads layouts from the text of a program, which is kept beside its code."""
    from pycompiler.core.config.config import config
    from pycompiler.pjrt import source

    def read(code):
        raise AssertionError("the program is read")

    texts, values = [], []
    # JAX compiles in a thread of its own.
    settings = {"enable_compilation_cache": True, "compilation_cache_dir": str(tmp_path / "c")}
    before = {name: getattr(config, name) for name in settings}
    try:
        for name, value in settings.items():
            config.update(name, value)
        # In one place: the locations of a program are a part of it.
        for reader in (source._read, read):
            monkeypatch.setattr(source, "_read", reader)
            jax.clear_caches()
            source._texts.clear()
            made = jax.jit(lambda x: jnp.sin(x).T + 1).lower(np.ones((2, 3), np.float32)).compile()
            texts.append(made.as_text())
            values.append(np.asarray(made(np.full((2, 3), 0.5, np.float32))))
    finally:
        for name, value in before.items():
            config.update(name, value)
    assert "sine" in texts[0]
    assert texts[1] == texts[0]
    np.testing.assert_array_equal(values[1], values[0])
