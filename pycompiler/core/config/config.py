"""Reading and changing the settings of the table (`settings`).

A setting is set by its environment variable, by `config.update(name, value)` for the process, and by the context
manager of its name (`with enable_x64(): ...`) for the thread. Some settings change the compiled code of a function, or
the way in which a call is served. They are part of every key of the cache: `_runtime` gets them whenever they change.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Hashable
from typing import Any, cast

from pycompiler._runtime import Device, context_key, set_call_limit, set_context_key, swap_context_key
from pycompiler._runtime import default_device as first_device
from pycompiler.core.config.flags import define as define_flags
from pycompiler.core.config.settings import ALIASES, INERT, JAX_VARIABLES, TABLE, TRANSFERS, Setting, Value
from pycompiler.core.config.variables import warn_of_unknown
from pycompiler.core.source import warn

_FLAG = re.compile(r"--?(no)?jax_(\w+)(?:=(.*))?")


class UnknownSettingError(ValueError, AttributeError):
    """There is no setting of this name. JAX raises an AttributeError; a program that catches it catches this, too."""


class _Local(threading.local):
    def __init__(self) -> None:
        self.overrides: dict[str, Value] = {}
        # Compiled functions also depend on the axis names in scope in this thread (core.tracing.axes).
        self.scope: tuple[Hashable, ...] = ()


class Config:
    """The current values, read as attributes: `config.enable_x64`."""

    def __init__(self, table: tuple[Setting, ...]) -> None:
        self._table = {setting.name: setting for setting in table}
        # The number of settings of each kind in the context key.
        self._keyed = sum(setting.keyed for setting in table)
        self._modes = sum(setting.mode for setting in table)
        self._values: dict[str, Value] = {}
        self._local = _Local()
        # JAX's settings that have no effect here, and those that a warning has named.
        self._inert = dict(INERT)
        self._told_of: set[str] = set()
        for setting in table:
            text = os.environ.get(setting.environment)
            self._values[setting.name] = setting.default if text is None else setting.parse(text)
        self.take_jax_variables()

    def take_jax_variables(self) -> None:
        """Take the values of JAX's environment variables, as they are now."""
        for name in JAX_VARIABLES:
            self._take_variable(self._setting(name), f"JAX_{name.upper()}")
        self._publish()

    def _take_variable(self, setting: Setting, variable: str) -> None:
        """Take the value of JAX's environment variable if ours is not set. A value without a meaning here gives a
        warning, not an error: the user may have set it for JAX."""
        text = os.environ.get(variable)
        if text is None or setting.environment in os.environ:
            return
        # Here the program runs JAX itself, and "pycompiler" is the name of its backend (pycompiler.pjrt).
        if setting.name == "platform_name" and "pycompiler" in text.split(","):
            return
        try:
            value = setting.parse(text)
        except ValueError as error:
            warnings.warn(f"{variable}={text} is not taken: {error}", stacklevel=2)
            return
        if setting.name != "platform_name" or value != first_device().platform:
            self._values[setting.name] = value

    def __getattr__(self, name: str) -> Any:
        """A setting by its name in JAX: `config.jax_enable_x64`."""
        if name.startswith("_"):
            raise AttributeError(f"config has no attribute {name!r}")
        return self.read(name)

    @property
    def enable_x64(self) -> bool:
        # Every scalar operand reads this setting, so the calls of the other properties are inlined.
        overrides = self._local.overrides
        return overrides["enable_x64"] if "enable_x64" in overrides else self._values["enable_x64"]  # type: ignore[return-value]

    @property
    def x64_enabled(self) -> bool:
        """JAX's older name of `enable_x64`."""
        return self.enable_x64

    @property
    def values(self) -> dict[str, Value]:
        """All settings by JAX's names, with their values in this thread."""
        names = [setting.name for setting in self.settings()]
        return {f"jax_{name}": self.read(name) for name in (*names, *self._inert)}

    @property
    def threefry_partitionable(self) -> bool:
        return bool(self._read("threefry_partitionable"))

    @property
    def platform_name(self) -> str | None:
        value = self._read("platform_name")
        return None if value is None else str(value)

    @property
    def num_cpu_devices(self) -> int:
        return cast(int, self._read("num_cpu_devices"))

    @property
    def default_device(self) -> Device | None:
        return cast(Device | None, self._read("default_device"))

    @property
    def transfer_guard_host_to_device(self) -> str | None:
        return cast(str | None, self._read("transfer_guard_host_to_device"))

    @property
    def transfer_guard_device_to_device(self) -> str | None:
        return cast(str | None, self._read("transfer_guard_device_to_device"))

    @property
    def transfer_guard_device_to_host(self) -> str | None:
        return cast(str | None, self._read("transfer_guard_device_to_host"))

    @property
    def debug_key_reuse(self) -> bool:
        return bool(self._read("debug_key_reuse"))

    @property
    def default_matmul_precision(self) -> str | None:
        value = self._read("default_matmul_precision")
        return None if value is None else str(value)

    @property
    def tuning(self) -> str:
        return str(self._read("tuning"))

    @property
    def gpu_libraries(self) -> str:
        return str(self._read("gpu_libraries"))

    @property
    def numpy_rank_promotion(self) -> str:
        return str(self._read("numpy_rank_promotion"))

    @property
    def numpy_dtype_promotion(self) -> str:
        return str(self._read("numpy_dtype_promotion"))

    @property
    def enable_custom_prng(self) -> bool:
        return bool(self._read("enable_custom_prng"))

    @property
    def default_prng_impl(self) -> str:
        return str(self._read("default_prng_impl"))

    @property
    def legacy_prng_key(self) -> str:
        return str(self._read("legacy_prng_key"))

    @property
    def random_seed_offset(self) -> int:
        return cast(int, self._read("random_seed_offset"))

    @property
    def no_execution(self) -> bool:
        return bool(self._read("no_execution"))

    @property
    def no_tracing(self) -> bool:
        return bool(self._read("no_tracing"))

    @property
    def disable_jit(self) -> bool:
        return bool(self._read("disable_jit"))

    @property
    def debug_nans(self) -> bool:
        return bool(self._read("debug_nans"))

    @property
    def debug_infs(self) -> bool:
        return bool(self._read("debug_infs"))

    @property
    def checking_leaks(self) -> bool:
        return bool(self._read("checking_leaks"))

    @property
    def log_compiles(self) -> bool:
        return bool(self._read("log_compiles"))

    @property
    def explain_cache_misses(self) -> bool:
        return bool(self._read("explain_cache_misses"))

    @property
    def cache_size(self) -> int:
        return int(cast(int, self._read("cache_size")) or 1)

    @property
    def enable_compilation_cache(self) -> bool:
        return bool(self._read("enable_compilation_cache"))

    @property
    def compilation_cache_dir(self) -> str | None:
        return cast(str | None, self._read("compilation_cache_dir"))

    @property
    def compilation_cache_max_size(self) -> int:
        return cast(int, self._read("compilation_cache_max_size"))

    @property
    def memory_limit(self) -> int | None:
        return cast(int | None, self._read("memory_limit"))

    @property
    def wait_for_callbacks(self) -> bool:
        return bool(self._read("wait_for_callbacks"))

    @property
    def debug(self) -> int:
        return int(cast(int, self._read("debug")) or 0)

    @property
    def dump_dir(self) -> str | None:
        return cast(str | None, self._read("dump_dir"))

    @property
    def traceback_filtering(self) -> str:
        return cast(str, self._read("traceback_filtering"))

    def update(self, name: str, value: object) -> None:
        """Set `name` for the whole process. JAX's name, with "jax_" in front, means the same.

        Raises UnknownSettingError, a ValueError and an AttributeError, for an unknown name, and ValueError for a value
        of another type.
        """
        if name.removeprefix("jax_") == "transfer_guard":
            for direction in TRANSFERS:
                self.update(f"transfer_guard_{direction}", value)
            return
        if self._is_inert(name):
            self._inert[self._told(name)] = value
            return
        setting = self._setting(name)
        before = self._values[setting.name]
        self._values[setting.name] = setting.parse(value)
        try:
            self._publish()
        except BaseException:
            self._values[setting.name] = before
            raise

    def config_with_absl(self) -> None:
        """Define the settings as flags of absl: `--jax_NAME=VALUE`, and `--jax_NAME`, `--nojax_NAME` for those that are
        on or off. `absl.app.run` takes them.

        Raises ModuleNotFoundError if absl is not installed.
        """
        kinds = {setting.name: setting.type is bool for setting in self._table.values()}
        kinds.update({name: isinstance(value, bool) for name, value in self._inert.items()})
        define_flags({f"jax_{name}": is_switch for name, is_switch in kinds.items()}, self.update)

    def parse_flags_with_absl(self) -> None:
        """Take settings from the command line, up to `--`: `--jax_NAME=VALUE`, `--jax_NAME`, `--nojax_NAME`.

        Flags that name no setting are left to others. If absl is installed, it knows the settings from now on. Raises
        ValueError for a value without a meaning.
        """
        if importlib.util.find_spec("absl") is not None:
            self.config_with_absl()
        for argument in itertools.takewhile(lambda each: each != "--", sys.argv[1:]):
            found = _FLAG.fullmatch(argument)
            if found is None:
                continue
            negated, name, text = found.groups()
            if ALIASES.get(name, name) in self._table or self._is_inert(name):
                self.update(name, not negated if text is None else text)

    def read(self, name: str) -> Value:
        """The value of `name` in this thread."""
        if self._is_inert(name):
            return cast(Value, self._inert[name.removeprefix("jax_")])
        if name.removeprefix("jax_") == "transfer_guard":
            return self._read("transfer_guard_host_to_device")
        return self._read(self._setting(name).name)

    def _is_inert(self, name: str) -> bool:
        return name.removeprefix("jax_") in self._inert

    def _told(self, name: str) -> str:
        """The short name of a setting without effect. The first time, a warning says that it has none."""
        short = name.removeprefix("jax_")
        if short not in self._told_of:
            self._told_of.add(short)
            warn(f"config: {name} is a setting of JAX's that changes nothing here")
        return short

    def settings(self) -> tuple[Setting, ...]:
        """The rows of the table, without the contexts of users."""
        return tuple([setting for setting in self._table.values() if setting.type is not object])

    def add(self, setting: Setting) -> None:
        """Add a context of users, a keyed setting whose type is `object`."""
        self._table[setting.name] = setting
        self._values[setting.name] = setting.default
        self._keyed += 1
        self._publish()

    def common(self, name: str) -> Value:
        """The value of `name` in threads without one of their own."""
        return self._values[name]

    @contextlib.contextmanager
    def override(self, name: str, value: object) -> Generator[None]:
        """Set `name` in this thread while the `with` block runs."""
        if self._is_inert(name):
            self._told(name)
            yield
            return
        setting = self._setting(name)
        name, parsed = setting.name, setting.parse(value)
        # This comes first: a setting of the whole process raises here, and then nothing has changed.
        told = setting.told[1](parsed) if setting.told else None
        overrides = self._local.overrides
        before = dict(overrides)
        overrides[name] = parsed
        key = swap_context_key(self._key())
        try:
            yield
        finally:
            overrides.clear()
            overrides.update(before)
            swap_context_key(key)
            if setting.told:
                setting.told[1](told)

    @contextlib.contextmanager
    def scope(self, names: tuple[Hashable, ...]) -> Generator[None]:
        """Make `names` part of this thread's key while the `with` block runs."""
        before, self._local.scope = self._local.scope, names
        settings = cast(tuple[Hashable, ...], context_key())[: self._keyed + self._modes]
        key = swap_context_key((*settings, names) if names else settings)
        try:
            yield
        finally:
            self._local.scope = before
            swap_context_key(key)

    def set_scope(self, names: tuple[Hashable, ...]) -> None:
        """Make `names` part of this thread's key from now on."""
        self._local.scope = names
        # A thread without values of its own uses the common values, and sees their changes.
        swap_context_key(self._key() if names or self._local.overrides else None)

    def _setting(self, name: str) -> Setting:
        short = name.removeprefix("jax_")
        setting = self._table.get(ALIASES.get(short, short))
        if setting is None:
            known = ", ".join(row.name for row in self.settings())
            raise UnknownSettingError(f"config: there is no setting {name!r}; there are {known}")
        return setting

    def _read(self, name: str) -> Value:
        overrides = self._local.overrides
        try:
            return overrides[name] if name in overrides else self._values[name]
        except KeyError:  # JAX's programs give its own name, with jax_
            return self._read(self._setting(name).name)

    def _key(self) -> tuple[Hashable, ...]:
        key = tuple([self._read(setting.name) for setting in self.key_settings()])
        return (*key, self._local.scope) if self._local.scope else key

    def without_modes(self, key: tuple[object, ...]) -> tuple[object, ...]:
        """A context key without the modes."""
        return key[: self._keyed] + key[self._keyed + self._modes :]

    def key_settings(self) -> tuple[Setting, ...]:
        """The settings in the context key, in its order: those that tracing depends on, then the modes."""
        keyed = tuple(setting for setting in self._table.values() if setting.keyed)
        return keyed + tuple(setting for setting in self._table.values() if setting.mode)

    def _publish(self) -> None:
        set_context_key(tuple([self._values[setting.name] for setting in self.key_settings()]))
        if self._local.overrides or self._local.scope:
            swap_context_key(self._key())
        set_call_limit(self.cache_size)
        for setting in self._table.values():
            if setting.told:
                setting.told[0](self._values[setting.name])


