"""The names in the stand-ins of `jax._src`: the public modules with a module's names, and the names for test_util."""

from __future__ import annotations

import contextlib
import enum
import faulthandler
import functools
import itertools
import operator
import os
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import jax
import jax.extend.core
import jax.numpy
import numpy as np
from sparse_names import SPARSE
from stand_ins import ELSEWHERE, INNER, ROOT, InsideOfJaxError

import pycompiler
from pycompiler.compat.internals import INTERNALS
from pycompiler.core.config.config import UnknownSettingError, config
from pycompiler.core.errors import ShardingTypeError
from pycompiler.lax.operands import cast

# jax._src.X -> the public modules with its names. For other modules: `jax.X`.
_PUBLIC = {
    "api": ("jax",),
    "array": ("jax",),
    "core": ("jax.core", "jax.extend.core", "jax.errors", "jax", "jax.sharding"),
    "custom_derivatives": ("jax.custom_derivatives", "jax"),
    "dtypes": ("jax.dtypes", "jax.numpy"),
    "errors": ("jax.errors",),
    "lax.control_flow": ("jax.lax",),
    "lax.lax": ("jax.lax",),
    "lax.linalg": ("jax.lax.linalg",),
    "lax.parallel": ("jax.lax",),
    "lax.slicing": ("jax.lax",),
    "lax.windowed_reductions": ("jax.lax",),
    "mesh": ("jax.sharding",),
    "mesh_utils": ("jax.experimental.mesh_utils",),
    "named_sharding": ("jax.sharding",),
    "nn.functions": ("jax.nn",),
    "numpy.indexing": ("jax.numpy",),
    "numpy.lax_numpy": ("jax.numpy",),
    "numpy.reductions": ("jax.numpy",),
    "numpy.ufuncs": ("jax.numpy",),
    "state.indexing": ("jax.experimental.pallas",),
    "pallas.core": ("jax.experimental.pallas",),
    "pallas.pallas_call": ("jax.experimental.pallas",),
    "pallas.primitives": ("jax.experimental.pallas",),
    "partition_spec": ("jax.sharding",),
    "random.prng": (),
    "pjit": ("jax.sharding", "jax.experimental.pjit", "jax.lax", "jax"),
    "shard_map": ("jax",),
    "sharding": ("jax.sharding",),
    "sharding_impls": ("jax.sharding", "jax"),
    "ad_checkpoint": ("jax.ad_checkpoint", "jax"),
    "xla_bridge": ("jax", "jax.extend.backend"),
    "typing": ("jax.typing",),
    "debugger": ("jax.debug",),
    "debugging": ("jax.debug",),
    "layout": ("jax.experimental.layout",),
    "hijax": ("jax.experimental.hijax",),
    "checkify": ("jax.experimental.checkify",),
}


def public(name: str) -> tuple[str, ...]:
    """The public modules that have the names of `jax._src.X`."""
    if name.startswith((INNER, ELSEWHERE)):
        return (INNER,) if name.startswith(INNER) else ()
    inner = name[len(ROOT) + 1 :]
    return _PUBLIC.get(inner, (f"jax.{inner}",)) if inner else ()


class _Flag:
    """A flag of the tests' command line, which does not exist here: its default."""

    def __init__(self, name: str, default: Any = None, help: str = "", **_: Any) -> None:
        self.value = default


def _short(name: str) -> str:
    return name.removeprefix("jax_")


class _State:
    """A setting of JAX: its value, and a context manager that sets it in this thread."""

    def __init__(self, name: str) -> None:
        self._name = _short(name)

    @property
    def value(self) -> Any:
        try:
            return getattr(config, self._name)
        except (UnknownSettingError, AttributeError):
            raise InsideOfJaxError(f"jax_{self._name} is a setting from inside of JAX") from None

    @contextlib.contextmanager
    def __call__(self, *values: Any) -> Iterator[None]:
        with contextlib.ExitStack() as contexts:
            manager = getattr(pycompiler, self._name, None)
            if callable(manager):
                contexts.enter_context(manager(*values))
            else:
                with contextlib.suppress(UnknownSettingError):  # a setting without an effect here
                    contexts.enter_context(config.override(self._name, *values))
            yield


class _States(dict[str, _State]):
    def __missing__(self, name: str) -> _State:
        return self.setdefault(name, _State(name))


