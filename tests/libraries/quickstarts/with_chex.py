"""Chex: a dataclass as the state of a loop, its assertions on shapes and trees, and variants of a test."""

import sys

import chex
import jax
import jax.numpy as jnp
import numpy as np
from absl.testing import parameterized


@chex.dataclass
class Particles:
    position: chex.Array
    velocity: chex.Array
    time: chex.Numeric = 0.0


@jax.jit
def step(particles: Particles, dt: float) -> Particles:
    chex.assert_rank([particles.position, particles.velocity], 2)
    chex.assert_equal_shape([particles.position, particles.velocity])
    force = -particles.position
    velocity = particles.velocity + dt * force
    return particles.replace(position=particles.position + dt * velocity, velocity=velocity, time=particles.time + dt)


particles = Particles(position=jax.random.normal(jax.random.key(0), (5, 2)), velocity=jnp.zeros((5, 2)))
for _ in range(20):
    particles = step(particles, 0.1)
chex.assert_tree_all_finite(particles)
chex.assert_trees_all_equal_shapes(particles, jax.tree.map(lambda x: 2 * x, particles))


@chex.assert_max_traces(n=1)
def counted(x):
    return x * 2


twice = jax.jit(counted)
twice(jnp.ones(3))
refused = []
for check in (
    lambda: twice(jnp.ones(4)),
    lambda: chex.assert_shape(particles.position, (5, 3)),
    lambda: chex.assert_type(particles.position, int),
    lambda: chex.assert_trees_all_close({"a": jnp.ones(2)}, {"a": jnp.zeros(2)}),
):
    try:
        check()
        refused.append(False)
    except AssertionError:
        refused.append(True)


class VariantsTest(chex.TestCase, parameterized.TestCase):
    @chex.variants(with_jit=True, without_jit=True, with_device=True)
    @parameterized.parameters(1, 3)
    def test_product(self, n):
        product = self.variant(lambda x: x @ x.T)(jnp.ones((n, 2)))
        np.testing.assert_allclose(product, 2 * np.ones((n, n)))


import unittest  # noqa: E402

result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(VariantsTest))
print(f"{result.testsRun} tests, {len(result.failures) + len(result.errors)} failed; refused: {refused}")
np.savez(
    sys.argv[1],
    position=particles.position,
    time=particles.time,
    refused=refused,
    tests=[result.testsRun, len(result.failures) + len(result.errors)],
)
