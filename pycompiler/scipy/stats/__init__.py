"""Statistics by SciPy's names."""

from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.stats.density import gaussian_kde
from pycompiler.scipy.stats.ranks import mode, rankdata, sem

__all__ = ["gaussian_kde", "mode", "rankdata", "sem"]

protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