config = Config(TABLE)
warn_of_unknown(os.environ)


def _context(name: str) -> Callable[[object], contextlib.AbstractContextManager[None]]:
    def manager(new_val: object = True) -> contextlib.AbstractContextManager[None]:
        return config.override(name, new_val)

    manager.__name__ = manager.__qualname__ = name
    manager.__doc__ = f"A context in which `{name}` has another value, in this thread."
    return manager


def trace_key() -> tuple[object, ...]:
    """The context key without the modes. A change of mode needs no new trace or compilation."""
    return config.without_modes(cast(tuple[object, ...], context_key()))


allow_f16_reductions = _context("allow_f16_reductions")
array_garbage_collection_guard = _context("array_garbage_collection_guard")
check_tracer_leaks = _context("check_tracer_leaks")
debug_infs = _context("debug_infs")
debug_key_reuse = _context("debug_key_reuse")
debug_nans = _context("debug_nans")
enable_checks = _context("enable_checks")
enable_custom_prng = _context("enable_custom_prng")
enable_x64 = _context("enable_x64")
explain_cache_misses = _context("explain_cache_misses")
log_compiles = _context("log_compiles")
no_execution = _context("no_execution")
no_tracing = _context("no_tracing")
softmax_custom_jvp = _context("softmax_custom_jvp")
thread_guard = _context("thread_guard")
threefry_partitionable = _context("threefry_partitionable")


