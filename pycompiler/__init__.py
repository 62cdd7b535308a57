"""pycompiler: Python functions on arrays, traced, compiled through MLIR, and run asynchronously.

The names are JAX's: `jit`, `grad`, `vmap`, `numpy`, `lax`, `random`, `scipy`, `nn`. Importing loads neither MLIR nor
LLVM; the first compilation does. A missing name is an AttributeError that suggests the nearest name.
"""

# ruff: noqa: E402
import gc
import importlib
from typing import TYPE_CHECKING

# Nearly all objects that an import makes stay alive. Collections meanwhile would take an eighth of its time and free
# nothing.
_collects = gc.isenabled()
gc.disable()

from pycompiler import (
    ad_checkpoint,
    api_util,
    custom_batching,
    custom_derivatives,
    dlpack,
    dtypes,
    errors,
    flatten_util,
    lax,
    memory,
    monitoring,
    numpy,
    ops,
    random,
    ref,
    sharding,
    tree,
    tree_util,
    typing,
)
from pycompiler._runtime import Array, Device
from pycompiler.array import array as _array  # noqa: F401 (attaches the operators and methods of arrays)
from pycompiler.array import awaiting as _awaiting  # noqa: F401 (attaches `await` of arrays)
from pycompiler.array.references import Ref, empty_ref, free_ref, freeze, new_ref
from pycompiler.core.config.config import (
    allow_f16_reductions,
    array_garbage_collection_guard,
    check_tracer_leaks,
    checking_leaks,
    config,
    debug_infs,
    debug_key_reuse,
    debug_nans,
    default_device,
    default_matmul_precision,
    default_prng_impl,
    disable_jit,
    enable_checks,
    enable_custom_prng,
    enable_x64,
    explain_cache_misses,
    gpu_libraries,
    legacy_prng_key,
    log_compiles,
    no_execution,
    no_tracing,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    softmax_custom_jvp,
    thread_guard,
    threefry_partitionable,
    transfer_guard,
    transfer_guard_device_to_device,
    transfer_guard_device_to_host,
    transfer_guard_host_to_device,
    tuning,
)
from pycompiler.core.config.users import make_user_context
from pycompiler.core.dims.dims import Dim
from pycompiler.core.mesh.contexts import set_mesh
from pycompiler.core.mesh.mesh import make_mesh
from pycompiler.core.tracing.boundary import protect as _protect
from pycompiler.core.types.dtype import float0
from pycompiler.diagnostics.environment import print_environment_info
from pycompiler.diagnostics.memory import live_arrays
from pycompiler.diagnostics.pictures import visualize
from pycompiler.jit.jit import block_until_ready, clear_caches, jit
from pycompiler.jit.parallel import pmap, shard_map, smap
from pycompiler.jit.passes import fwd_and_bwd
from pycompiler.lax.callbacks import effects_barrier, pure_callback
from pycompiler.lax.dynamic_slices import ds
from pycompiler.lax.names import nearest_name
from pycompiler.sharding import NamedSharding, reshard
from pycompiler.sharding import PartitionSpec as P
from pycompiler.spmd import client as _client  # noqa: F401 (attaches the attribute of devices)
from pycompiler.spmd.placement import (
    copy_to_host_async,
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    host_count,
    host_id,
    host_ids,
    local_device_count,
    local_devices,
    process_count,
    process_index,
    process_indices,
)
from pycompiler.spmd.sharded import (
    Shard,
    make_array_from_callback,
    make_array_from_process_local_data,
    make_array_from_single_device_arrays,
)
from pycompiler.transforms import (
    ShapeDtypeStruct,
    checkpoint,
    checkpoint_policies,
    closure_convert,
    custom_gradient,
    custom_jvp,
    custom_vjp,
    ensure_compile_time_eval,
    eval_shape,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    make_jaxpr,
    named_call,
    named_scope,
    remat,
    typeof,
    value_and_grad,
    vjp,
    vmap,
)
from pycompiler.version import __version__, __version_info__

if TYPE_CHECKING:
    from pycompiler import (
        debug,
        distributed,
        example_libraries,
        experimental,
        export,
        ffi,
        image,
        kernel,
        nn,
        profiler,
        scipy,
        stablehlo,
        stages,
        test_util,
    )

# Modules that many programs do not need.
_LATER = frozenset(
    (
        "debug",
        "distributed",
        "example_libraries",
        "experimental",
        "export",
        "ffi",
        "image",
        "kernel",
        "nn",
        "profiler",
        "scipy",
        "stablehlo",
        "stages",
        "test_util",
    )
)

jacobian = jacrev

__all__ = [
    "Array",
    "Device",
    "Dim",
    "NamedSharding",
    "P",
    "Ref",
    "ShapeDtypeStruct",
    "Shard",
    "__version__",
    "__version_info__",
    "ad_checkpoint",
    "allow_f16_reductions",
    "api_util",
    "array_garbage_collection_guard",
    "block_until_ready",
    "check_tracer_leaks",
    "checking_leaks",
    "checkpoint",
    "checkpoint_policies",
    "clear_caches",
    "closure_convert",
    "config",
    "copy_to_host_async",
    "custom_batching",
    "custom_derivatives",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "debug_infs",
    "debug_key_reuse",
    "debug_nans",
    "default_backend",
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "distributed",
    "dlpack",
    "ds",
    "dtypes",
    "effects_barrier",
    "empty_ref",
    "enable_checks",
    "enable_custom_prng",
    "enable_x64",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "example_libraries",
    "experimental",
    "explain_cache_misses",
    "export",
    "ffi",
    "flatten_util",
    "float0",
    "free_ref",
    "freeze",
    "fwd_and_bwd",
    "gpu_libraries",
    "grad",
    "hessian",
    "host_count",
    "host_id",
    "host_ids",
    "image",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "kernel",
    "lax",
    "legacy_prng_key",
    "linear_transpose",
    "linearize",
    "live_arrays",
    "local_device_count",
    "local_devices",
    "log_compiles",
    "make_array_from_callback",
    "make_array_from_process_local_data",
    "make_array_from_single_device_arrays",
    "make_jaxpr",
    "make_mesh",
    "make_user_context",
    "memory",
    "monitoring",
    "named_call",
    "named_scope",
    "new_ref",
    "nn",
    "no_execution",
    "no_tracing",
    "numpy",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "ops",
    "pmap",
    "print_environment_info",
    "process_count",
    "process_index",
    "process_indices",
    "profiler",
    "pure_callback",
    "random",
    "ref",
    "remat",
    "reshard",
    "scipy",
    "set_mesh",
    "shard_map",
    "sharding",
    "smap",
    "softmax_custom_jvp",
    "stablehlo",
    "stages",
    "test_util",
    "thread_guard",
    "threefry_partitionable",
    "transfer_guard",
    "transfer_guard_device_to_device",
    "transfer_guard_device_to_host",
    "transfer_guard_host_to_device",
    "tree",
    "tree_util",
    "tuning",
    "typeof",
    "typing",
    "value_and_grad",
    "visualize",
    "vjp",
    "vmap",
]

_protect(globals(), [name for name in __all__ if name not in _LATER])
__getattr__ = nearest_name(__name__, __all__, later=_LATER)

# It gives the function `checkpoint` the functions save, restore, latest and wait.
importlib.import_module("pycompiler.checkpoint")

if _collects:
    # The objects go to the oldest generation at once: the next collection of the youngest would visit all 50,000 and
    # free none. Objects that the program itself froze stay frozen.
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
    gc.enable()
