"""Evaluation of users' primitives, by compiling their lowering."""

import functools
from collections.abc import Callable
from typing import Any

from pycompiler.core.tracing.primitive import Primitive
from pycompiler.jit.jit import jit
from pycompiler.lax.names import nearest_name

__all__ = ["apply_primitive"]


@functools.lru_cache(maxsize=1024)
def _compiled(prim: Primitive, params: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    def apply(*args: Any) -> Any:
        return prim.bind(*args, **dict(params))

    apply.__name__ = prim.name
    return jit(apply)


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """The result of a primitive for arrays, by its compiled lowering. It serves as an `impl`:
    `p.def_impl(functools.partial(apply_primitive, p))`.

    Raises TypeError for parameters that can't be hashed, NotImplementedError for a primitive without a lowering.
    """
    return _compiled(prim, tuple(params.items()))(*args)


__getattr__ = nearest_name(__name__, __all__)
