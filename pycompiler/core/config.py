"""The settings, one table: name, type, default, environment variable, one line.

Each is set by its environment variable, by `config.update(name, value)` for the process, and by the context manager of
its name (`with enable_x64(): ...`) for the thread. Those that change what a function compiles to, or how a call of it
is served, are part of every key of the cache: they are handed to `_runtime` whenever they change.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass
from typing import cast

from pycompiler._runtime import (
    Device,
    context_key,
    devices,
    gpu_failure,
    gpu_library_names,
    set_call_limit,
    set_context_key,
    set_default_device,
    set_memory_limit,
    set_platform_device,
    set_transfer_guard,
    swap_context_key,
    swap_default_device,
    swap_transfer_guard,
)

Value = bool | int | str | Device | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table; `keyed` when what a function is traced to depends on it, `mode` when only the way in which
    a call is served does."""

    name: str
    type: type
    default: Value
    environment: str
    summary: str
    choices: tuple[str, ...] = ()
    keyed: bool = False
    mode: bool = False
    # What the runtime keeps itself: how it is told, for all threads and for this one (which gives what was before).
    told: tuple[Callable[[Value], None], Callable[[Value], Value]] | None = None

    def parse(self, value: object) -> Value:
        """`value`, as a person or the environment wrote it, in this setting's type."""
        if value is None and self.default is None:
            return None
        if self.type is Device:
            return self._device(value)
        if self.name == "num_cpu_devices":
            return self._cpu_devices(value)
        if self.name == "gpu_libraries":
            return self._libraries(value)
        if self.name == "platform_name" and isinstance(value, str):
            return self._device("gpu" if value == "cuda" else value).platform
        if self.name == "traceback_filtering" and (told := _truth(value)) is not None:
            return "auto" if told else "off"
        if self.type is bool:
            told = _truth(value)
            if told is not None:
                return told
        elif self.type is int:
            with contextlib.suppress(ValueError):
                return int(str(value))
        elif isinstance(value, str) and (not self.choices or value in self.choices):
            return value
        wanted = " or ".join(map(repr, self.choices)) if self.choices else f"a value of type {self.type.__name__}"
        raise ValueError(f"config: {self.name} must be {wanted}, got {value!r}")

    def _cpu_devices(self, value: object) -> int:
        there = sum(device.platform == "cpu" for device in devices())
        if str(value).strip() not in ("", str(there)):
            raise ValueError(
                f"config: {self.name} is {there} in this process and can't become {value!r}: it is fixed when one "
                f"starts, by {self.environment}, a number from 1 to 1024"
            )
        return there

    def _libraries(self, value: object) -> str:
        words = value.replace(" ", "").split(",") if isinstance(value, str) else [""]
        there = gpu_library_names()
        if words not in (["auto"], ["none"]) and not set(words) <= set(there):
            raise ValueError(
                f"config: {self.name} must be 'auto', 'none', or some of {', '.join(there)} with commas between, got "
                f"{value!r}"
            )
        return ",".join([name for name in there if name in words] or words)

    def _device(self, value: object) -> Device:
        if isinstance(value, Device):
            return value
        if not isinstance(value, str):
            raise ValueError(
                f"config: {self.name} must be a device, as devices()[0], a platform's name, or None, got {value!r}"
            )
        found = [device for device in devices() if device.platform == value]
        if not found:
            raise ValueError(f"config: {self.name}: {no_platform(value)}")
        return found[0]


def _truth(value: object) -> bool | None:
    """What a person or the environment wrote for yes or no; None for what is neither."""
    if isinstance(value, (bool, int)):
        return bool(value)
    text = str(value).strip().lower()
    return True if text in ("1", "true", "on", "yes") else False if text in ("0", "false", "off", "no", "") else None


def no_platform(name: str) -> str:
    """The message for a platform that is not there: what there is, and how to get what was asked for."""
    counts: dict[str, int] = {}
    for device in devices():
        counts[device.platform] = counts.get(device.platform, 0) + 1
    there = ", ".join(f"{platform} ({count} device{'s' * (count > 1)})" for platform, count in counts.items())
    failure = gpu_failure() if name in ("gpu", "cuda") else None
    hint = failure or "this build has no back end for others, so unset PYCOMPILER_PLATFORM or choose one of these"
    return f"there is no platform {name!r} here; there is {there}: {hint}"


def _set_platform(value: Value) -> None:
    """The first device of the platform is the default one, where no other was set."""
    set_platform_device(None if value is None else next(device for device in devices() if device.platform == value))


def _keep_platform(value: Value) -> Value:
    raise ValueError("config: platform_name is of the process, and no thread's own; use default_device")


