"""BlackJAX: NUTS with window adaptation on a hierarchical density, and a random-walk Metropolis chain."""

import sys

import blackjax
import jax
import jax.numpy as jnp
import jax.scipy.stats as stats
import numpy as np

jax.config.update("jax_enable_x64", True)
observed = jnp.array([2.8, 0.8, -0.3, 0.7, -0.1, 0.1, 1.8, 1.2])


def logdensity(position):
    mu, log_tau, theta = position["mu"], position["log_tau"], position["theta"]
    prior = stats.norm.logpdf(mu, 0, 5) + stats.norm.logpdf(log_tau, 0, 1)
    likelihood = stats.norm.logpdf(observed, mu + jnp.exp(log_tau) * theta, 1.0)
    return prior + jnp.sum(stats.norm.logpdf(theta)) + jnp.sum(likelihood)


start = {"mu": jnp.array(0.0), "log_tau": jnp.array(0.0), "theta": jnp.zeros(8)}
warmup = blackjax.window_adaptation(blackjax.nuts, logdensity)
(state, parameters), _ = warmup.run(jax.random.key(0), start, num_steps=30)
nuts = blackjax.nuts(logdensity, **parameters)


@jax.jit
def chain(key, state):
    def one(state, key):
        state, info = nuts.step(key, state)
        return state, (state.position, info.acceptance_rate)

    return jax.lax.scan(one, state, jax.random.split(key, 200))


_, (positions, acceptance) = chain(jax.random.key(1), state)
walk = blackjax.normal_random_walk(lambda x: stats.norm.logpdf(x, 1.0, 0.5).sum(), 0.4 * jnp.eye(2))
walker = walk.init(jnp.zeros(2))
step = jax.jit(walk.step)
path = []
for key in jax.random.split(jax.random.key(2), 30):
    walker, _ = step(key, walker)
    path.append(walker.position)
print(f"step size {parameters['step_size']:.4f}, acceptance {acceptance.mean():.2f}, mu {positions['mu'].mean():.3f}")
np.savez(
    sys.argv[1],
    step_size=parameters["step_size"],
    first=positions["mu"][:5],
    mu=positions["mu"].mean(),
    acceptance=acceptance.mean(),
    walk=jnp.stack(path),
)
