"""Settings by JAX's names: supported ones have their effect; others are accepted, with a message."""

import contextlib
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core import source
from pycompiler.core.config.settings import ALIASES, INERT, JAX_VARIABLES, TABLE


@pytest.fixture(autouse=True)
def _as_before():
    source._warned.clear()
    before = {setting.name: pc.config.read(setting.name) for setting in TABLE}
    yield
    for name, value in before.items():
        if pc.config.read(name) != value:
            pc.config.update(name, value)


NAMES = sorted(name.removeprefix("jax_") for name in jax.config._value_holders)

# Settings that only JAX's own tools and tests read.
INTERNAL = {
    *("check_vma", "eager_constant_folding", "jax2tf_default_native_serialization", "mock_num_gpu_processes"),
    *("mock_gpu_topology", "refs_to_pins", "remat3", "scan3", "mosaic_allow_hlo", "serialization_version"),
    *("debug_leaked_clients_on_clear_backends", "force_dcn_cross_host_transfers", "oneapi_visible_devices"),
    *("pallas_poison_buffers", "pallas_verbose_errors", "ragged_dot_use_gpu_pallas_triton_lowering"),
    *("use_emit_pipeline_primitive", "cpu_get_global_topology_timeout_minutes"),
    *("cpu_get_local_topology_timeout_minutes", "cross_host_transfer_socket_address"),
    *("cross_host_transfer_timeout_seconds", "cross_host_transfer_transfer_size", "cross_host_transport_addresses"),
}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in INTERNAL])
def test_every_setting_of_jax_is_known(name):
    value = getattr(pc.config, f"jax_{name}")
    assert pc.config.read(f"jax_{name}") == value


def test_the_names_are_those_of_jax():
    jaxs = set(NAMES) | {"enable_empty_arrays"}
    assert set(INERT) <= jaxs
    assert set(ALIASES) <= jaxs
    assert set(JAX_VARIABLES) <= jaxs
    assert not set(INERT) & {setting.name for setting in TABLE}


@pytest.mark.parametrize("name", INERT)
def test_what_changes_nothing_is_taken_and_said_once(name):
    before = pc.config.read(name)
    pc.config._told_of.discard(name)
    with pytest.warns(UserWarning, match=f"jax_{name} is a setting of JAX's that changes nothing here"):
        pc.config.update(f"jax_{name}", before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pc.config.update(f"jax_{name}", "other")
        assert getattr(pc.config, f"jax_{name}") == "other"
        pc.config.update(f"jax_{name}", before)


@pytest.mark.parametrize(
    "name",
    [
        *("enable_checks", "softmax_custom_jvp", "thread_guard", "allow_f16_reductions"),
        "array_garbage_collection_guard",
    ],
)
def test_contexts_that_change_nothing(name):
    pc.config._told_of.discard(name)
    with pytest.warns(UserWarning, match="changes nothing here"), getattr(pc, name)(True):
        assert float(pc.jit(lambda x: x + 1)(1.0)) == 2


def test_unknown_names():
    for kind in (ValueError, AttributeError):  # JAX raises the latter
        with pytest.raises(kind, match="no setting 'jax_no_such_thing'"):
            pc.config.update("jax_no_such_thing", 1)
    with pytest.raises(AttributeError, match="no setting 'jax_no_such_thing'"):
        _ = pc.config.jax_no_such_thing
    with pytest.raises(AttributeError):
        _ = pc.config._no_such_thing


def test_all_values_by_names_of_jax():
    assert pc.config.values["jax_enable_x64"] is pc.config.x64_enabled is False
    with pc.enable_x64():
        assert pc.config.values["jax_enable_x64"] is pc.config.x64_enabled is True
    assert {f"jax_{name}" for name in INERT} <= set(pc.config.values)


def test_values_by_names_of_jax():
    pc.config.update("jax_enable_x64", True)
    assert pc.config.jax_enable_x64
    assert pnp.arange(3).dtype == np.int64
    pc.config.update("jax_enable_x64", False)
    with pc.check_tracer_leaks():
        assert pc.config.jax_check_tracer_leaks
        assert pc.config.checking_leaks
    pc.config.update("jax_platforms", "cpu")
    assert pc.config.jax_platforms == pc.config.jax_platform_name == "cpu"
    pc.config.update("jax_platforms", "")
    assert pc.config.jax_platforms is None
    with pytest.raises(ValueError, match="no platform 'tpu'"):
        pc.config.update("jax_platforms", "cpu,tpu")
    with pc.default_prng_impl("rbg"):
        assert pc.config.jax_default_prng_impl == "rbg"
    with pytest.raises(ValueError, match=r"default_prng_impl must be .*'unsafe_rbg'.*, got 'philox'"):
        pc.config.update("jax_default_prng_impl", "philox")


RANKS = [
    (pnp.add, (np.ones((2, 3), np.float32), np.ones(3, np.float32))),
    (pnp.logaddexp, (np.ones((1, 2, 3), np.float32), np.ones((2, 3), np.float32))),
    (lambda x, y: pnp.asarray(x) * pnp.asarray(y), (np.ones((2, 3), np.float32), np.ones(3, np.float32))),
    (lambda x, y: y < pnp.asarray(x), (np.ones((2, 3), np.float32), np.ones(3, np.float32))),
    (pnp.power, (np.ones((2, 3), np.float32), np.ones((1,), np.float32))),
]


@pytest.mark.parametrize(("f", "args"), RANKS)
@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_rank_promotion(f, args, wrap):
    f(*args)
    with pc.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="different numbers of axes"):
        wrap(lambda *xs: f(*xs))(*args)
    with pc.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="different numbers of axes"):
        wrap(lambda *xs: f(*xs))(*args)
    wrap(lambda *xs: f(*xs))(*args)


