"""Reductions of segments, the sets of rows with one number, as in `jax.ops`."""

from pycompiler.core.tracing.boundary import expose
from pycompiler.lax.names import nearest_name
from pycompiler.numpy.segments import segment_max, segment_min, segment_prod, segment_sum

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

expose(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
