"""The table of settings: name, type, default, environment variable, one line. `config` reads and changes them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from pycompiler._runtime import (
    Device,
    add_cpu_devices,
    gpu_failure,
    gpu_library_names,
    local_devices,
    set_collective_timeout,
    set_default_device,
    set_memory_limit,
    set_platform_device,
    set_transfer_guard,
    set_wait_for_callbacks,
    swap_default_device,
    swap_transfer_guard,
)

Value = bool | int | str | Device | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table. `keyed`: the traced graph depends on the setting. `mode`: only the way that a call is
    served depends on it."""

    name: str
    type: type
    default: Value
    environment: str
    summary: str
    choices: tuple[str, ...] = ()
    keyed: bool = False
    mode: bool = False
    # For a value that the runtime keeps: two functions that set it, for all threads, and for this one (returns the old
    # value).
    told: tuple[Callable[[Value], None], Callable[[Value], Value]] | None = None

    def parse(self, value: object) -> Value:
        """A value from the user or the environment, in this setting's type."""
        if value is None and self.default is None:
            return None
        if self.type is object:
            # The value of a user's context, as it is: it is a part of keys.
            hash(value)
            return cast(Value, value)
        if self.type is Device:
            return self._device(value)
        if self.name == "num_cpu_devices":
            return self._cpu_devices(value)
        if self.name == "gpu_libraries":
            return self._libraries(value)
        if self.name == "collective_timeout":
            return self._seconds(value)
        if self.name == "platform_name" and isinstance(value, str):
            return self._platform(value)
        if self.name in _WORDS and isinstance(value, str) and value.lower() in self.choices:
            return value.lower()
        if self.name == "traceback_filtering" and (told := _truth(value)) is not None:
            return "auto" if told else "off"
        if self.type is bool:
            told = _truth(value)
            if told is not None:
                return told
        elif self.type is int:
            number = None
            with contextlib.suppress(ValueError):
                number = int(str(value))
            if number is not None:
                return self._in_range(number, value)
        elif isinstance(value, str) and (not self.choices or value in self.choices):
            return value
        wanted = " or ".join(map(repr, self.choices)) if self.choices else f"a value of type {self.type.__name__}"
        raise ValueError(f"config: {self.name} must be {wanted}, got {value!r}")

    def _cpu_devices(self, value: object) -> int:
        there = sum(device.platform == "cpu" for device in local_devices())
        text = str(value).strip()
        if not text:
            return there
        if not text.isdecimal() or not there <= int(text) <= 1024:
            raise ValueError(
                f"config: {self.name} is {there} in this process and can't become {value!r}; expected a number from "
                f"{there} to 1024, because it can only grow. What to do: for fewer, start a process with "
                f"{self.environment} set"
            )
        if int(text) > there:
            add_cpu_devices(int(text) - there)
        return int(text)

    def _seconds(self, value: object) -> int:
        text = str(value).strip()
        if not text.isdecimal():
            raise ValueError(f"config: {self.name} must be a number of seconds, 0 for no limit, got {value!r}")
        return self._in_range(int(text), value)

    def _in_range(self, number: int, value: object) -> int:
        """The number, which the runtime takes in 64 bits. For some settings -1 means no limit, but not for
        `memory_limit`."""
        if self.name == "memory_limit" and number < 0:
            raise ValueError(f"config: {self.name} must be a number of bytes, 0 for no limit, got {value!r}")
        if abs(number) >= 1 << 63:
            raise ValueError(f"config: {self.name} must be below 2**63, got {value!r}")
        return number

    def _libraries(self, value: object) -> str:
        words = value.replace(" ", "").split(",") if isinstance(value, str) else [""]
        there = gpu_library_names()
        if words not in (["auto"], ["none"]) and not set(words) <= set(there):
            raise ValueError(
                f"config: {self.name} must be 'auto', 'none', or some of {', '.join(there)} separated by commas, got "
                f"{value!r}"
            )
        return ",".join([name for name in there if name in words] or words)

    def _platform(self, value: str) -> str | None:
        """The first of several platforms, all of which must exist; None for an empty text."""
        names = [name.strip() for name in value.split(",") if name.strip()]
        found = [self._device("gpu" if name in ("cuda", "rocm") else name).platform for name in names]
        return found[0] if found else None

    def _device(self, value: object) -> Device:
        if isinstance(value, Device):
            return value
        if not isinstance(value, str):
            raise ValueError(
                f"config: {self.name} must be a device, as devices()[0], a platform's name, or None, got {value!r}"
            )
        found = [device for device in local_devices() if device.platform == value]
        if not found:
            raise ValueError(f"config: {self.name}: {no_platform(value)}")
        return found[0]