_GUARDS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")
_TRANSFERS = ("host_to_device", "device_to_device", "device_to_host")


def _guard(number: int, direction: str) -> Setting:
    """The setting of one kind of transfers."""

    def everywhere(value: Value) -> None:
        set_transfer_guard(number, cast(str | None, value))

    def here(value: Value) -> Value:
        return swap_transfer_guard(number, cast(str | None, value))

    return Setting(
        f"transfer_guard_{direction}",
        str,
        None,
        f"PYCOMPILER_TRANSFER_GUARD_{direction.upper()}",
        f"what becomes of transfers from {direction.replace('_', ' ')}",
        choices=_GUARDS,
        told=(everywhere, here),
    )


def _limit_memory(value: Value) -> None:
    set_memory_limit(cast(int, value) if value else 0)


def _keep_memory_limit(value: Value) -> Value:
    raise ValueError("config: memory_limit is of the process, and no thread's own; call config.update")


TABLE: tuple[Setting, ...] = (
    Setting("enable_x64", bool, False, "PYCOMPILER_ENABLE_X64", "keep 64-bit types instead of narrowing", keyed=True),
    Setting(
        "threefry_partitionable",
        bool,
        False,
        "PYCOMPILER_THREEFRY_PARTITIONABLE",
        "the newer stream of random bits, which can be made in parts",
        keyed=True,
    ),
    Setting(
        "platform_name",
        str,
        None,
        "PYCOMPILER_PLATFORM",
        "where arrays are put by default",
        choices=("cpu", "gpu"),  # a platform that is not there is refused, and never replaced silently
        keyed=True,
        told=(_set_platform, _keep_platform),
    ),
    Setting(
        "num_cpu_devices",
        int,
        1,
        "PYCOMPILER_NUM_CPU_DEVICES",
        "how many devices the CPU is, from the start of the process on",
    ),
    Setting(
        "default_device",
        Device,
        None,
        "PYCOMPILER_DEFAULT_DEVICE",
        "where arrays are made and uncommitted ones computed: a device, or the first of a platform",
        told=(cast(Callable[[Value], None], set_default_device), cast(Callable[[Value], Value], swap_default_device)),
    ),
    *(_guard(number, direction) for number, direction in enumerate(_TRANSFERS)),
    Setting(
        "debug_key_reuse",
        bool,
        False,
        "PYCOMPILER_DEBUG_KEY_REUSE",
        "a random key that is consumed twice is an error",
        keyed=True,
    ),
    Setting(
        "default_matmul_precision",
        str,
        None,
        "PYCOMPILER_DEFAULT_MATMUL_PRECISION",
        "the precision of products for which none is given; 'float32' keeps bfloat16 below 1.2e-38",
        choices=(
            *("default", "high", "highest", "bfloat16", "tensorfloat32", "float32"),
            *("ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY"),
            *("ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16", "BF16_BF16_F32"),
            *("BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9", "TF32_TF32_F32", "TF32_TF32_F32_X3"),
            *("F32_F32_F32", "F64_F64_F64"),
        ),
        keyed=True,
    ),
    Setting(
        "tuning",
        str,
        "off",
        "PYCOMPILER_TUNING",
        "whether products and convolutions are cut as measured: off, use what was measured, or measure what was not",
        choices=("off", "use", "measure"),
        keyed=True,
    ),
    Setting(
        "gpu_libraries",
        str,
        "auto",
        "PYCOMPILER_GPU_LIBRARIES",
        "which of NVIDIA's libraries GPU programs call: auto (those that are there), none, or their names",
        keyed=True,
    ),
    Setting("disable_jit", bool, False, "PYCOMPILER_DISABLE_JIT", "run what is jitted step by step", mode=True),
    Setting("debug_nans", bool, False, "PYCOMPILER_DEBUG_NANS", "the first nan is an error", mode=True),
    Setting("debug_infs", bool, False, "PYCOMPILER_DEBUG_INFS", "the first infinity is an error", mode=True),
    Setting(
        "checking_leaks", bool, False, "PYCOMPILER_CHECKING_LEAKS", "a traced value that is kept is an error", mode=True
    ),
    Setting("log_compiles", bool, False, "PYCOMPILER_LOG_COMPILES", "log each tracing and compilation as a warning"),
    Setting(
        "explain_cache_misses",
        bool,
        False,
        "PYCOMPILER_EXPLAIN_CACHE_MISSES",
        "log why a call was traced again as a warning",
    ),
    Setting(
        "cache_size",
        int,
        2048,
        "PYCOMPILER_CACHE_SIZE",
        "how many kinds of calls each jitted function keeps, and how many primitives eager evaluation does",
    ),
    Setting(
        "enable_compilation_cache",
        bool,
        True,
        "PYCOMPILER_ENABLE_COMPILATION_CACHE",
        "keep compiled code in files, for the processes to come",
    ),
    Setting(
        "compilation_cache_dir",
        str,
        None,
        "PYCOMPILER_COMPILATION_CACHE_DIR",
        "the folder of these files; without it $XDG_CACHE_HOME/pycompiler, or ~/.cache/pycompiler",
    ),
    Setting(
        "compilation_cache_max_size",
        int,
        1 << 30,
        "PYCOMPILER_COMPILATION_CACHE_MAX_SIZE",
        "the most bytes of them, beyond which the least recently used go; -1 for no limit",
    ),
    Setting(
        "memory_limit",
        int,
        None,
        "PYCOMPILER_MEMORY_LIMIT",
        "the most bytes of arrays on each device, for the process; without it what the machine, or its cgroup, has",
        told=(_limit_memory, _keep_memory_limit),
    ),
    Setting(
        "debug",
        int,
        0,
        "PYCOMPILER_DEBUG",
        "what is told on stderr of a compilation: 1 the times of its stages and passes, 2 the graph too, 3 the array "
        "module too, 4 all later stages too",
    ),
    Setting(
        "dump_dir",
        str,
        None,
        "PYCOMPILER_DUMP_DIR",
        "a folder into which each compilation writes its stages, and what `array-opt --run-reproducer` takes",
    ),
    Setting(
        "traceback_filtering",
        str,
        "auto",
        "PYCOMPILER_TRACEBACK_FILTERING",
        "the package's own frames of an error's traceback: off shows them, remove_frames takes them out, "
        "tracebackhide marks them for IPython and pytest, auto does this in IPython and takes them out elsewhere",
        choices=("off", "tracebackhide", "remove_frames", "auto"),
    ),
)


