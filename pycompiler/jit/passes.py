"""`fwd_and_bwd`: the forward and the backward pass of a function as two functions, each compiled once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.tracing.arguments import as_integers
from pycompiler.core.tracing.boundary import boundary, check_function
from pycompiler.jit.jit import jit
from pycompiler.transforms.derivative import vjp


@boundary
def fwd_and_bwd(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The forward and the backward pass of `fun`, which differentiate by the positional arguments `argnums`.

    `fwd(*args)` returns the value and the residuals (with `has_aux`, also the aux), `bwd(residuals, cotangent)` the
    cotangents of the arguments: a tuple, or a single cotangent if `argnums` is an int. Both are under `jit` if
    `jitted`: `bwd` compiles once for all residuals of `fwd`. This serves programs whose passes are not in one compiled
    function.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> fwd, bwd = pc.fwd_and_bwd(lambda x, w: x @ w, argnums=(0, 1))
    >>> value, residuals = fwd(pnp.ones(2), pnp.ones(2))
    >>> bwd(residuals, 3.0)
    (Array([3., 3.], dtype=float32), Array([3., 3.], dtype=float32))
    """
    check_function("fwd_and_bwd", fun)
    argnums = as_integers("fwd_and_bwd", "argnums", argnums)
    several = not isinstance(argnums, int)
    numbers = tuple(argnums) if not isinstance(argnums, int) else (argnums,)

    def fwd(*args: Any, **kwargs: Any) -> Any:
        places: list[int] = []
        for number in numbers:
            if not -len(args) <= number < len(args):
                raise ValueError(
                    f"fwd_and_bwd: argnums={argnums} asks for argument {number}, but the call has {len(args)} "
                    "positional arguments"
                )
            places.append(number % len(args))

        def of_moving(*moving: Any) -> Any:
            given = list(args)
            for place, x in zip(places, moving, strict=True):
                given[place] = x
            return fun(*given, **kwargs)

        return vjp(of_moving, *(args[place] for place in places), has_aux=has_aux)

    def bwd(f_vjp: Any, outgrad: Any) -> Any:
        found = f_vjp(outgrad)
        return found if several else found[0]

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)