def numpy_rank_promotion(new_val: str) -> contextlib.AbstractContextManager[None]:
    """A context for functions of numpy whose operands have different numbers of axes, in this thread: they are allowed
    ("allow"), give a warning ("warn") or a ValueError ("raise"). Scalars combine with every shape."""
    return config.override("numpy_rank_promotion", new_val)


def numpy_dtype_promotion(new_val: str) -> contextlib.AbstractContextManager[None]:
    """A context for the promotion of different dtypes, in this thread: by JAX's table ("standard"), or a
    TypePromotionError unless one operand is weakly typed ("strict")."""
    return config.override("numpy_dtype_promotion", new_val)


def default_prng_impl(new_val: str) -> contextlib.AbstractContextManager[None]:
    """A context for the generator of random numbers. Raises ValueError for any other than "threefry2x32"."""
    return config.override("default_prng_impl", new_val)


def legacy_prng_key(new_val: str) -> contextlib.AbstractContextManager[None]:
    """A context in which the numbers of keys are allowed in the place of keys ("allow"), give a warning ("warn") or a
    ValueError ("error"), in this thread."""
    return config.override("legacy_prng_key", new_val)


def default_matmul_precision(new_val: str | None) -> contextlib.AbstractContextManager[None]:
    """A context that sets the precision of products whose precision is not given, in this thread."""
    return config.override("default_matmul_precision", new_val)