class _Local(threading.local):
    def __init__(self) -> None:
        self.overrides: dict[str, Value] = {}
        # What else compiled functions depend on in this thread: the axis names in scope (core.axes).
        self.scope: tuple[Hashable, ...] = ()


class Config:
    """The current values, read as attributes: `config.enable_x64`."""

    def __init__(self, table: tuple[Setting, ...]) -> None:
        self._table = {setting.name: setting for setting in table}
        self._values: dict[str, Value] = {}
        self._local = _Local()
        for setting in table:
            text = os.environ.get(setting.environment)
            self._values[setting.name] = setting.default if text is None else setting.parse(text)
        self._publish()

    @property
    def enable_x64(self) -> bool:
        # Asked for with every scalar that is met: without the calls.
        overrides = self._local.overrides
        return overrides["enable_x64"] if "enable_x64" in overrides else self._values["enable_x64"]  # type: ignore[return-value]

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
    def debug(self) -> int:
        return int(cast(int, self._read("debug")) or 0)

    @property
    def dump_dir(self) -> str | None:
        return cast(str | None, self._read("dump_dir"))

    @property
    def traceback_filtering(self) -> str:
        return cast(str, self._read("traceback_filtering"))

    def update(self, name: str, value: object) -> None:
        """Set `name` for the whole process; JAX's name of it, with "jax_" in front, means the same.

        Raises ValueError for an unknown name or a value of another type.
        """
        if name.removeprefix("jax_") == "transfer_guard":
            for direction in _TRANSFERS:
                self.update(f"transfer_guard_{direction}", value)
            return
        setting = self._setting(name)
        self._values[setting.name] = setting.parse(value)
        self._publish()

    def read(self, name: str) -> Value:
        """The value of `name` in this thread."""
        return self._read(self._setting(name).name)

    def settings(self) -> tuple[Setting, ...]:
        """The rows of the table."""
        return tuple(self._table.values())

    @contextlib.contextmanager
    def override(self, name: str, value: object) -> Generator[None]:
        """Set `name` in this thread while the `with` block runs."""
        setting = self._setting(name)
        name, parsed = setting.name, setting.parse(value)
        overrides = self._local.overrides
        before = dict(overrides)
        overrides[name] = parsed
        key = swap_context_key(self._key())
        told = setting.told[1](parsed) if setting.told else None
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
        settings = cast(tuple[Hashable, ...], context_key())[: _KEYED + _MODES]
        key = swap_context_key((*settings, names) if names else settings)
        try:
            yield
        finally:
            self._local.scope = before
            swap_context_key(key)

    def set_scope(self, names: tuple[Hashable, ...]) -> None:
        """Make `names` part of this thread's key from now on."""
        self._local.scope = names
        swap_context_key(self._key())

    def _setting(self, name: str) -> Setting:
        setting = self._table.get(name.removeprefix("jax_"))
        if setting is None:
            raise ValueError(f"config: there is no setting {name!r}; there are {', '.join(self._table)}")
        return setting

    def _read(self, name: str) -> Value:
        overrides = self._local.overrides
        return overrides[name] if name in overrides else self._values[name]

    def _key(self) -> tuple[Hashable, ...]:
        key = tuple([self._read(setting.name) for setting in self.key_settings()])
        return (*key, self._local.scope) if self._local.scope else key

    def key_settings(self) -> tuple[Setting, ...]:
        """The settings that the context key holds, in its order: those that tracing depends on, then the modes."""
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


