"""`minimize`: a function of a vector, by quasi-Newton methods with automatic gradients."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pycompiler.numpy as pnp
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.operands import check_arrays
from pycompiler.numpy.promotion import inexact
from pycompiler.scipy.optimize.quasi_newton import Result, bfgs, limited_memory_bfgs

Array = Any


class OptimizeResults(NamedTuple):
    """The result of `minimize`.

    x: the solution. success: whether the search converged. status: 0 for convergence. For BFGS, 1 means too many
    iterations, 3 a line search that found no step, 5 one that needed too many, and -1 undefined. For L-BFGS, 1 to 3
    mean too many iterations, evaluations or gradients, 4 no progress, and 5 a line search without a step. fun, jac: the
    value and the gradient at x. hess_inv: the estimate of the inverse Hessian, or None. nfev, njev, nit: the numbers of
    evaluations, gradients and iterations.
    """

    x: Array
    success: Any
    status: Any
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: Any
    njev: Any
    nit: Any


_METHODS: dict[str, Callable[..., Result]] = {
    "bfgs": bfgs,
    "l-bfgs-experimental-do-not-rely-on-this": limited_memory_bfgs,
}


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of fun(x, *args), a differentiable function from vectors to scalars.

    x0: f[n], the start of the search. method: 'BFGS'. options of BFGS: maxiter (200 n), norm (inf, the order of the
    norm of the gradient), gtol (1e-5, the norm that ends the search), line_search_maxiter (10). tol has no effect. The
    function works under jit and vmap. Raises TypeError if args is not a tuple or an option is unknown, ValueError for
    another method, or if x0 is not a vector.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy.optimize import minimize
    >>> minimize(lambda x: pnp.sum((x - 3) ** 2), pnp.zeros(2), method="BFGS").x
    Array([3., 3.], dtype=float32)
    """
    if not isinstance(args, tuple):
        raise TypeError(f"minimize: args must be a tuple, got {type(args).__name__}")
    if not isinstance(method, str):
        raise TypeError(f"minimize: method must be a string, got {method!r}")
    if not callable(fun):
        raise TypeError(f"minimize: fun must be a function, got {fun!r} of type {type(fun).__name__}")
    solver = _METHODS.get(method.lower())
    if solver is None:
        raise ValueError(f"minimize: there is no method {method!r}; use 'BFGS'")
    check_arrays("minimize", x0)
    if len(get_aval(x0).shape) != 1:
        raise ValueError(f"minimize: x0 must be a vector, got {short(get_aval(x0))}; ravel it")
    x0 = pnp.asarray(x0).astype(inexact(get_aval(x0).dtype))
    given = dict(options or {})
    known = list(inspect.signature(solver).parameters)[2:]
    for name in given:
        if name not in known:
            raise TypeError(f"minimize: {method} has no option {name!r}; it has {', '.join(known)}")
    result = solver(lambda x: fun(x, *args), x0, **given)
    return OptimizeResults(
        x=result.x,
        success=result.converged & ~result.failed,
        status=result.status,
        fun=result.value,
        jac=result.slope,
        hess_inv=result.inverse,
        nfev=result.evaluations,
        njev=result.evaluations,
        nit=result.iterations,
    )