def default_device(new_val: Device | str | None) -> contextlib.AbstractContextManager[None]:
    """A context that sets the device of new arrays and of computations on uncommitted ones, in this thread. The name of
    a platform means its first device. Raises ValueError for a value that is neither."""
    return config.override("default_device", new_val)


def tuning(new_val: str) -> contextlib.AbstractContextManager[None]:
    """A context that sets the choice of plans of matmuls and convolutions in this thread. "use" takes plans measured on
    this machine, "measure" also measures missing plans, "off" leaves the choice to the cost model. Raises ValueError
    for another word.
    """
    return config.override("tuning", new_val)


def gpu_libraries(new_val: str) -> contextlib.AbstractContextManager[None]:
    """A context that sets NVIDIA's libraries for code on a GPU, in this thread. "auto" takes the libraries that can be
    loaded, "none" takes none. The libraries in a list of names, separated by commas, must exist. Raises ValueError for
    another name."""
    return config.override("gpu_libraries", new_val)


@contextlib.contextmanager
def transfer_guard(new_val: str) -> Generator[None]:
    """A context that allows, logs or disallows transfers between host and devices, and between devices, in this thread.

    "log" and "disallow" apply to implicit transfers, such as that of a NumPy operand. "log_explicit" and
    "disallow_explicit" also apply to those of `device_put`. The memory of a CPU device is the host's: reading from it
    transfers nothing. Raises ValueError for another word.
    """
    with contextlib.ExitStack() as stack:
        for direction in TRANSFERS:
            stack.enter_context(config.override(f"transfer_guard_{direction}", new_val))
        yield


def transfer_guard_host_to_device(new_val: str) -> contextlib.AbstractContextManager[None]:
    """`transfer_guard` for copies from the host to devices."""
    return config.override("transfer_guard_host_to_device", new_val)


def transfer_guard_device_to_device(new_val: str) -> contextlib.AbstractContextManager[None]:
    """`transfer_guard` for copies between devices."""
    return config.override("transfer_guard_device_to_device", new_val)


def transfer_guard_device_to_host(new_val: str) -> contextlib.AbstractContextManager[None]:
    """`transfer_guard` for copies from devices to the host. CPU devices copy nothing."""
    return config.override("transfer_guard_device_to_host", new_val)


def disable_jit(disable: bool = True) -> contextlib.AbstractContextManager[None]:
    """A context in which jitted functions run step by step, as Python does, in this thread."""
    return config.override("disable_jit", disable)


def checking_leaks() -> contextlib.AbstractContextManager[None]:
    """A context in which a traced value that outlives its traced function is an error at the end of the trace."""
    return config.override("checking_leaks", True)
