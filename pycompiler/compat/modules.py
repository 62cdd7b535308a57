"""The modules of JAX that this package replaces: one table.

`jax.X` is `pycompiler.X` unless `ELSEWHERE` names other modules. Without such a module, `jax.X` is missing. A module
`jax.X` has the names in `__all__` of our module, and the modules of this table.
"""

from __future__ import annotations

# The modules of JAX's documentation, by the names below `jax`.
_TEXT = """
ad_checkpoint api_util core custom_batching custom_derivatives custom_transpose debug distributed dlpack dtypes errors
example_libraries example_libraries.optimizers example_libraries.stax experimental experimental.array_serialization
experimental.checkify experimental.colocated_python experimental.compilation_cache
experimental.compilation_cache.compilation_cache experimental.compute_on experimental.custom_partitioning
experimental.hijax experimental.jet experimental.key_reuse experimental.layout experimental.mesh_utils
experimental.multihost_utils experimental.ode experimental.pallas experimental.pallas.tpu experimental.pjit
experimental.profiler experimental.rnn experimental.serialize_executable experimental.shard_map experimental.sparse
experimental.sparse.linalg experimental.topologies experimental.xla_metadata export extend extend.backend extend.core
extend.core.primitives extend.ifrt_programs extend.linear_util extend.random extend.sharding extend.source_info_util
extend.xla ffi flatten_util image memory interpreters interpreters.ad interpreters.batching interpreters.mlir
interpreters.partial_eval interpreters.pxla interpreters.xla lax lax.linalg lib monitoring nn nn.initializers numpy
numpy.fft numpy.linalg ops profiler random ref scipy scipy.cluster scipy.cluster.vq scipy.fft scipy.integrate
scipy.interpolate scipy.linalg scipy.ndimage scipy.optimize scipy.signal scipy.sparse scipy.sparse.linalg
scipy.spatial scipy.spatial.transform scipy.special scipy.stats scipy.stats.bernoulli scipy.stats.beta
scipy.stats.betabinom scipy.stats.binom scipy.stats.cauchy scipy.stats.chi2 scipy.stats.dirichlet scipy.stats.expon
scipy.stats.gamma scipy.stats.gennorm scipy.stats.geom scipy.stats.gumbel_l scipy.stats.gumbel_r scipy.stats.laplace
scipy.stats.logistic scipy.stats.multinomial scipy.stats.multivariate_normal scipy.stats.nbinom scipy.stats.norm
scipy.stats.pareto scipy.stats.poisson scipy.stats.t scipy.stats.truncnorm scipy.stats.uniform scipy.stats.vonmises
scipy.stats.wrapcauchy sharding stages test_util tree tree_util typing version
"""
NAMES = frozenset(_TEXT.split())

# Modules whose names do not come from `pycompiler.X`, with our modules in the order of lookup.
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "": (*(f"pycompiler.compat.{name}" for name in ("root", "callbacks", "placement")), "pycompiler"),
    "debug": ("pycompiler.compat.debugging", "pycompiler.debug"),
    "experimental": ("pycompiler.compat.callbacks", "pycompiler.compat.qdd", "pycompiler.experimental"),
    "core": ("pycompiler.extend.tracing", "pycompiler.compat.tables"),  # `pycompiler.core` is an internal package
    "experimental.pallas.tpu": ("pycompiler.compat.pallas_tpu",),
    "interpreters.xla": ("pycompiler.interpreters.xla", "pycompiler.compat.tables"),
    "lib": ("pycompiler.compat.lib",),
    "version": ("pycompiler.compat.version",),
}


def providers(name: str) -> tuple[str, ...] | None:
    """The names of our modules behind `jax.<name>`; "" is `jax` itself. None for a module that JAX does not have."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    return (f"pycompiler.{name}",) if name in NAMES else None