def _truth(value: object) -> bool | None:
    """The bool for a user's or the environment's spelling of yes or no; None for any other value."""
    if isinstance(value, (bool, int)):
        return bool(value)
    text = str(value).strip().lower()
    return True if text in ("1", "true", "on", "yes") else False if text in ("0", "false", "off", "no", "") else None


def no_platform(name: str) -> str:
    """The message for a missing platform: the existing ones, and how to get the requested one."""
    counts: dict[str, int] = {}
    for device in local_devices():
        counts[device.platform] = counts.get(device.platform, 0) + 1
    there = ", ".join(f"{platform} ({count} device{'s' * (count > 1)})" for platform, count in counts.items())
    failure = gpu_failure() if name in ("gpu", "cuda") else None
    hint = failure or "this build has no back end for others, so unset PYCOMPILER_PLATFORM or choose one of these"
    return f"there is no platform {name!r} here; there is {there}: {hint}"


def _set_platform(value: Value) -> None:
    """Make the first device of the platform the default one, unless another was set."""
    set_platform_device(
        None if value is None else next(device for device in local_devices() if device.platform == value)
    )


def _keep_platform(value: Value) -> Value:
    raise ValueError("config: platform_name is a setting of the whole process, not of a thread; use default_device")


_GUARDS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")
TRANSFERS = ("host_to_device", "device_to_device", "device_to_host")


def _guard(number: int, direction: str) -> Setting:
    """The setting for one direction of transfers."""

    def everywhere(value: Value) -> None:
        set_transfer_guard(number, cast(str | None, value))

    def here(value: Value) -> Value:
        return swap_transfer_guard(number, cast(str | None, value))

    return Setting(
        f"transfer_guard_{direction}",
        str,
        None,
        f"PYCOMPILER_TRANSFER_GUARD_{direction.upper()}",
        f"the treatment of transfers from {direction.replace('_', ' ')}",
        choices=_GUARDS,
        told=(everywhere, here),
    )


def _limit_memory(value: Value) -> None:
    set_memory_limit(cast(int, value) if value else 0)


def _keep_memory_limit(value: Value) -> Value:
    raise ValueError("config: memory_limit is a setting of the whole process, not of a thread; call config.update")


def _limit_waits(value: Value) -> None:
    set_collective_timeout(cast(int, value))


def _keep_waits(value: Value) -> Value:
    raise ValueError(
        "config: collective_timeout is a setting of the whole process, not of a thread; call config.update"
    )


def _wait_for_callbacks(value: Value) -> None:
    set_wait_for_callbacks(bool(value))


def _keep_waiting(value: Value) -> Value:
    raise ValueError(
        "config: wait_for_callbacks is a setting of the whole process, not of a thread; call config.update"
    )


# Settings whose words may also be written in capitals, like JAX's enumerations.
_WORDS = ("numpy_rank_promotion", "numpy_dtype_promotion", "legacy_prng_key")