def _context(name: str) -> Callable[[object], contextlib.AbstractContextManager[None]]:
    def manager(new_val: object = True) -> contextlib.AbstractContextManager[None]:
        return config.override(name, new_val)

    manager.__name__ = manager.__qualname__ = name
    manager.__doc__ = f"A context in which `{name}` has another value, in this thread."
    return manager


_KEYED = sum(setting.keyed for setting in TABLE)
_MODES = sum(setting.mode for setting in TABLE)


def trace_key() -> tuple[object, ...]:
    """The context key without the modes, which are no reason to trace or to compile again."""
    key = cast(tuple[object, ...], context_key())
    return key[:_KEYED] + key[_KEYED + _MODES :]


debug_infs = _context("debug_infs")
debug_key_reuse = _context("debug_key_reuse")
debug_nans = _context("debug_nans")
enable_x64 = _context("enable_x64")
explain_cache_misses = _context("explain_cache_misses")
log_compiles = _context("log_compiles")
threefry_partitionable = _context("threefry_partitionable")


def default_matmul_precision(new_val: str | None) -> contextlib.AbstractContextManager[None]:
    """A context in which products for which no precision is given have this one, in this thread."""
    return config.override("default_matmul_precision", new_val)


def default_device(new_val: Device | str | None) -> contextlib.AbstractContextManager[None]:
    """A context in which arrays are made, and uncommitted ones computed, on a device (or the first of a platform), in
    this thread. ValueError for what is neither."""
    return config.override("default_device", new_val)


def tuning(new_val: str) -> contextlib.AbstractContextManager[None]:
    """A context in which matrix products and convolutions are compiled as was measured on this machine, in this thread:
    "use" takes what was, "measure" measures what was not, "off" leaves it to the cost model. ValueError for another
    word.
    """
    return config.override("tuning", new_val)


def gpu_libraries(new_val: str) -> contextlib.AbstractContextManager[None]:
    """A context in which code for a GPU calls these of NVIDIA's libraries, in this thread: "auto" those that can be
    loaded, "none", or their names with commas between, which must then be there. ValueError for another name."""
    return config.override("gpu_libraries", new_val)


@contextlib.contextmanager
def transfer_guard(new_val: str) -> Generator[None]:
    """A context that allows, logs or disallows transfers between host and devices, and between devices, in this thread.

    "log" and "disallow" are about transfers that nobody asked for, as of a NumPy operand; "log_explicit" and
    "disallow_explicit" about those of `device_put` too. The memory of a CPU device is the host's: reading from it
    transfers nothing. ValueError for another word.
    """
    with contextlib.ExitStack() as stack:
        for direction in _TRANSFERS:
            stack.enter_context(config.override(f"transfer_guard_{direction}", new_val))
        yield


def transfer_guard_host_to_device(new_val: str) -> contextlib.AbstractContextManager[None]:
    """`transfer_guard` for what is copied from the host to devices."""
    return config.override("transfer_guard_host_to_device", new_val)


def transfer_guard_device_to_device(new_val: str) -> contextlib.AbstractContextManager[None]:
    """`transfer_guard` for what is copied between devices."""
    return config.override("transfer_guard_device_to_device", new_val)


def transfer_guard_device_to_host(new_val: str) -> contextlib.AbstractContextManager[None]:
    """`transfer_guard` for what is copied from devices to the host: nothing where they are CPUs."""
    return config.override("transfer_guard_device_to_host", new_val)


def disable_jit(disable: bool = True) -> contextlib.AbstractContextManager[None]:
    """A context in which what is jitted runs step by step, as Python does, in this thread."""
    return config.override("disable_jit", disable)


def checking_leaks() -> contextlib.AbstractContextManager[None]:
    """A context in which a traced value that outlives the function that was traced is an error when its trace ends."""
    return config.override("checking_leaks", True)
