"""Clusters of points, by SciPy's names."""

from pycompiler.lax.names import nearest_name
from pycompiler.scipy.cluster import vq

__all__ = ["vq"]

__getattr__ = nearest_name(__name__, __all__)
