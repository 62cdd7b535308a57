"""Optimistix: a root, a fixed point, a minimum and a least-squares fit, with gradients through the solutions."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

jax.config.update("jax_enable_x64", True)


def residual(y, args):
    a, b = y
    return jnp.stack([a**2 + b**2 - args, jnp.exp(a) - b - 1.0])


def root(radius):
    return optx.root_find(residual, optx.Newton(rtol=1e-10, atol=1e-10), jnp.array([1.0, 1.0]), radius).value


def rosenbrock(y, args):
    return (1 - y[0]) ** 2 + args * (y[1] - y[0] ** 2) ** 2


times = jnp.linspace(0, 2, 15)
data = 2.5 * jnp.exp(-1.3 * times) + 0.05 * jax.random.normal(jax.random.key(0), (15,))


def misfit(y, args):
    return y["scale"] * jnp.exp(-y["rate"] * times) - data


fixed = optx.fixed_point(lambda y, args: jnp.cos(y), optx.FixedPointIteration(rtol=1e-9, atol=1e-9), jnp.array(0.5))
minimum = optx.minimise(rosenbrock, optx.BFGS(rtol=1e-8, atol=1e-8), jnp.array([-1.0, 1.0]), jnp.array(20.0))
fit = optx.least_squares(
    misfit, optx.LevenbergMarquardt(rtol=1e-9, atol=1e-9), {"scale": jnp.array(1.0), "rate": jnp.array(0.5)}
)
bisection = optx.root_find(
    lambda x, args: x**3 - 2, optx.Bisection(rtol=1e-10, atol=1e-10), jnp.array(1.0), options={"lower": 0, "upper": 2}
)
slope = jax.jit(jax.jacobian(root))(jnp.array(4.0))
print(
    f"root {root(jnp.array(4.0))}, fixed point {fixed.value:.6f}, fit {fit.value}, {minimum.stats['num_steps']} steps"
)
np.savez(
    sys.argv[1],
    root=root(jnp.array(4.0)),
    slope=slope,
    fixed=fixed.value,
    minimum=minimum.value,
    scale=fit.value["scale"],
    rate=fit.value["rate"],
    bisection=bisection.value,
)
