"""The parts of SciPy that are there, by its module names. Compositions only: no primitive is defined here."""

from pycompiler.lax.names import nearest_name
from pycompiler.scipy import linalg, signal, special, stats

__all__ = ["linalg", "signal", "special", "stats"]

__getattr__ = nearest_name(__name__, __all__)
