"""References to arrays, which functions read and write in place, also in compiled code. See `new_ref`."""

from pycompiler.array.references import (
    AbstractRef,
    Ref,
    addupdate,
    empty_ref,
    free_ref,
    freeze,
    get,
    new_ref,
    set,
    swap,
)
from pycompiler.lax.names import nearest_name

__all__ = ["AbstractRef", "Ref", "addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]

__getattr__ = nearest_name(__name__, __all__)