def test_ranks_that_are_alike_and_scalars_are_no_promotion():
    pc.config.update("jax_numpy_rank_promotion", "RAISE")
    x = pnp.ones((2, 3))
    for result in (
        x + 1,
        x * pnp.float32(2),
        pnp.where(x > 0, x, 0),
        x + pnp.ones((1, 3)),
        pnp.var(x),
        x - x.mean(0, keepdims=True),
    ):
        assert result.dtype == np.float32
    with pytest.raises(ValueError, match="numpy_rank_promotion must be 'allow' or 'warn' or 'raise'"):
        pc.config.update("jax_numpy_rank_promotion", "perhaps")


F32, F16, BF16 = np.float32, np.float16, pnp.bfloat16.dtype
LINES = np.arange(12, dtype=F32).reshape(2, 6)
# Functions that compose operands of several ranks and dtypes from equal arguments.
COMPOSED = {
    "corrcoef": lambda: pnp.corrcoef(LINES[0], LINES[1] ** 2),
    "cov": lambda: pnp.cov(LINES[0], LINES[1], aweights=LINES[1]),
    "digitize": lambda: pnp.digitize(LINES, LINES[1]),
    "histogram2d": lambda: pnp.histogram2d(LINES[0], LINES[1], weights=np.arange(6, dtype=np.int16)),
    "histogramdd": lambda: pnp.histogramdd(LINES.T)[0],
    "searchsorted": lambda: pnp.searchsorted(LINES[0], LINES),
    "repeat": lambda: pnp.repeat(LINES, np.array([1, 2], np.int32), 0, total_repeat_length=3),
    "packbits": lambda: pnp.packbits(LINES.astype(np.uint8), -1),
    "unpackbits": lambda: pnp.unpackbits(LINES.astype(np.uint8)),
    "polymul": lambda: pnp.polymul(LINES[0], LINES[1, :2]),
    "polyfit": lambda: pnp.polyfit(LINES[0], LINES[1], 2),
    "vander": lambda: pnp.vander(LINES[0], 3),
    "quantile": lambda: pnp.quantile(LINES, np.array([0.1, 0.6], F32), axis=1),
    "nanpercentile": lambda: pnp.nanpercentile(LINES, 30, axis=1),
    "weighted quantile": lambda: pnp.quantile(
        LINES, np.array([0.1, 0.6], F32), axis=1, weights=LINES, method="inverted_cdf"
    ),
    "linspace": lambda: pnp.linspace(BF16.type(0), BF16.type(1), 5),
    "geomspace": lambda: pnp.geomspace(F16(1), np.array([4, 8], F16), 3),
    "logspace": lambda: pnp.logspace(F16(1), np.array([2, 1], F16), 3),
    "mgrid": lambda: pnp.mgrid[1:6:8j, 2:4],
    "ogrid": lambda: pnp.ogrid[1:6:8j, 2:4][0],
    "pad": lambda: pnp.pad(LINES.astype(np.complex64), 2, "linear_ramp", end_values=1j),
    "interp": lambda: pnp.interp(LINES, LINES[0], LINES[1]),
    "gelu": lambda: pc.nn.gelu(LINES.astype(BF16)),
    "attention": lambda: pc.nn.dot_product_attention(*[LINES.reshape(1, 2, 2, 3).astype(BF16)] * 3),
    "roots": lambda: pnp.roots(np.array([1, -3, 2], F32)),
    "unwrap": lambda: pnp.unwrap(LINES * 3),
    "glorot": lambda: pc.nn.initializers.glorot_normal(dtype=BF16)(pc.random.key(0), (3, 4)),
    "beta": lambda: pc.random.beta(pc.random.key(0), np.array([1, 2], F32), np.array([1, 2], F32)),
    "logsumexp": lambda: pc.scipy.special.logsumexp(LINES, axis=1),
    "sphere": lambda: pc.scipy.special.sph_harm_y(
        np.array([1], np.int32), np.array([0], np.int32), LINES[0, :1], LINES[1, :1], n_max=2
    ),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_promotion_inside_of_functions_is_free(name):
    expected = COMPOSED[name]()
    with pc.numpy_rank_promotion("raise"), pc.numpy_dtype_promotion("strict"):
        found = COMPOSED[name]()
        compiled = pc.jit(lambda: COMPOSED[name]())()
    for a, b, c in zip(*map(pc.tree.leaves, (expected, found, compiled)), strict=True):
        assert a.dtype == b.dtype == c.dtype
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(np.asarray(c, np.complex64), np.asarray(a, np.complex64), rtol=1e-2, atol=1e-6)


def test_promotion_in_the_users_own_function_is_not():
    add = lambda x, y: pnp.add(x, y)  # noqa: E731
    one, two, ints = np.ones(3, F32), np.ones((2, 3), F32), np.ones(3, np.int32)
    for f in (
        lambda x, y: pc.vmap(add)(x[None], y[None]),
        lambda x, y: pc.lax.map(lambda z: add(z, y), x[None]),
        lambda x, y: pc.lax.cond(True, add, add, x, y),
        lambda x, y: pc.grad(lambda z: add(z, y).sum())(x),
    ):
        with pc.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="numpy_rank_promotion"):
            f(one, two)
        with pc.numpy_dtype_promotion("strict"), pytest.raises(ValueError, match="numpy_dtype_promotion"):
            f(one, ints)


