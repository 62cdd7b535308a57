"""pycompiler: Python functions on arrays, traced, compiled through MLIR, and run asynchronously.

The names are JAX's: `jit`, `grad`, `vmap`, `numpy`, `lax`, `random`, `scipy`, `nn`. Importing loads neither MLIR
nor LLVM; the first compilation does. A name that is not there yet is absent, and asking for it names the nearest.
"""

from pycompiler import (
    ad_checkpoint,
    debug,
    dtypes,
    errors,
    experimental,
    export,
    lax,
    nn,
    numpy,
    profiler,
    random,
    scipy,
    sharding,
    stablehlo,
    tree,
    tree_util,
)
from pycompiler import array as _array  # noqa: F401 (attaches the operators and methods of arrays)
from pycompiler import awaiting as _awaiting  # noqa: F401 (attaches what `await` asks arrays for)
from pycompiler._runtime import Array, Device
from pycompiler.callbacks import effects_barrier, pure_callback
from pycompiler.core.boundary import protect as _protect
from pycompiler.core.config import (
    checking_leaks,
    config,
    debug_infs,
    debug_key_reuse,
    debug_nans,
    default_device,
    default_matmul_precision,
    disable_jit,
    enable_x64,
    explain_cache_misses,
    gpu_libraries,
    log_compiles,
    threefry_partitionable,
    transfer_guard,
    transfer_guard_device_to_device,
    transfer_guard_device_to_host,
    transfer_guard_host_to_device,
    tuning,
)
from pycompiler.core.dims import Dim
from pycompiler.core.mesh import make_mesh, set_mesh
from pycompiler.environment import print_environment_info
from pycompiler.jit import block_until_ready, clear_caches, jit
from pycompiler.lax.names import nearest_name
from pycompiler.memory import live_arrays
from pycompiler.parallel import pmap, shard_map
from pycompiler.pictures import visualize
from pycompiler.placement import (
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    local_device_count,
    local_devices,
    process_count,
    process_index,
)
from pycompiler.sharded import make_array_from_callback, make_array_from_single_device_arrays
from pycompiler.sharding import NamedSharding
from pycompiler.sharding import PartitionSpec as P
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
from pycompiler.version import __version__

jacobian = jacrev

__all__ = [
    "Array",
    "Device",
    "Dim",
    "NamedSharding",
    "P",
    "ShapeDtypeStruct",
    "__version__",
    "ad_checkpoint",
    "block_until_ready",
    "checking_leaks",
    "checkpoint",
    "checkpoint_policies",
    "clear_caches",
    "closure_convert",
    "config",
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
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "dtypes",
    "effects_barrier",
    "enable_x64",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "experimental",
    "explain_cache_misses",
    "export",
    "gpu_libraries",
    "grad",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "live_arrays",
    "local_device_count",
    "local_devices",
    "log_compiles",
    "make_array_from_callback",
    "make_array_from_single_device_arrays",
    "make_jaxpr",
    "make_mesh",
    "named_call",
    "named_scope",
    "nn",
    "numpy",
    "pmap",
    "print_environment_info",
    "process_count",
    "process_index",
    "profiler",
    "pure_callback",
    "random",
    "remat",
    "scipy",
    "set_mesh",
    "shard_map",
    "sharding",
    "stablehlo",
    "threefry_partitionable",
    "transfer_guard",
    "transfer_guard_device_to_device",
    "transfer_guard_device_to_host",
    "transfer_guard_host_to_device",
    "tree",
    "tree_util",
    "tuning",
    "typeof",
    "value_and_grad",
    "visualize",
    "vjp",
    "vmap",
]

_protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
