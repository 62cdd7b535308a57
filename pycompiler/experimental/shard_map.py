"""`shard_map` with the parameters of jax's earlier version."""

from collections.abc import Callable
from typing import Any

from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.tracing.boundary import protect
from pycompiler.jit.parallel import shard_map as _shard_map
from pycompiler.lax.names import nearest_name

__all__ = ["shard_map"]


def shard_map(
    f: Callable[..., Any], mesh: Mesh | None, in_specs: Any, out_specs: Any, check_rep: bool = True
) -> Callable[..., Any]:
    """`pycompiler.shard_map`. Its parameter `check_vma` has the name `check_rep` here.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> from pycompiler.experimental.shard_map import shard_map
    >>> from pycompiler.sharding import PartitionSpec as P
    >>> mesh = pc.make_mesh((1,), ("x",))
    >>> shard_map(lambda x: pc.lax.psum(x, "x"), mesh, P("x"), P())(pnp.arange(2.0))
    Array([0., 1.], dtype=float32)
    """
    return _shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
