"""Distrax: distributions, bijectors and a normalizing flow fitted by maximum likelihood."""

import sys

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

normal = distrax.MultivariateNormalDiag(jnp.array([0.5, -1.0]), jnp.array([1.0, 0.3]))
sample, log_prob = normal.sample_and_log_prob(seed=jax.random.key(0), sample_shape=(4,))
mixture = distrax.MixtureSameFamily(
    distrax.Categorical(probs=jnp.array([0.3, 0.7])), distrax.Normal(jnp.array([-2.0, 1.0]), jnp.array([0.5, 1.0]))
)
kl = distrax.Normal(0.0, 1.0).kl_divergence(distrax.Normal(1.0, 2.0))
squashed = distrax.Transformed(distrax.Normal(0.2, 0.8), distrax.Tanh())
categorical = distrax.Categorical(logits=jnp.array([0.1, 0.7, -0.4]))
hmm = distrax.HMM(
    init_dist=distrax.Categorical(probs=jnp.array([0.6, 0.4])),
    trans_dist=distrax.Categorical(probs=jnp.array([[0.8, 0.2], [0.3, 0.7]])),
    obs_dist=distrax.Normal(jnp.array([0.0, 2.0]), jnp.array([1.0, 1.0])),
)
_, _, posterior, evidence = hmm.forward_backward(jnp.array([0.1, 1.9, 2.2, -0.3]))


def flow(params):
    shift, scale = params["shift"], jnp.exp(params["log_scale"])
    bijector = distrax.Chain([distrax.ScalarAffine(shift, scale), distrax.Inverse(distrax.Tanh()), distrax.Tanh()])
    return distrax.Transformed(distrax.Normal(jnp.zeros(()), 1.0), bijector)


data = 1.5 + 0.4 * jax.random.normal(jax.random.key(1), (60,))
params = {"shift": jnp.array(0.0), "log_scale": jnp.array(0.0)}
optimizer = optax.adam(0.1)
state = optimizer.init(params)


@jax.jit
def step(params, state):
    value, grads = jax.value_and_grad(lambda p: -flow(p).log_prob(data).mean())(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, value


losses = []
for _ in range(40):
    params, state, value = step(params, state)
    losses.append(value)
print(f"kl {kl:.4f}, flow: {params}, evidence {evidence:.4f}")
np.savez(
    sys.argv[1],
    sample=sample,
    log_prob=log_prob,
    mixture=mixture.log_prob(jnp.linspace(-3, 3, 7)),
    kl=kl,
    squashed=squashed.log_prob(jnp.array([-0.5, 0.0, 0.9])),
    entropy=categorical.entropy(),
    mode=categorical.mode(),
    draws=categorical.sample(seed=jax.random.key(2), sample_shape=(12,)),
    posterior=posterior,
    losses=jnp.stack(losses),
)