class _Settings:
    """`jax.config` for tests: names with `jax_`, and the defaults of command-line flags."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(jax.config, name)

    def update(self, name: str, value: Any) -> None:
        if not name.endswith("num_cpu_devices"):
            jax.config.update(name, value)

    def parse_flags_with_absl(self) -> None:
        """Does nothing: the command line belongs to this harness."""

    config_with_absl = parse_flags_with_absl


def _truth(name: str, default: bool) -> bool:
    return os.environ.get(name, str(default)).lower() in ("1", "true", "y", "yes", "t")


def _same_length(sequences: tuple[Iterable[Any], ...]) -> list[list[Any]]:
    lists = [list(each) for each in sequences]
    if len({len(each) for each in lists}) > 1:
        raise ValueError(f"lengths differ: {[len(each) for each in lists]}")
    return lists


def _map(function: Callable[..., Any], *sequences: Iterable[Any]) -> list[Any]:
    return [function(*each) for each in zip(*_same_length(sequences), strict=True)]


def _zip(*sequences: Iterable[Any]) -> list[tuple[Any, ...]]:
    return list(zip(*_same_length(sequences), strict=True))


def _unzip2(pairs: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    firsts, seconds = [], []
    for first, second in pairs:
        firsts.append(first)
        seconds.append(second)
    return tuple(firsts), tuple(seconds)


def _split(values: list[Any], sizes: list[int]) -> list[list[Any]]:
    ends = [0, *itertools.accumulate(sizes), len(values)]
    return [values[start:end] for start, end in itertools.pairwise(ends)]


def no_cache(*_: Any, **__: Any) -> NoReturn:
    raise InsideOfJaxError("the counts of JAX's caches")


class _Backend:
    platform = property(lambda self: jax.default_backend())
    platform_version = "pycompiler"


def _common(*values: Any) -> Any:
    """The common dtype of values. NumPy's functions use it, too, and promote under any setting."""
    with pycompiler.numpy_dtype_promotion("standard"):
        return jax.numpy.result_type(*values)


def _inexact(dtype: Any) -> Any:
    return _common(dtype, jax.dtypes.canonicalize_dtype(float)) if _exact(dtype) else np.dtype(dtype)


def _as(value: Any, dtype: Any) -> Any:
    """A value as NumPy's array, for references; a traced value stays."""
    return value.astype(dtype) if isinstance(value, jax.core.Tracer) else np.asarray(value, dtype)


def _promoted(*values: Any) -> list[Any]:
    return [_as(each, _common(*values)) for each in values]


def _promoted_inexact(*values: Any) -> list[Any]:
    return [_as(each, _inexact(_common(*values))) for each in values]


def _complex(dtype: Any) -> Any:
    return np.dtype(np.complex128 if np.dtype(dtype) in (np.dtype(float), np.dtype(complex)) else np.complex64)


def _promoted_complex(*values: Any) -> list[Any]:
    return [_as(each, _complex(_inexact(_common(*values)))) for each in values]


def _bits(dtype: Any) -> int:
    if dtype is None:
        raise ValueError("dtype is None")
    if jax.dtypes.issubdtype(dtype, np.integer):
        return jax.numpy.iinfo(dtype).bits
    if jax.dtypes.issubdtype(dtype, np.floating):
        return jax.numpy.finfo(dtype).bits
    return np.dtype(dtype).itemsize * 8


def _exact(dtype: Any) -> bool:
    return not jax.dtypes.issubdtype(dtype, np.inexact)


class _ExplicitX64(enum.Enum):
    """The values of the setting jax_explicit_x64_dtypes."""

    WARN, ERROR, ALLOW = "warn", "error", "allow"


class _Tokens:
    """The order of effects between calls. It is empty after all effects have run."""

    clear = block_until_ready = staticmethod(jax.effects_barrier)


class _Effects:
    """A set of kinds of effects, which files extend at their import."""

    def add_type(self, kind: type) -> None:
        """Has no effect here."""


class _NoCompiles:
    """The cache of JAX's compiled primitives, which is always empty here."""

    misses = 0
    cache_info = cache_clear = lambda self: self


def _remaining(values: Iterable[Any], *removed: Iterable[Any]) -> list[Any]:
    gone = {each for group in removed for each in group}
    return [each for each in values if each not in gone]


def _convert(value: Any, new_dtype: Any = None, weak_type: bool = False, sharding: Any = None) -> Any:
    value = jax.numpy.asarray(value)
    return cast(value, value.dtype if new_dtype is None else jax.dtypes.canonicalize_dtype(new_dtype), weak_type)


