"""Decaying turbulence on a periodic square: finite volumes on a staggered grid, a limiter of van Leer, Runge-Kutta's
second order and a projection by Fourier transforms; a scan of steps, and the derivative of an energy by viscosity.
"""

import functools
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

SIZE, STEPS, RUNS = 64, 20, 4
DX = 2 * np.pi / SIZE
DT = 0.25 * DX


def faces(c, speed, axis):
    """Values at the faces ahead, by upwind differences with a limiter."""
    behind, here, ahead, beyond = (jnp.roll(c, k, axis) for k in (1, 0, -1, -2))

    def limited(near, far, jump):
        ratio = jnp.where(jump == 0, 0.0, near / jnp.where(jump == 0, 1.0, jump))
        return far + 0.5 * jump * jnp.where(ratio > 0, 2 * ratio / (1 + ratio), 0.0)

    left = limited(here - behind, here, ahead - here)
    right = limited(beyond - ahead, ahead, here - ahead)
    return jnp.where(speed > 0, left, right)


def transport(c, axis_of, velocity):
    """The change of one component by the fluxes through the faces of its own cells."""
    change = 0.0
    for axis, speed in enumerate(velocity):
        there = 0.5 * (speed + jnp.roll(speed, -1, axis_of))
        if axis == axis_of:
            there = 0.5 * (speed + jnp.roll(speed, -1, axis))
        flux = there * faces(c, there, axis)
        change -= (flux - jnp.roll(flux, 1, axis)) / DX
    return change


def laplacian(c):
    return sum(jnp.roll(c, 1, axis) + jnp.roll(c, -1, axis) - 2 * c for axis in (0, 1)) / DX**2


def divergence(velocity):
    return sum((c - jnp.roll(c, 1, axis)) / DX for axis, c in enumerate(velocity))


def project(velocity):
    """Without divergence: the Laplacian is diagonal in Fourier space."""
    waves = 2 * (jnp.cos(2 * jnp.pi * jnp.fft.fftfreq(SIZE)) - 1) / DX**2
    waves = waves[:, None] + waves[None, :]
    spectrum = jnp.fft.fft2(divergence(velocity)) / jnp.where(waves == 0, 1.0, waves)
    pressure = jnp.fft.ifft2(spectrum.at[0, 0].set(0)).real
    return tuple(c - (jnp.roll(pressure, -1, axis) - pressure) / DX for axis, c in enumerate(velocity))


def step(velocity, viscosity):
    def moved(state, size):
        slope = [transport(c, axis, state) + viscosity * laplacian(c) for axis, c in enumerate(state)]
        return project(tuple(c + size * d for c, d in zip(velocity, slope, strict=True)))

    return moved(moved(velocity, 0.5 * DT), DT)


def energy_of(velocity):
    return 0.5 * sum(jnp.mean(c**2) for c in velocity)


@functools.partial(jax.jit, static_argnames="steps")
def run(velocity, viscosity, steps=STEPS):
    def body(state, _):
        state = step(state, viscosity)
        return state, energy_of(state)

    return jax.lax.scan(body, velocity, length=steps)


@jax.jit
def sensitivity(velocity, viscosity):
    return jax.grad(lambda v: energy_of(run(velocity, v, steps=4)[0]))(viscosity)


keys = jax.random.split(jax.random.key(0))
grid = jnp.arange(SIZE) * DX
x, y = jnp.meshgrid(grid, grid, indexing="ij")
velocity = tuple(
    sum(jax.random.normal(k, (3, 3))[i, j] * jnp.sin(i * x + j * y + i + 2 * j) for i in range(3) for j in range(3))
    for k in keys
)
velocity = project(velocity)
viscosity = jnp.float32(2e-3)
velocity, energies = jax.block_until_ready(run(velocity, viscosity))
found, start = [energies], time.perf_counter()
for _ in range(RUNS):
    velocity, energies = run(velocity, viscosity)
    found.append(energies)
jax.block_until_ready(energies)
seconds = (time.perf_counter() - start) / RUNS
np.savez(
    sys.argv[1],
    energies=jnp.concatenate(found),
    velocity=jnp.stack(velocity)[:, ::16, ::16],
    sensitivity=sensitivity(velocity, viscosity),
    step_seconds=seconds,
)