MIXED = [
    (np.ones(3, np.float32), np.ones(3, np.int32), False),
    (np.ones(3, np.float32), np.ones(3, np.float16), False),
    (np.ones(3, np.int8), np.ones(3, np.int32), False),
    (np.ones(3, bool), np.ones(3, np.int32), False),
    (np.ones(3, np.int32), 2.5, False),
    (np.ones(3, np.float32), 1j, False),
    (np.ones(3, bool), 1, False),
    (np.ones(3, np.float32), 2, True),
    (np.ones(3, np.float16), 2.5, True),
    (np.ones(3, np.complex64), 2.5, True),
    (np.ones(3, np.int8), 2, True),
    (2, 2.5, True),
    (np.ones(3, bool), True, True),
    (np.ones(3, np.int32), np.ones(3, np.int32), True),
]


@pytest.mark.parametrize(("x", "y", "fits"), MIXED)
@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_strict_dtype_promotion(x, y, fits, wrap):
    with jax.numpy_dtype_promotion("strict"):
        try:
            expected = jax.numpy.add(x, y).dtype
        except ValueError:
            expected = None
    assert (expected is not None) == fits
    wrap(lambda a, b: pnp.add(a, b))(x, y)
    with pc.numpy_dtype_promotion("strict"):
        if fits:
            assert wrap(lambda a, b: pnp.add(a, b))(x, y).dtype == expected
        else:
            with pytest.raises(ValueError, match="don't promote if numpy_dtype_promotion is 'strict'"):
                wrap(lambda a, b: pnp.add(a, b))(x, y)


