"""Iterative solvers of linear systems, given by a function. Vectors are trees of arrays.

The derivatives are those of the equation (`lax.custom_linear_solve`): solutions by the same solver, not derivatives of
its steps.
"""

from collections.abc import Callable
from typing import Any

import pycompiler.numpy as pnp
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.lax.solvers import custom_linear_solve
from pycompiler.scipy.sparse import krylov
from pycompiler.scipy.sparse.vectors import (
    Operator,
    Tree,
    as_weak_as,
    checked_pair,
    identity,
    norm,
    operator_of,
    size_of,
)

__all__ = ["bicgstab", "cg", "gmres"]

Array = Any


def cg(
    A: Any, b: Tree, x0: Tree = None, *, tol: Any = 1e-5, atol: Any = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Tree, None]:
    """The solution of A x = b by conjugate gradients, for a Hermitian and positive definite A; and None.

    A: a square matrix, an object with `@`, or a linear function of a tree like b. b: a tree of arrays. x0: the first
    guess, like b (zeros). The iteration ends at `norm(b - A x) <= max(tol * norm(b), atol)`, or after maxiter steps
    (10 for each number of b). M: an approximate inverse of A, of the same kind as A. ValueError for a matrix that is
    not square, or if b and x0 differ in structure or shapes.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy.sparse.linalg import cg
    >>> x, _ = cg(pnp.array([[4.0, 1.0], [1.0, 3.0]]), pnp.array([1.0, 2.0]))
    >>> x.round(3)
    Array([0.091, 0.636], dtype=float32)
    """
    return _solved("cg", krylov.conjugate_gradients, A, b, x0, tol, atol, maxiter, M, symmetric=True), None


def bicgstab(
    A: Any, b: Tree, x0: Tree = None, *, tol: Any = 1e-5, atol: Any = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Tree, None]:
    """The solution of A x = b by stabilized biconjugate gradients, for any regular A; and None. Parameters as in `cg`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy.sparse.linalg import bicgstab
    >>> x, _ = bicgstab(lambda x: {"v": 2 * x["v"]}, {"v": pnp.ones(2)})
    >>> x
    {'v': Array([0.5, 0.5], dtype=float32)}
    """
    return _solved("bicgstab", krylov.stabilized_gradients, A, b, x0, tol, atol, maxiter, M, symmetric=False), None


def gmres(
    A: Any,
    b: Tree,
    x0: Tree = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Tree, Array]:
    """The solution of A x = b by generalized minimal residuals, for any regular A; and 0, or -1 if it has nans.

    restart: the dimension of the Krylov spaces. Each space is one of at most maxiter steps. solve_method: 'batched'
    solves one least squares problem for each space; 'incremental' updates its factors, and so can end within a space.
    Other parameters as in `cg`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy.sparse.linalg import gmres
    >>> x, _ = gmres(pnp.array([[1.0, 2.0], [0.0, 4.0]]), pnp.array([3.0, 4.0]))
    >>> x.round(3)
    Array([1., 1.], dtype=float32)
    """
    if solve_method not in ("batched", "incremental"):
        raise ValueError(f"gmres: solve_method is 'batched' or 'incremental', got {solve_method!r}")
    given = b
    b, x0 = checked_pair("gmres", b, x0)
    matvec, inverse = operator_of("gmres", A), operator_of("gmres", M)
    size = size_of(b)
    limit = 10 * size if maxiter is None else maxiter
    total = norm(b)
    absolute = pnp.maximum(pnp.asarray(tol, total.dtype) * total, pnp.asarray(atol, total.dtype))
    # The residual of the preconditioned system for this tolerance.
    inner = norm(inverse(b)) * pnp.minimum(1.0, absolute / total)

    def solve(matvec: Operator, b: Tree) -> Tree:
        space = krylov.Space(matvec, inverse, b, min(restart, size), solve_method == "incremental")
        return krylov.minimal_residuals(space, x0, absolute, inner, limit)

    x = custom_linear_solve(matvec, b, solve=solve, transpose_solve=solve)
    return as_weak_as(x, given), pnp.where(pnp.isnan(norm(x)), -1, 0)


def _solved(
    name: str,
    solver: Callable[..., Tree],
    A: Any,
    b: Tree,
    x0: Tree,
    tol: Any,
    atol: Any,
    maxiter: Any,
    M: Any,
    *,
    symmetric: bool,
) -> Tree:
    given = b
    b, x0 = checked_pair(name, b, x0)
    matvec, inverse = operator_of(name, A), operator_of(name, M)
    limit = 10 * size_of(b) if maxiter is None else maxiter
    # A Hermitian operator of real numbers is its own transpose.
    symmetric = symmetric and not any(pnp.iscomplexobj(leaf) for leaf in krylov.tree_leaves(b))

    def solve(matvec: Operator, b: Tree) -> Tree:
        return solver(matvec, b, x0, tol, atol, limit, inverse, inverse is identity)

    x = custom_linear_solve(matvec, b, solve=solve, transpose_solve=solve, symmetric=symmetric)
    return as_weak_as(x, given)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
