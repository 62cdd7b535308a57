"""The supported parts of SciPy, by its module names. Compositions only: it defines no primitive."""

from pycompiler.lax.names import nearest_name
from pycompiler.scipy import linalg, signal, special, stats

__all__ = ["linalg", "signal", "special", "stats"]

__getattr__ = nearest_name(__name__, __all__)
