"""Images: resizing, and resampling under a scale and a translation, as in `jax.image`."""

from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.nn.resizing import ResizeMethod, resize, scale_and_translate

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]

protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