TABLE: tuple[Setting, ...] = (
    Setting("enable_x64", bool, False, "PYCOMPILER_ENABLE_X64", "keep 64-bit types instead of narrowing", keyed=True),
    Setting(
        "threefry_partitionable",
        bool,
        False,
        "PYCOMPILER_THREEFRY_PARTITIONABLE",
        "the newer stream of random bits, which can be computed in parts",
        keyed=True,
    ),
    Setting(
        "platform_name",
        str,
        None,
        "PYCOMPILER_PLATFORM",
        "the default platform of arrays",
        choices=("cpu", "gpu"),  # a missing platform is an error, never replaced silently
        keyed=True,
        told=(_set_platform, _keep_platform),
    ),
    Setting(
        "num_cpu_devices",
        int,
        1,
        "PYCOMPILER_NUM_CPU_DEVICES",
        "the number of CPU devices, which can grow",
    ),
    Setting(
        "default_device",
        Device,
        None,
        "PYCOMPILER_DEFAULT_DEVICE",
        "the device of new and uncommitted arrays: a device, or the first of a platform",
        told=(cast(Callable[[Value], None], set_default_device), cast(Callable[[Value], Value], swap_default_device)),
    ),
    *(_guard(number, direction) for number, direction in enumerate(TRANSFERS)),
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
        "the precision of matmuls without an own one; 'float32' keeps bfloat16 below 1.2e-38",
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
        "measured plans of matmuls and convolutions: off, use measured ones, or measure missing ones",
        choices=("off", "use", "measure"),
        keyed=True,
    ),
    Setting(
        "gpu_libraries",
        str,
        "auto",
        "PYCOMPILER_GPU_LIBRARIES",
        "NVIDIA's libraries that GPU programs call: auto (all that are installed), none, or their names",
        keyed=True,
    ),
    Setting(
        "numpy_rank_promotion",
        str,
        "allow",
        "PYCOMPILER_NUMPY_RANK_PROMOTION",
        "functions of numpy whose operands have different numbers of axes, none of them 0: allow them, warn, or raise "
        "a ValueError",
        choices=("allow", "warn", "raise"),
        keyed=True,
    ),
    Setting(
        "numpy_dtype_promotion",
        str,
        "standard",
        "PYCOMPILER_NUMPY_DTYPE_PROMOTION",
        "promotion of different dtypes: standard, by JAX's table, or strict, only of weakly typed operands",
        choices=("standard", "strict"),
        keyed=True,
    ),
    Setting(
        "enable_custom_prng",
        bool,
        False,
        "PYCOMPILER_ENABLE_CUSTOM_PRNG",
        "random.PRNGKey returns keys instead of their numbers",
        keyed=True,
    ),
    Setting(
        "default_prng_impl",
        str,
        "threefry2x32",
        "PYCOMPILER_DEFAULT_PRNG_IMPL",
        "the generator of new keys and of the numbers of keys: threefry2x32, rbg, unsafe_rbg, threefry4x32, philox2x32 "
        "or philox4x32",
        choices=("threefry2x32", "rbg", "unsafe_rbg", "threefry4x32", "philox2x32", "philox4x32"),
        keyed=True,
    ),
    Setting(
        "check_static_indices",
        bool,
        False,
        "PYCOMPILER_CHECK_STATIC_INDICES",
        "raise an IndexError for an integer index out of bounds, instead of taking the nearest element",
        keyed=True,
    ),
    Setting(
        "legacy_prng_key",
        str,
        "allow",
        "PYCOMPILER_LEGACY_PRNG_KEY",
        "calls of functions of random with the numbers of a key: allow them, warn, or raise an error",
        choices=("allow", "warn", "error"),
        keyed=True,
    ),
    Setting(
        "random_seed_offset",
        int,
        0,
        "PYCOMPILER_RANDOM_SEED_OFFSET",
        "a number that is added to every seed",
        keyed=True,
    ),
    Setting("no_execution", bool, False, "PYCOMPILER_NO_EXECUTION", "running compiled code is an error", mode=True),
    Setting("no_tracing", bool, False, "PYCOMPILER_NO_TRACING", "tracing a function for jit is an error", mode=True),
    Setting("disable_jit", bool, False, "PYCOMPILER_DISABLE_JIT", "run jitted functions step by step", mode=True),
    Setting("debug_nans", bool, False, "PYCOMPILER_DEBUG_NANS", "the first nan is an error", mode=True),
    Setting("debug_infs", bool, False, "PYCOMPILER_DEBUG_INFS", "the first infinity is an error", mode=True),
    Setting("checking_leaks", bool, False, "PYCOMPILER_CHECKING_LEAKS", "a leaked tracer is an error", mode=True),
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
        "the number of kinds of calls that a jitted function keeps, and of primitives that eager evaluation keeps",
    ),
    Setting(
        "enable_compilation_cache",
        bool,
        True,
        "PYCOMPILER_ENABLE_COMPILATION_CACHE",
        "keep compiled code in files for later processes",
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
        "the maximum bytes of these files, -1 for no limit; beyond it, the least recently used files are removed",
    ),
    Setting(
        "memory_limit",
        int,
        None,
        "PYCOMPILER_MEMORY_LIMIT",
        "the maximum bytes of arrays on each device; the default is the memory of the machine, or of its cgroup",
        told=(_limit_memory, _keep_memory_limit),
    ),
    Setting(
        "collective_timeout",
        int,
        300,
        "PYCOMPILER_COLLECTIVE_TIMEOUT",
        "the seconds that a launch over processes waits for a missing process; 0 for no limit",
        told=(_limit_waits, _keep_waits),
    ),
    Setting(
        "wait_for_callbacks",
        bool,
        False,
        "PYCOMPILER_WAIT_FOR_CALLBACKS",
        "a call of a program with host callbacks returns when they have run, and raises their errors, as JAX's on CPU; "
        "pycompiler.compat turns it on",
        told=(_wait_for_callbacks, _keep_waiting),
    ),
    Setting(
        "debug",
        int,
        0,
        "PYCOMPILER_DEBUG",
        "printed to stderr for each compilation: 1 the times of its stages and passes, 2 also the graph, 3 also the "
        "array module, 4 also all later stages",
    ),
    Setting(
        "dump_dir",
        str,
        None,
        "PYCOMPILER_DUMP_DIR",
        "a folder for the stages of each compilation, and a reproducer for `array-opt --run-reproducer`",
    ),
    Setting(
        "traceback_filtering",
        str,
        "auto",
        "PYCOMPILER_TRACEBACK_FILTERING",
        "the package's own frames of an error's traceback: off shows them, remove_frames removes them, "
        "tracebackhide marks them for IPython and pytest, auto does this in IPython and removes them elsewhere",
        choices=("off", "tracebackhide", "remove_frames", "auto"),
    ),
)

