"""Mixing of heat along surfaces of neutral density, as in models of oceans: slopes, their limit by a tanh,
and the divergence of the fluxes of a rotated tensor, step by step in float64.
"""

import os

os.environ["JAX_ENABLE_X64"] = "1"

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

SHAPE, STEPS = (64, 64, 20), 30
DX, DY, DZ, DT, ALONG, ACROSS = 2e4, 2e4, 50.0, 1800.0, 1000.0, 1e-4
LIMIT, WIDTH = 2e-3, 5e-4


def forward(x, axis, spacing):
    """Differences at the faces; none through the walls."""
    return jnp.diff(x, axis=axis) / spacing


def to_faces(x, axis):
    n = x.shape[axis]
    return 0.5 * (jax.lax.slice_in_dim(x, 1, n, axis=axis) + jax.lax.slice_in_dim(x, 0, n - 1, axis=axis))


def centred(x, axis, spacing):
    """Differences at the centres, one-sided at the walls."""
    faces = forward(x, axis, spacing)
    widths = [(1, 1) if i == axis else (0, 0) for i in range(x.ndim)]
    return to_faces(jnp.pad(faces, widths, mode="edge"), axis)


def divergence(flux, axis, spacing):
    widths = [(1, 1) if i == axis else (0, 0) for i in range(flux.ndim)]
    return jnp.diff(jnp.pad(flux, widths), axis=axis) / spacing


def slopes(heat, salt):
    density = -0.2 * heat + 0.78 * salt
    vertical = jnp.minimum(centred(density, 2, DZ), -1e-7)
    pair = [-centred(density, axis, spacing) / vertical for axis, spacing in ((0, DX), (1, DY))]
    taper = 0.5 * (1 + jnp.tanh((LIMIT - jnp.sqrt(pair[0] ** 2 + pair[1] ** 2)) / WIDTH))
    return [taper * slope for slope in pair], taper


def tendency(tracer, pair, taper):
    change, upward = 0.0, centred(tracer, 2, DZ)
    for (axis, spacing), slope in zip(((0, DX), (1, DY)), pair, strict=True):
        along = to_faces(taper, axis) * forward(tracer, axis, spacing) + to_faces(slope * upward, axis)
        change += divergence(ALONG * along, axis, spacing)
        change += divergence(ALONG * to_faces(slope * centred(tracer, axis, spacing), 2), 2, DZ)
    steep = ACROSS + ALONG * (pair[0] ** 2 + pair[1] ** 2)
    return change + divergence(to_faces(steep, 2) * forward(tracer, 2, DZ), 2, DZ)


@jax.jit
def step(heat, salt):
    pair, taper = slopes(heat, salt)
    return heat + DT * tendency(heat, pair, taper), salt + DT * tendency(salt, pair, taper)


random = np.random.default_rng(3)
depth = DZ * np.arange(SHAPE[2])[::-1]
x, y = np.meshgrid(np.arange(SHAPE[0]) / SHAPE[0], np.arange(SHAPE[1]) / SHAPE[1], indexing="ij")
wave = np.sin(2 * np.pi * x) * np.cos(4 * np.pi * y)
heat = jnp.asarray(4 + 18 * np.exp(-depth / 400) + wave[..., None] + 0.1 * random.normal(size=SHAPE))
salt = jnp.asarray(35 + 0.5 * np.exp(-depth / 300) + 0.1 * wave[..., None])
before = jnp.sum(heat), jnp.sum(salt)
heat, salt = jax.block_until_ready(step(heat, salt))
start = time.perf_counter()
for _ in range(STEPS - 1):
    heat, salt = step(heat, salt)
jax.block_until_ready(salt)
seconds = (time.perf_counter() - start) / (STEPS - 1)
kept = jnp.stack([jnp.sum(heat) / before[0], jnp.sum(salt) / before[1]])
np.savez(sys.argv[1], kept=kept, heat=heat[::16, ::16, ::5], salt=salt[::16, ::16, ::5], step_seconds=seconds)
