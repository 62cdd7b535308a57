"""The functions of lax: thin names over the primitives, strict about dtypes and shapes (numpy promotes and broadcasts).

It imports transforms, and numpy imports it. A missing name is an AttributeError that suggests the nearest name.
"""

from typing import NoReturn

from pycompiler.core.tracing.boundary import expose
from pycompiler.lax import (
    arrays,
    barriers,
    bits,
    branches,
    complexes,
    composites,
    contraction,
    control_flow,
    convolution,
    cumulative,
    elementwise,
    fourier,
    generator,
    handles,
    indexing,
    linalg,
    movement,
    parallel,
    precision,
    ragged_exchange,
    reduction,
    scans,
    shardings,
    solvers,
    special,
    window,
)
from pycompiler.lax.arrays import *
from pycompiler.lax.barriers import *
from pycompiler.lax.bits import *
from pycompiler.lax.branches import *
from pycompiler.lax.complexes import *
from pycompiler.lax.composites import *
from pycompiler.lax.contraction import *
from pycompiler.lax.control_flow import *
from pycompiler.lax.convolution import *
from pycompiler.lax.cumulative import *
from pycompiler.lax.elementwise import *
from pycompiler.lax.fourier import *
from pycompiler.lax.generator import *
from pycompiler.lax.handles import *
from pycompiler.lax.indexing import *
from pycompiler.lax.movement import *
from pycompiler.lax.names import nearest_name
from pycompiler.lax.parallel import *
from pycompiler.lax.precision import *
from pycompiler.lax.ragged_exchange import *
from pycompiler.lax.reduction import *
from pycompiler.lax.scans import *
from pycompiler.lax.shardings import *
from pycompiler.lax.solvers import *
from pycompiler.lax.special import *
from pycompiler.lax.window import *

# Each module defines its public names.
__all__ = [
    "linalg",
]
__all__ += arrays.__all__
__all__ += barriers.__all__
__all__ += bits.__all__
__all__ += branches.__all__
__all__ += complexes.__all__
__all__ += composites.__all__
__all__ += contraction.__all__
__all__ += control_flow.__all__
__all__ += convolution.__all__
__all__ += cumulative.__all__
__all__ += elementwise.__all__
__all__ += fourier.__all__
__all__ += generator.__all__
__all__ += handles.__all__
__all__ += indexing.__all__
__all__ += movement.__all__
__all__ += parallel.__all__
__all__ += precision.__all__
__all__ += ragged_exchange.__all__
__all__ += reduction.__all__
__all__ += scans.__all__
__all__ += shardings.__all__
__all__ += solvers.__all__
__all__ += special.__all__
__all__ += window.__all__

elementwise.refuse_mixed_scalars(globals())
expose(globals(), __all__)
_missing = nearest_name(__name__, __all__)


def __getattr__(name: str) -> NoReturn:
    _missing(name)
