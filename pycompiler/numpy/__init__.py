"""NumPy's functions on arrays, with NumPy's broadcasting and JAX's promotion of dtypes. No function changes its
arguments.

It composes functions of lax and defines no primitive. random and nn import it. A missing name is an AttributeError
that suggests the nearest name.
"""

from math import e, inf, nan, pi
from typing import NoReturn

import numpy as _np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import boundary, expose
from pycompiler.core.types.dtype import finfo, iinfo, promote_types
from pycompiler.lax.names import nearest_name
from pycompiler.numpy import (
    arithmetic,
    calculus,
    comparisons,
    complexes,
    contraction,
    creation,
    cumulative,
    diagonals,
    editing,
    fft,
    grids,
    histograms,
    interchange,
    linalg,
    mapping,
    movement,
    nans,
    numbers,
    padding,
    polynomial,
    positions,
    products,
    ranges,
    reductions,
    sets,
    sorting,
    statistics,
    taking,
    turning,
    types,
    ufuncs,
    windows,
)
from pycompiler.numpy.arithmetic import *
from pycompiler.numpy.calculus import *
from pycompiler.numpy.comparisons import *
from pycompiler.numpy.complexes import *
from pycompiler.numpy.contraction import *
from pycompiler.numpy.creation import *
from pycompiler.numpy.cumulative import *
from pycompiler.numpy.diagonals import *
from pycompiler.numpy.editing import *
from pycompiler.numpy.einsum import einsum, einsum_path
from pycompiler.numpy.grids import *
from pycompiler.numpy.histograms import *
from pycompiler.numpy.interchange import *
from pycompiler.numpy.interchange import API_VERSION, ArrayNamespaceInfo
from pycompiler.numpy.mapping import *
from pycompiler.numpy.movement import *
from pycompiler.numpy.nans import *
from pycompiler.numpy.numbers import *
from pycompiler.numpy.padding import *
from pycompiler.numpy.polynomial import *
from pycompiler.numpy.positions import *
from pycompiler.numpy.products import *
from pycompiler.numpy.ranges import *
from pycompiler.numpy.reductions import *
from pycompiler.numpy.sets import *
from pycompiler.numpy.sorting import *
from pycompiler.numpy.statistics import *
from pycompiler.numpy.taking import *
from pycompiler.numpy.turning import *
from pycompiler.numpy.types import *
from pycompiler.numpy.types import SMALL
from pycompiler.numpy.ufunc import (
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    frompyfunc,
    logaddexp,
    logaddexp2,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    subtract,
    ufunc,
)
from pycompiler.numpy.ufuncs import *
from pycompiler.numpy.windows import *

# Each module defines its public names.
__all__ = [
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bool",
    "dtype",
    "e",
    "einsum",
    "einsum_path",
    "euler_gamma",
    "fft",
    "finfo",
    "frompyfunc",
    "iinfo",
    "inf",
    "linalg",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "nan",
    "ndarray",
    "negative",
    "newaxis",
    "pi",
    "promote_types",
    "subtract",
    "ufunc",
]
__all__ += arithmetic.__all__
__all__ += calculus.__all__
__all__ += comparisons.__all__
__all__ += complexes.__all__
__all__ += contraction.__all__
__all__ += creation.__all__
__all__ += cumulative.__all__
__all__ += diagonals.__all__
__all__ += editing.__all__
__all__ += grids.__all__
__all__ += histograms.__all__
__all__ += interchange.__all__
__all__ += mapping.__all__
__all__ += movement.__all__
__all__ += nans.__all__
__all__ += numbers.__all__
__all__ += padding.__all__
__all__ += polynomial.__all__
__all__ += positions.__all__
__all__ += ranges.__all__
__all__ += products.__all__
__all__ += reductions.__all__
__all__ += sets.__all__
__all__ += sorting.__all__
__all__ += statistics.__all__
__all__ += taking.__all__
__all__ += turning.__all__
__all__ += types.__all__
__all__ += ufuncs.__all__
__all__ += windows.__all__

ndarray = Array
__array_api_version__ = API_VERSION
__array_namespace_info__ = ArrayNamespaceInfo
newaxis = None
euler_gamma = 0.57721566490153286

bool = bool_
dtype = _np.dtype
globals().update(SMALL)

expose(globals(), __all__)
_missing = nearest_name(__name__, __all__)


@boundary
def __getattr__(name: str) -> NoReturn:
    _missing(name)
