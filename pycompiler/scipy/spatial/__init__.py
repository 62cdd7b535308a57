"""Geometry, by SciPy's names."""

from pycompiler.lax.names import nearest_name
from pycompiler.scipy.spatial import transform

__all__ = ["transform"]

__getattr__ = nearest_name(__name__, __all__)