# JAX's other names of settings in the table.
ALIASES = {"check_tracer_leaks": "checking_leaks", "platforms": "platform_name", "xla_backend": "platform_name"}

# JAX's settings without effect here, with their defaults. They are accepted, and a warning says so once.
INERT: dict[str, object] = {
    "allow_f16_reductions": True,
    "array_garbage_collection_guard": None,
    "auto_pcast": True,
    "backend_target": "",
    "bcoo_cusparse_lowering": False,
    "captured_constants_report_frames": 0,
    "captured_constants_warn_bytes": 2_000_000_000,
    "check_proxy_envs": True,
    "compilation_cache_check_contents": False,
    "compilation_cache_expect_pgle": False,
    "compilation_cache_include_metadata_in_key": False,
    "compiler_detailed_logging_min_ops": 10,
    "compiler_enable_remat_pass": True,
    "cpu_collectives_implementation": "gloo",
    "cpu_enable_async_dispatch": True,
    "cuda_visible_devices": "all",
    "custom_vjp3": False,
    "debug_log_modules": "",
    "disable_bwd_checks": False,
    "disable_most_optimizations": False,
    "disable_vmap_shmap_error": False,
    "disallow_mesh_context_manager": False,
    "distributed_debug": False,
    "dump_ir_modes": "stablehlo",
    "dump_ir_to": "",
    "embedded_constants_max_bytes": 32,
    "enable_checks": False,
    "enable_empty_arrays": False,
    "enable_pgle": False,
    "enable_preemption_service": True,
    "enable_recoverability": False,
    "error_checking_behavior_divide": "ignore",
    "error_checking_behavior_nan": "ignore",
    "error_checking_behavior_oob": "ignore",
    "exec_time_optimization_effort": 0.0,
    "experimental_unsafe_xla_runtime_errors": False,
    "explicit_x64_dtypes": "warn",
    "export_calling_convention_version": 10,
    "export_ignore_forward_compatibility": False,
    "high_dynamic_range_gumbel": False,
    "hlo_source_file_canonicalization_regex": None,
    "include_debug_info_in_dumps": True,
    "include_full_tracebacks_in_locations": True,
    "jax2tf_associative_scan_reductions": False,
    "log_checkpoint_residuals": False,
    "logging_level": "NOTSET",
    "memory_fitting_effort": 0.0,
    "memory_fitting_level": "O2",
    "mutable_array_checks": True,
    "optimization_level": "UNKNOWN",
    "pallas_enable_debug_checks": False,
    "pallas_use_mosaic_gpu": True,
    "persistent_cache_enable_xla_caches": "xla_gpu_per_fusion_autotune_cache_dir",
    "persistent_cache_min_compile_time_secs": 1.0,
    "persistent_cache_min_entry_size_bytes": 0,
    "pgle_aggregation_percentile": 90,
    "pgle_profiling_runs": 3,
    "pjrt_client_create_options": None,
    "pprint_use_color": True,
    "ragged_dot_use_ragged_dot_instruction": True,
    "raise_persistent_cache_errors": False,
    "remove_custom_partitioning_ptr_from_cache_key": False,
    "remove_size_one_mesh_axis_from_type": False,
    "rocm_visible_devices": "all",
    "send_traceback_to_runtime": "off",
    "share_binary_between_hosts": False,
    "share_binary_between_hosts_timeout_ms": 1_200_000,
    "softmax_custom_jvp": False,
    "sort_devices_by_process_index": True,
    "source_url_schema": None,
    "thread_guard": False,
    "threefry_gpu_kernel_lowering": False,
    "traceback_in_locations_limit": 100,
    "tracer_error_num_traceback_frames": 5,
    "use_direct_linearize": True,
    "use_magma": "auto",
    "use_shardy_partitioner": True,
    "use_simplified_jaxpr_constants": False,
    "xla_profile_version": 0,
}

# Settings that JAX's environment variables set too, unless ours do: JAX_ENABLE_X64 for enable_x64.
JAX_VARIABLES = (
    *("enable_x64", "threefry_partitionable", "platforms", "platform_name", "default_device", "debug_key_reuse"),
    *("transfer_guard_host_to_device", "transfer_guard_device_to_device", "transfer_guard_device_to_host"),
    *("default_matmul_precision", "numpy_rank_promotion", "numpy_dtype_promotion", "enable_custom_prng"),
    *(
        "default_prng_impl",
        "legacy_prng_key",
        "random_seed_offset",
        "no_execution",
        "no_tracing",
        "disable_jit",
        "debug_nans",
    ),
    *("debug_infs", "check_tracer_leaks", "log_compiles", "explain_cache_misses", "enable_compilation_cache"),
    "traceback_filtering",
)
