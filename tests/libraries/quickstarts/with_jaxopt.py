"""jaxopt: logistic regression by L-BFGS, a lasso by proximal gradient, a box, and the derivative of a solution."""

import sys

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np

jax.config.update("jax_enable_x64", True)
x = jax.random.normal(jax.random.key(0), (50, 4))
truth = jnp.array([1.0, -2.0, 0.0, 0.0])
y = x @ truth + 0.1 * jax.random.normal(jax.random.key(1), (50,))
labels = (y > 0).astype(jnp.int32)


def logistic(w, x, labels):
    return jaxopt.objective.binary_logreg(w, (x, labels)) + 0.05 * jnp.sum(w**2)


lbfgs = jaxopt.LBFGS(logistic, maxiter=60, tol=1e-8)
weights, state = lbfgs.run(jnp.zeros(4), x, labels)
lasso = jaxopt.ProximalGradient(
    jaxopt.objective.least_squares, jaxopt.prox.prox_lasso, maxiter=200, tol=1e-9, implicit_diff=True
)
sparse = lasso.run(jnp.zeros(4), 0.1, (x, y)).params
box = jaxopt.ProjectedGradient(jaxopt.objective.least_squares, jaxopt.projection.projection_box, maxiter=200, tol=1e-9)
boxed = box.run(jnp.zeros(4), (-1.0, 1.0), (x, y)).params


def ridge(strength):
    solver = jaxopt.GradientDescent(
        lambda w, s: jnp.mean((x @ w - y) ** 2) + s * jnp.sum(w**2), maxiter=300, tol=1e-9, implicit_diff=True
    )
    return solver.run(jnp.zeros(4), strength).params


slope = jax.jacobian(ridge)(0.5)
simplex = jaxopt.projection.projection_simplex(jnp.array([0.3, 1.2, -0.4, 0.5]))
root = jaxopt.Bisection(lambda x: x**3 - x - 1, lower=1.0, upper=2.0, tol=1e-10, maxiter=60).run().params
print(f"weights {weights}, after {state.iter_num} iterations; lasso {sparse}; root {root:.6f}")
np.savez(sys.argv[1], weights=weights, sparse=sparse, boxed=boxed, slope=slope, simplex=simplex, root=root)
