"""Flat functions with transformations around them, for interpreters: `wrap_init`, `transformation`, `WrappedFun`.

>>> from pycompiler.extend import linear_util as lu
>>> @lu.transformation_with_aux
... def counted(*args):
...     results = yield args, {}
...     yield results, len(results)
>>> fun, count = counted(lu.wrap_init(lambda x, y: [x + y, x * y]))
>>> fun.call_wrapped(3, 4), count()
([7, 12], 2)
"""

from pycompiler.core.tracing.wrapped import (
    StoreException,
    WrappedFun,
    cache,
    merge_linear_aux,
    transformation,
    transformation2,
    transformation_with_aux,
    transformation_with_aux2,
    wrap_init,
)
from pycompiler.lax.names import nearest_name

__all__ = [
    "StoreException",
    "WrappedFun",
    "cache",
    "merge_linear_aux",
    "transformation",
    "transformation2",
    "transformation_with_aux",
    "transformation_with_aux2",
    "wrap_init",
]

__getattr__ = nearest_name(__name__, __all__)
