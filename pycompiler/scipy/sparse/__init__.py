"""Linear systems that are given by a function, by SciPy's names."""

from pycompiler.lax.names import nearest_name
from pycompiler.scipy.sparse import linalg

__all__ = ["linalg"]

__getattr__ = nearest_name(__name__, __all__)
