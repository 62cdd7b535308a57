"""Turbulent kinetic energy in columns of water: implicit diffusion by the Thomas algorithm in a scan, production by
shear, buoyancy, dissipation, and advection with a superbee limiter, in float64.
"""

import os

os.environ["JAX_ENABLE_X64"] = "1"

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

SHAPE, STEPS = (64, 64, 24), 30
DX, DZ, DT, CK, CE, LEAST = 1e4, 10.0, 600.0, 0.1, 0.7, 1e-6


def solve(low, main, up, right):
    """Tridiagonal systems along the last axis."""

    def eliminate(carry, row):
        c, d = carry
        a, b, upper, r = row
        scale = 1 / (b - a * c)
        carry = upper * scale, (r - a * d) * scale
        return carry, carry

    def substitute(x, row):
        c, d = row
        x = d - c * x
        return x, x

    rows = [jnp.moveaxis(each, -1, 0) for each in (low, main, up, right)]
    zero = jnp.zeros_like(rows[0][0])
    _, both = jax.lax.scan(eliminate, (zero, zero), tuple(rows))
    _, x = jax.lax.scan(substitute, zero, both, reverse=True)
    return jnp.moveaxis(x, 0, -1)


def limited(energy, speed):
    """The change by advection along the first axis of a periodic basin."""
    jump = jnp.roll(energy, -1, 0) - energy
    behind, ahead = jnp.roll(jump, 1, 0), jnp.roll(jump, -1, 0)
    near = jnp.where(speed > 0, behind, ahead)
    ratio = near / jnp.where(jnp.abs(jump) < 1e-20, 1e-20, jump)
    limiter = jnp.maximum(0.0, jnp.maximum(jnp.minimum(1, 2 * ratio), jnp.minimum(2, ratio)))
    courant = jnp.abs(speed) * DT / DX
    middle = energy + 0.5 * jump
    flux = speed * middle - jnp.abs(speed) * (1 - limiter + courant * limiter) * 0.5 * jump
    return -(flux - jnp.roll(flux, 1, 0)) / DX


def step(energy, u, n2, speed, wind):
    root = jnp.sqrt(jnp.maximum(energy, LEAST))
    length = jnp.clip(jnp.sqrt(2.0) * root / jnp.sqrt(jnp.maximum(n2, 1e-12)), 0.1, 50.0)
    viscosity = CK * length * root
    prandtl = jnp.clip(6.6 * n2 / jnp.maximum(1e-12, jnp.gradient(u, DZ, axis=2) ** 2), 1.0, 10.0)
    production = viscosity * jnp.gradient(u, DZ, axis=2) ** 2 - viscosity / prandtl * n2
    faces = 0.5 * (viscosity[..., 1:] + viscosity[..., :-1]) * DT / DZ**2
    low, up = jnp.pad(-faces, [(0, 0), (0, 0), (1, 0)]), jnp.pad(-faces, [(0, 0), (0, 0), (0, 1)])
    right = energy + DT * jnp.maximum(production, 0)
    right = right.at[..., -1].add(DT * wind**1.5 / DZ)
    main = 1 - low - up + DT * (CE * root / length + jnp.maximum(-production, 0) / jnp.maximum(energy, LEAST))
    energy = solve(low, main, up, right)
    return jnp.maximum(energy + DT * limited(energy, speed), LEAST), viscosity


advance = jax.jit(step)
random = np.random.default_rng(5)
height = np.arange(SHAPE[2]) / SHAPE[2]
energy = jnp.asarray(random.uniform(1e-5, 1e-3, SHAPE))
u = jnp.asarray(0.5 * height**3 + 0.05 * random.normal(size=SHAPE))
n2 = jnp.asarray(1e-5 * (1 + np.sin(7 * height)) + 1e-6 * random.random(SHAPE))
speed, wind = jnp.asarray(random.uniform(-1, 1, SHAPE)), jnp.asarray(random.uniform(0, 1e-2, SHAPE[:2]))
energy, viscosity = jax.block_until_ready(advance(energy, u, n2, speed, wind))
start = time.perf_counter()
for _ in range(STEPS - 1):
    energy, viscosity = advance(energy, u, n2, speed, wind)
jax.block_until_ready(viscosity)
seconds = (time.perf_counter() - start) / (STEPS - 1)
ends = {"energy": energy[::16, ::16, ::6], "viscosity": viscosity[::16, ::16, ::6]}
np.savez(sys.argv[1], mean=jnp.mean(energy), **ends, step_seconds=seconds)
