"""`composite`: a named function, made of others. Part of lax."""

import functools
from collections.abc import Callable
from typing import Any

from pycompiler.core.errors import NotDifferentiableError, UnexpectedTracerError
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import tree_flatten, tree_leaves
from pycompiler.lax.operands import check_arrays
from pycompiler.lax.tracing import check_callable, trace_function
from pycompiler.transforms import custom_jvp

__all__ = ["composite"]


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """The function `decomposition` under a name.

    Its positional arguments are trees of arrays. Its keyword arguments are attributes with known values. No target of
    this compiler has an instruction for a name. The decomposition is compiled everywhere, so `name` and `version` are
    for readers.

    A derivative raises NotDifferentiableError: give the calling function a rule by `custom_jvp`. Raises
    UnexpectedTracerError for a traced attribute, and for a decomposition that closes over a traced value.

    >>> import functools
    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> @functools.partial(lax.composite, name="my.scaled")
    ... def scaled(x, /, *, by):
    ...     return x * by
    >>> scaled(pnp.arange(3), by=2)
    Array([0, 2, 4], dtype=int32)
    """
    check_callable("composite", decomposition=decomposition)

    @functools.wraps(decomposition)
    def call(*args: Any, **kwargs: Any) -> Any:
        for key, value in kwargs.items():
            if any(isinstance(leaf, Tracer) for leaf in tree_leaves(value)):
                raise UnexpectedTracerError(
                    f"composite: the attribute {key!r} of {name} is being traced: make it a positional argument"
                )
        leaves, in_tree = tree_flatten((args, {}))
        check_arrays(name, *leaves)
        graph, out_tree = trace_function(
            "composite", functools.partial(decomposition, **kwargs), in_tree, [get_aval(leaf) for leaf in leaves]
        )
        if any(isinstance(const, Tracer) for const in graph.consts):
            raise UnexpectedTracerError(
                f"composite: the decomposition of {name} closes over a value that is being traced: make it a "
                "positional argument"
            )

        def decomposed(*leaves: Any) -> tuple[Any, ...]:
            return tuple(evaluate(graph, leaves))

        decomposed.__name__ = decomposed.__qualname__ = name
        function = custom_jvp(decomposed)
        function.defjvp(functools.partial(_refuse, name))
        return out_tree.unflatten(function(*leaves))

    return call


def _refuse(name: str, primals: Any, tangents: Any) -> Any:
    raise NotDifferentiableError(
        f"composite: {name} has no derivative.\nWhat to do: give the calling function a rule by custom_jvp"
    )