JOINED = {
    "stack": lambda n, x, y: n.stack([x, y]),
    "hstack": lambda n, x, y: n.hstack([x, y]),
    "vstack": lambda n, x, y: n.vstack([x, y]),
    "dstack": lambda n, x, y: n.dstack([x, y]),
    "column_stack": lambda n, x, y: n.column_stack([x, y]),
    "block": lambda n, x, y: n.block([[x], [y]]),
    "append": lambda n, x, y: n.append(x, y),
    "vdot": lambda n, x, y: n.vdot(x, y),
    "clip": lambda n, x, y: n.clip(x, None, y),
    "allclose": lambda n, x, y: n.allclose(x, y),
    "array_equal": lambda n, x, y: n.array_equal(x, y),
    "setdiff1d": lambda n, x, y: n.setdiff1d(x, y, size=2),
    "cov": lambda n, x, y: n.cov(x, y),
    "corrcoef": lambda n, x, y: n.corrcoef(x, y),
    "set": lambda n, x, y: n.asarray(x).at[:2].set(y[:2]),
    "add": lambda n, x, y: n.asarray(x).at[0].add(y[0]),
    "divide": lambda n, x, y: n.asarray(x).at[1:].divide(y[1:]),
    "put": lambda n, x, y: n.put(x, np.int32([1]), y[:1], inplace=False),
    "place": lambda n, x, y: n.place(x, x > 0, y, inplace=False),
    "fill_diagonal": lambda n, x, y: n.fill_diagonal(n.outer(x, x), y, inplace=False),
    "put_along_axis": lambda n, x, y: n.put_along_axis(x, np.int32([1]), y[:1], 0, inplace=False),
}


@pytest.mark.parametrize("name", JOINED)
def test_strict_promotion_of_operands_that_are_passed_on(name):
    """Functions that are compositions took operands of two dtypes, which jax refuses."""
    join = JOINED[name]
    floats, ints = np.ones(3, F32), np.ones(3, np.int32)
    join(pnp, floats, ints)
    with jax.numpy_dtype_promotion("strict"), pytest.raises(ValueError, match="implicit"):
        jax.eval_shape(lambda x, y: join(jax.numpy, x, y), floats, ints)
    with pc.numpy_dtype_promotion("strict"):
        join(pnp, floats, floats)
        with pytest.raises(ValueError, match="don't promote if numpy_dtype_promotion is 'strict'"):
            join(pnp, floats, ints)


def test_keys():
    old = pc.random.PRNGKey(3)
    assert old.dtype == np.uint32
    with pc.enable_custom_prng():
        assert pc.dtypes.issubdtype(pc.random.PRNGKey(3).dtype, pc.dtypes.prng_key)
    with pc.legacy_prng_key("error"):
        with pytest.raises(ValueError, match="is given the numbers of a key"):
            pc.random.uniform(old)
        pc.random.uniform(pc.random.key(3))
    with pc.legacy_prng_key("warn"), pytest.warns(UserWarning, match="is given the numbers of a key"):
        pc.random.uniform(old)
    pc.config.update("jax_random_seed_offset", 5)
    np.testing.assert_array_equal(pc.random.PRNGKey(3), [0, 8])
    np.testing.assert_array_equal(pc.random.key_data(pc.random.key(3)), [0, 8])


