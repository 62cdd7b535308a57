"""Diffrax: Lotka-Volterra by an adaptive solver, its gradient, an implicit solver, and an SDE with a given path."""

import sys

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def field(t, y, args):
    prey, predator = y
    a, b, c, d = args
    return jnp.stack([a * prey - b * prey * predator, d * prey * predator - c * predator])


args = jnp.array([1.1, 0.4, 0.4, 0.1])
ts = jnp.linspace(0, 12, 13)


@jax.jit
def solve(args):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        diffrax.Tsit5(),
        t0=0,
        t1=12,
        dt0=0.1,
        y0=jnp.array([10.0, 5.0]),
        args=args,
        saveat=diffrax.SaveAt(ts=ts),
        stepsize_controller=diffrax.PIDController(rtol=1e-7, atol=1e-7),
    )


solution = solve(args)
gradient = jax.jit(jax.grad(lambda args: jnp.sum(solve(args).ys[-1])))(args)

stiff = diffrax.diffeqsolve(
    diffrax.ODETerm(lambda t, y, args: -50.0 * (y - jnp.cos(t))),
    diffrax.Kvaerno3(),
    0.0,
    2.0,
    0.01,
    jnp.array(0.0),
    stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-7),
)

path = diffrax.VirtualBrownianTree(0.0, 1.0, tol=1e-3, shape=(), key=jax.random.key(0))
terms = diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, args: -y), diffrax.ControlTerm(lambda t, y, args: 0.3, path))
noisy = diffrax.diffeqsolve(
    terms, diffrax.Euler(), 0.0, 1.0, 0.05, jnp.array(1.0), saveat=diffrax.SaveAt(ts=jnp.linspace(0, 1, 6))
)
print(f"{solution.stats['num_steps']} steps; at 12: {solution.ys[-1]}; stiff: {stiff.ys[0]:.6f}")
np.savez(
    sys.argv[1],
    ys=solution.ys,
    steps=solution.stats["num_steps"],
    gradient=gradient,
    stiff=stiff.ys,
    noisy=noisy.ys,
)
