"""The iterations of the solvers: Saad, Iterative Methods for Sparse Linear Systems (2003), chapters 6, 7 and 9."""

from typing import Any, NamedTuple

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.tree import tree_leaves, tree_map
from pycompiler.lax.control_flow import fori_loop, while_loop
from pycompiler.scipy.linalg.solving import solve_triangular
from pycompiler.scipy.sparse.vectors import (
    Operator,
    Tree,
    chosen,
    dtype_of,
    inner,
    inner_real,
    minus,
    norm,
    plus,
    raveled,
    unraveled,
)

__all__ = ["Space", "conjugate_gradients", "minimal_residuals", "stabilized_gradients", "tree_leaves"]

Array = Any


def _squared_tolerance(b: Tree, tol: Any, atol: Any) -> Array:
    square = inner_real(b, b)
    tol, atol = (pnp.asarray(one).astype(square.dtype) for one in (tol, atol))
    return pnp.maximum(tol**2 * square, atol**2)


def conjugate_gradients(
    A: Operator, b: Tree, x0: Tree, tol: Any, atol: Any, limit: Any, M: Operator, plain: bool
) -> Tree:
    """Conjugate gradients. With `plain`, M is the identity, and the squared norm of the residual is known."""
    enough = _squared_tolerance(b, tol, atol)
    dtype = enough.dtype

    def goes_on(state: Any) -> Array:
        _, r, gamma, _, k = state
        return ((gamma if plain else inner_real(r, r)) > enough) & (k < limit)

    def step(state: Any) -> Any:
        x, r, gamma, p, k = state
        image = A(p)
        alpha = gamma / inner_real(p, image).astype(dtype)
        x, r = plus(x, alpha, p), plus(r, -alpha, image)
        z = M(r)
        following = inner_real(r, z).astype(dtype)
        return x, r, following, plus(z, following / gamma, p), k + 1

    r = minus(b, A(x0))
    z = M(r)
    return while_loop(goes_on, step, (x0, r, inner_real(r, z).astype(dtype), z, 0))[0]


def stabilized_gradients(
    A: Operator, b: Tree, x0: Tree, tol: Any, atol: Any, limit: Any, M: Operator, plain: bool
) -> Tree:
    """Stabilized biconjugate gradients. At a breakdown, the number of steps becomes negative."""
    enough = _squared_tolerance(b, tol, atol)
    dtype = dtype_of(b)

    def goes_on(state: Any) -> Array:
        r, k = state[1], state[-1]
        return (inner_real(r, r) > enough) & (k < limit) & (k >= 0)

    def step(state: Any) -> Any:
        x, r, shadow, alpha, omega, rho, p, q, k = state
        following = inner(shadow, r).astype(dtype)
        beta = following / rho * alpha / omega
        p = plus(r, beta, plus(p, -omega, q))
        turned = M(p)
        q = A(turned)
        alpha = (following / inner(shadow, q)).astype(dtype)
        s = plus(r, -alpha, q)
        early = inner_real(s, s) < enough
        smooth = M(s)
        image = A(smooth)
        omega = (inner(image, s) / inner(image, image)).astype(dtype)
        half = plus(x, alpha, turned)
        x, r = chosen(early, half, plus(half, omega, smooth)), chosen(early, s, plus(s, -omega, image))
        k = pnp.where((omega == 0) | (alpha == 0), -11, k + 1)
        return x, r, shadow, alpha, omega, following, p, q, pnp.where(following == 0, -10, k)

    r, one = minus(b, A(x0)), pnp.ones((), dtype)
    return while_loop(goes_on, step, (x0, r, r, one, one, one, r, r, 0))[0]


class Space(NamedTuple):
    """The Krylov spaces of a preconditioned system, on vectors of all elements."""

    A: Operator
    M: Operator
    b: Tree
    dimension: int
    incremental: bool

    def image(self, vector: Array) -> Array:
        """M A of a vector."""
        return raveled(self.M(self.A(unraveled(vector, self.b)))).astype(vector.dtype)

    def residual(self, x: Tree) -> tuple[Array, Array]:
        """The direction and norm of the preconditioned residual."""
        return _unit(raveled(self.M(minus(self.b, self.A(x)))))


def _unit(vector: Array, least: Any = None) -> tuple[Array, Array]:
    """The vector scaled to norm 1, and the norm; both are zero if the norm is at most `least`. A nan stays."""
    length = norm(vector)
    usable = ~(length <= (dtypes.finfo(length.dtype).eps if least is None else least))
    unit = pnp.where(usable, vector / pnp.where(usable, length, 1).astype(vector.dtype), 0)
    return unit, pnp.where(usable, length, 0)


