"""The density of sea water by the equation of state of UNESCO (1981), and its derivatives, in float64."""

import os

os.environ["JAX_ENABLE_X64"] = "1"

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

SHAPE, STEPS = (96, 96, 24), 12
PURE = (999.842594, 6.793952e-2, -9.095290e-3, 1.001685e-4, -1.120083e-6, 6.536332e-9)
SALT = (0.824493, -4.0899e-3, 7.6438e-5, -8.2467e-7, 5.3875e-9)
ROOT = (-5.72466e-3, 1.0227e-4, -1.6546e-6)
SQUARE = 4.8314e-4
PURE_BULK = (19652.21, 148.4206, -2.327105, 1.360477e-2, -5.155288e-5)
SALT_BULK = (54.6746, -0.603459, 1.09987e-2, -6.1670e-5)
ROOT_BULK = (7.944e-2, 1.6483e-2, -5.3009e-4)
PURE_LINEAR, SALT_LINEAR, ROOT_LINEAR = (
    (3.239908, 1.43713e-3, 1.16092e-4, -5.77905e-7),
    (2.2838e-3, -1.0981e-5, -1.6078e-6),
    1.91075e-4,
)
PURE_SQUARE, SALT_SQUARE = (8.50935e-5, -6.12293e-6, 5.2787e-8), (-9.9348e-7, 2.0816e-8, 9.1697e-10)


def polynomial(coefficients, x):
    value = coefficients[-1]
    for each in coefficients[-2::-1]:
        value = value * x + each
    return value


def density(salinity, temperature, pressure):
    """In kg per cubic metre; the pressure is in bars."""
    s, t, p = salinity, temperature, pressure
    root = s * jnp.sqrt(s)
    surface = polynomial(PURE, t) + polynomial(SALT, t) * s + polynomial(ROOT, t) * root + SQUARE * s * s
    bulk = polynomial(PURE_BULK, t) + polynomial(SALT_BULK, t) * s + polynomial(ROOT_BULK, t) * root
    linear = polynomial(PURE_LINEAR, t) + polynomial(SALT_LINEAR, t) * s + ROOT_LINEAR * root
    square = polynomial(PURE_SQUARE, t) + polynomial(SALT_SQUARE, t) * s
    return surface / (1 - p / (bulk + p * (linear + p * square)))


@jax.jit
def state_of(salinity, temperature, pressure):
    value, pull = jax.vjp(density, salinity, temperature, pressure)
    by_salt, by_heat, _ = pull(jnp.ones_like(value))
    return value, -by_heat / value, by_salt / value


random = np.random.default_rng(17)
salinity = jnp.asarray(random.uniform(1, 40, SHAPE))
temperature = jnp.asarray(random.uniform(-2, 30, SHAPE))
pressure = jnp.asarray(random.uniform(0, 400, (1, 1, SHAPE[-1])) * np.ones(SHAPE))
found = jax.block_until_ready(state_of(salinity, temperature, pressure))
start = time.perf_counter()
for _ in range(STEPS):
    found = jax.block_until_ready(state_of(salinity, temperature, pressure))
seconds = (time.perf_counter() - start) / STEPS
check = density(jnp.float64(40.0), jnp.float64(40.0), jnp.float64(1000.0))
names = ("density", "expansion", "contraction")
corners = {name: array[::48, ::48, ::12] for name, array in zip(names, found, strict=True)}
np.savez(
    sys.argv[1], check=check, means=jnp.stack([jnp.mean(array) for array in found]), **corners, step_seconds=seconds
)