_UTIL = {
    "Mutex": threading.Lock,
    "curry": lambda function: functools.partial(functools.partial, function),
    "foreach": lambda *arguments: (_map(*arguments), None)[1],
    "install_failure_signal_handler": lambda: faulthandler.enable(),
    "prod": lambda values: functools.reduce(operator.mul, values, 1),
    "safe_map": _map,
    "safe_zip": _zip,
    "split_list": _split,
    "test_event_listener": None,
    "tuple_insert": lambda values, at, value: (*values[:at], value, *values[at:]),
    "tuple_update": lambda values, at, value: (*values[:at], value, *values[at + 1 :]),
    "unzip2": _unzip2,
}
_SETTINGS = {
    "ExplicitX64Mode": _ExplicitX64,
    "bool_env": _truth,
    "bool_flag": _Flag,
    "config": _Settings(),
    "config_states": _States(),
    "int_flag": _Flag,
    "string_flag": _Flag,
}
_SMALL = [np.dtype(getattr(jax.numpy, each)) for each in ("int2", "uint2", "int4", "uint4")]
_FLOATS = [
    "float4_e2m1fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e8m0fnu",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
_TYPES = [
    np.dtype(bool),
    *_SMALL,
    *(np.dtype(f"{sign}int{bits}") for sign in ("u", "") for bits in (8, 16, 32, 64)),
    *(np.dtype(getattr(jax.numpy, each)) for each in _FLOATS),
]
_SCALARS = {bool: np.bool_, int: int, float: float, complex: complex}
_DTYPES = {
    "_float8_dtypes": [np.dtype(getattr(jax.numpy, each)) for each in _FLOATS if each.startswith("float8")],
    "_intn_dtypes": _SMALL,
    "_jax_types": _TYPES,
    "_weak_types": [int, float, complex],
    "default_types": {
        "b": lambda: np.dtype(bool),
        **{
            kind: functools.partial(jax.dtypes.canonicalize_dtype, base)
            for kind, base in (("i", np.int64), ("u", np.uint64), ("f", np.float64), ("c", np.complex128))
        },
    },
    "default_float_dtype": lambda: jax.dtypes.canonicalize_dtype(np.float64),
    "default_int_dtype": lambda: jax.dtypes.canonicalize_dtype(np.int64),
    "default_uint_dtype": lambda: jax.dtypes.canonicalize_dtype(np.uint64),
    "dtype": jax.dtypes.result_type,
    "int1": None,
    "is_weakly_typed": lambda value: jax.typeof(value).weak_type,
    "python_scalar_types_to_dtypes": {kind: np.dtype(base) for kind, base in _SCALARS.items()},
    "itemsize_bits": _bits,
    "to_complex_dtype": _complex,
    "to_floating_dtype": lambda dtype: np.zeros(0, _inexact(dtype)).real.dtype,
    "to_inexact_dtype": _inexact,
    "uint1": None,
}
_GENERATORS = ("threefry2x32", "threefry4x32", "philox2x32", "philox4x32", "rbg", "unsafe_rbg")
_GIVEN: dict[str, dict[str, Any]] = {
    "array": {"ArrayImpl": jax.Array},
    "basearray": {"Array": jax.Array},
    "cloud_tpu_init": {"running_in_cloud_tpu_vm": False},
    "compilation_cache": {"_cache": None},
    "config": _SETTINGS,
    "core": {"ShardingTypeError": ShardingTypeError, "reset_trace_state": lambda: True},
    "deprecations": {"is_accelerated": lambda _: False},
    "dtypes": _DTYPES,
    "debugging": {"debug_callback": jax.debug.callback, "debug_print": jax.debug.print},
    "dispatch": {"runtime_tokens": _Tokens(), "xla_primitive_callable": _NoCompiles()},
    "effects": {
        "Effect": jax.extend.core.Effect,
        **dict.fromkeys(
            [
                "control_flow_allowed_effects",
                "custom_derivatives_allowed_effects",
                "lowerable_effects",
                "ordered_effects",
                "remat_allowed_effects",
            ],
            _Effects(),
        ),
    },
    "lax.lax": {"_convert_element_type": _convert, "remaining": _remaining},
    "lib": {
        "cuda_versions": None,
        "jaxlib_extension_version": 10**6,
        "version": tuple(int(each) for each in jax.__version__.split(".")),
    },
    "lib._jax": dict.fromkeys(("is_asan", "is_msan", "is_tsan"), lambda: False),
    "mesh": {
        "empty_abstract_mesh": jax.sharding.AbstractMesh((), ()),
        "empty_concrete_mesh": jax.sharding.Mesh(np.array(None, object), ()),
    },
    "jax.experimental.mosaic.gpu.core": {"artificial_shared_memory_limit": lambda _: contextlib.nullcontext()},
    # Errors of JAX without public names, with their public base classes.
    "named_sharding": {"DuplicateSpecError": ValueError},
    "sharding": {"IndivisibleError": ValueError},
    "numpy.util": {
        "promote_dtypes": _promoted,
        "promote_dtypes_complex": _promoted_complex,
        "promote_dtypes_inexact": _promoted_inexact,
    },
    "random.prng": {
        "PRNGImpl": types.SimpleNamespace,
        "prngs": {name: jax.random.key_dtype(name) for name in _GENERATORS},
    },
    "util": _UTIL,
    "xla_bridge": {"get_backend": lambda *_: _Backend(), "num_cpu_devices": _Flag("", len(jax.devices("cpu")))},
}


def given(name: str) -> dict[str, Any]:
    """The names of a module that take precedence over public ones."""
    names = dict(INTERNALS[name]()) if name in INTERNALS else {}
    names.update(SPARSE.get(name, {}) if name.startswith(INNER) else _GIVEN.get(name.removeprefix(f"{ROOT}."), {}))
    return names


def otherwise(module: str, name: str) -> Any:
    """The value of a name that neither the table nor a public module has; None if the name is a module."""
    is_setting = module == f"{ROOT}.config" and not name.endswith("_state")  # bool_state makes a setting of JAX
    return _SETTINGS["config_states"][name] if is_setting else None