def minimal_residuals(space: Space, x0: Tree, tolerance: Array, inner_tolerance: Array, limit: Any) -> Tree:
    """Generalized minimal residuals. Each Krylov space is one step."""

    def goes_on(state: Any) -> Array:
        return (state[1] < limit) & (state[3] > tolerance)

    def step(state: Any) -> Any:
        x, k, unit, length = state
        solve = _by_rotations if space.incremental else _by_least_squares
        basis, y = solve(space, unit, length, inner_tolerance)
        x = tree_map(lambda a, d: a + d, x, unraveled(pnp.matmul(y, basis[:-1], precision="highest"), x))
        return x, k + 1, *space.residual(x)

    x, _, _, length = while_loop(goes_on, step, (x0, 0, *space.residual(x0)))
    # The loop ends at a residual of nan, since x is then unknown.
    return tree_map(lambda a: pnp.where(pnp.isnan(length), np.nan, a).astype(a.dtype), x)


def _arnoldi(space: Space, basis: Array, k: Array) -> tuple[Array, Array, Array]:
    """The basis with one more vector, the coefficients of the image of vector k, and whether the space is complete."""
    image = space.image(basis[k])
    before = norm(image)
    coefficients = pnp.zeros(basis.shape[0], basis.dtype)
    # Classical Gram-Schmidt, done twice, is exact enough (Giraud et al., 2005).
    for _ in range(2):
        part = pnp.matmul(pnp.conj(basis), image, precision="highest")
        image = image - pnp.matmul(part, basis, precision="highest")
        coefficients = coefficients + part
    unit, length = _unit(image, dtypes.finfo(before.dtype).eps * before)
    basis = basis.at[k + 1].set(unit)
    return basis, coefficients.at[k + 1].set(length.astype(basis.dtype)), length == 0


def _start(space: Space, unit: Array) -> tuple[Array, Array]:
    """The basis, and the rows of coefficients. Unused rows are those of the identity."""
    n = space.dimension
    basis = pnp.zeros((n + 1, unit.shape[0]), unit.dtype).at[0].set(unit)
    return basis, pnp.eye(n, n + 1, dtype=unit.dtype)


def _by_least_squares(space: Space, unit: Array, length: Array, tolerance: Array) -> tuple[Array, Array]:
    basis, rows = _start(space, unit)

    def goes_on(state: Any) -> Array:
        return (state[0] < space.dimension) & ~state[3]

    def step(state: Any) -> Any:
        k, basis, rows, _ = state
        basis, row, ended = _arnoldi(space, basis, k)
        return k + 1, basis, rows.at[k].set(row), ended

    _, basis, rows, _ = while_loop(goes_on, step, (0, basis, rows, np.bool_(False)))
    q, r = pnp.linalg.qr(rows.T)
    return basis, solve_triangular(r, pnp.conj(q[0]) * length.astype(r.dtype))


def _by_rotations(space: Space, unit: Array, length: Array, tolerance: Array) -> tuple[Array, Array]:
    """A rotation for each vector makes the coefficients triangular; the rotated target has the norm of the residual."""
    basis, rows = _start(space, unit)
    n = space.dimension
    target = pnp.zeros(n + 1, unit.dtype).at[0].set(length.astype(unit.dtype))

    def rotated(vector: Array, i: Array, turn: Array) -> Array:
        c, s = turn[0], turn[1]
        upper, lower = vector[i], vector[i + 1]
        vector = vector.at[i].set(pnp.conj(c) * upper + pnp.conj(s) * lower)
        return vector.at[i + 1].set(c * lower - s * upper)

    def goes_on(state: Any) -> Array:
        return (state[0] < n) & (state[1] > tolerance)

    def step(state: Any) -> Any:
        k, _, basis, rows, target, turns = state
        basis, row, _ = _arnoldi(space, basis, k)
        row = fori_loop(0, k, lambda i, row: rotated(row, i, turns[i]), row)
        size = pnp.sqrt(pnp.abs(row[k]) ** 2 + pnp.abs(row[k + 1]) ** 2)
        safe = pnp.where(size == 0, 1, size).astype(row.dtype)
        turn = pnp.where(size == 0, pnp.array([1, 0], row.dtype), pnp.stack([row[k], row[k + 1]]) / safe)
        row, target = rotated(row, k, turn), rotated(target, k, turn)
        return k + 1, pnp.abs(target[k + 1]), basis, rows.at[k].set(row), target, turns.at[k].set(turn)

    state = (0, length, basis, rows, target, pnp.zeros((n, 2), unit.dtype))
    _, _, basis, rows, target, _ = while_loop(goes_on, step, state)
    return basis, solve_triangular(rows[:, :-1].T, target[:-1])
