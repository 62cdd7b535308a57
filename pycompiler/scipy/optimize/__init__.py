"""Minimization, by SciPy's names."""

from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.optimize.minimization import OptimizeResults, minimize

__all__ = ["OptimizeResults", "minimize"]

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
