"""Lineax: linear systems by several solvers, least squares, operators as functions, and gradients through a solve."""

import sys

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

jax.config.update("jax_enable_x64", True)
key = jax.random.key(0)
a = jax.random.normal(key, (6, 6))
spd = a @ a.T + 3 * jnp.eye(6)
b = jnp.arange(6.0)

auto = lx.linear_solve(lx.MatrixLinearOperator(a), b).value
positive = lx.MatrixLinearOperator(spd, lx.positive_semidefinite_tag)
cholesky = lx.linear_solve(positive, b, lx.Cholesky()).value
cg = lx.linear_solve(positive, b, lx.CG(rtol=1e-10, atol=1e-10))
gmres = lx.linear_solve(lx.MatrixLinearOperator(a), b, lx.GMRES(rtol=1e-10, atol=1e-10)).value
tall = jax.random.normal(jax.random.key(1), (8, 3))
least = lx.linear_solve(lx.MatrixLinearOperator(tall), jnp.ones(8), lx.QR()).value
svd = lx.linear_solve(lx.MatrixLinearOperator(tall.T), jnp.ones(3), lx.AutoLinearSolver(well_posed=False)).value
function = lx.FunctionLinearOperator(lambda x: spd @ x + x, jax.ShapeDtypeStruct((6,), jnp.float64), [lx.symmetric_tag])
mapped = lx.linear_solve(function, b).value
tridiagonal = lx.linear_solve(
    lx.TridiagonalLinearOperator(jnp.full(6, 4.0), jnp.ones(5), -jnp.ones(5)), b, lx.Tridiagonal()
).value


@jax.jit
def energy(matrix):
    return jnp.sum(lx.linear_solve(lx.MatrixLinearOperator(matrix), b, lx.LU()).value ** 2)


gradient = jax.grad(energy)(a)
batch = jax.vmap(lambda b: lx.linear_solve(positive, b, lx.Cholesky()).value)(jnp.eye(6))
print(f"cg took {cg.stats['num_steps']} steps; energy {energy(a):.6f}")
np.savez(
    sys.argv[1],
    auto=auto,
    cholesky=cholesky,
    cg=cg.value,
    gmres=gmres,
    least=least,
    svd=svd,
    mapped=mapped,
    tridiagonal=tridiagonal,
    gradient=gradient,
    batch=batch,
)
