"""Mctx: Gumbel MuZero and MuZero searches on a small game, batched and compiled."""

import functools
import sys

import jax
import jax.numpy as jnp
import mctx
import numpy as np

ACTIONS, SIZE = 4, 12
rewards = jax.random.uniform(jax.random.key(0), (SIZE, ACTIONS))
moves = jax.random.randint(jax.random.key(1), (SIZE, ACTIONS), 0, SIZE)
priors = jax.random.normal(jax.random.key(2), (SIZE, ACTIONS))


def recurrent(params, key, action, place):
    del params, key
    place_after = moves[place, action]
    output = mctx.RecurrentFnOutput(
        reward=rewards[place, action],
        discount=jnp.full(place.shape, 0.9),
        prior_logits=priors[place_after],
        value=rewards[place_after].mean(axis=-1),
    )
    return output, place_after


@functools.partial(jax.jit, static_argnames="policy")
def search(key, places, policy):
    root = mctx.RootFnOutput(prior_logits=priors[places], value=rewards[places].mean(axis=-1), embedding=places)
    return policy(params=(), rng_key=key, root=root, recurrent_fn=recurrent, num_simulations=24, max_depth=8)


places = jnp.array([0, 3, 5, 7, 11])
gumbel = search(jax.random.key(3), places, mctx.gumbel_muzero_policy)
muzero = search(jax.random.key(4), places, mctx.muzero_policy)
summary = gumbel.search_tree.summary()
print(f"actions {gumbel.action} and {muzero.action}, values {summary.value}")
np.savez(
    sys.argv[1],
    gumbel=gumbel.action,
    gumbel_weights=gumbel.action_weights,
    muzero=muzero.action,
    muzero_weights=muzero.action_weights,
    visits=summary.visit_counts,
    values=summary.value,
)