def test_no_tracing():
    f = pc.jit(lambda x: x * 2)
    f(1.0)
    with pc.no_tracing():
        assert float(f(3.0)) == 6
        with pytest.raises(RuntimeError, match="the setting no_tracing forbids it"):
            f(pnp.ones(3))
    assert f(pnp.ones(3)).tolist() == [2, 2, 2]


@pytest.mark.parametrize("run", ["jit", "eager", "mesh"])
def test_no_execution(run):
    mesh = pc.make_mesh((1,), ("x",), devices=pc.devices()[:1])
    functions = {"jit": lambda x: x * 2, "eager": pnp.sin, "mesh": lambda x: pc.reshard(x, pc.sharding.PartitionSpec())}
    f = functions[run] if run == "eager" else pc.jit(functions[run])
    x = pnp.ones(3)
    with pc.set_mesh(mesh) if run == "mesh" else contextlib.nullcontext():
        f(x)
        with pc.no_execution():
            assert f.lower(x) if run != "eager" else True
            with pytest.raises(RuntimeError, match="the setting no_execution forbids it"):
                f(x)
        f(x)


def test_contexts_of_users_are_parts_of_the_keys_of_traces():
    scale, other = pc.make_user_context(1), pc.make_user_context()
    seen = []

    @pc.jit
    def f(x):
        seen.append((scale.value, other.value))
        return x * scale.value

    def values():
        return f(2.0).item(), pc.grad(f)(2.0).item(), pc.vmap(f)(pnp.ones(2)).tolist()

    assert values() == (2, 1, [1, 1])
    with scale(3):
        assert values() == (6, 3, [3, 3])
        with other("a"):
            assert f(2.0) == 6
        assert scale.get_global() == 1
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(lambda: f(2.0).item()).result() == 2
    count = len(seen)
    assert values() == (2, 1, [1, 1])
    assert len(seen) == count
    scale.set_global(5)
    assert (values(), scale.value, scale.get_global()) == ((10, 5, [5, 5]), 5, 5)
    assert not any("user" in name for name in pc.config.values)
    for given in (lambda: scale([1]), lambda: pc.make_user_context([]), lambda: scale.set_global({})):
        with pytest.raises(TypeError, match="unhashable"):
            given()


def test_variables_of_jax():
    code = (
        "import pycompiler as pc; c = pc.config;"
        "print(c.enable_x64, c.debug_nans, c.default_matmul_precision, c.numpy_rank_promotion, c.platform_name)"
    )
    given = {
        "JAX_ENABLE_X64": "1",
        "JAX_DEBUG_NANS": "true",
        "JAX_DEFAULT_MATMUL_PRECISION": "highest",
        "JAX_NUMPY_RANK_PROMOTION": "warn",
        "JAX_PLATFORMS": "cpu",
    }
    run = [sys.executable, "-W", "error", "-c", code]
    text = subprocess.check_output(run, env={**os.environ, **given}, text=True)
    assert text == "True True highest warn None\n"
    ours = {**given, "PYCOMPILER_ENABLE_X64": "0", "PYCOMPILER_NUMPY_RANK_PROMOTION": "raise"}
    text = subprocess.check_output(run, env={**os.environ, **ours}, text=True)
    assert text == "False True highest raise None\n"


def test_a_variable_of_jax_that_means_nothing_here_is_a_warning():
    code = "import warnings; warnings.simplefilter('always'); import pycompiler as pc; print(pc.config.platform_name)"
    environment = {**os.environ, "JAX_PLATFORMS": "tpu"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True, check=True)
    assert done.stdout == "None\n"
    assert "JAX_PLATFORMS=tpu is not taken: config: platform_name: there is no platform 'tpu' here" in done.stderr
