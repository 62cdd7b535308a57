"""A search of Mctx: Gumbel MuZero with a small network as its model, for a batch of boards."""

import sys
import time

import jax
import jax.numpy as jnp
import mctx
import numpy as np

BATCH, WIDTH, ACTIONS, SIMULATIONS, SEARCHES = 32, 48, 9, 32, 6
keys = jax.random.split(jax.random.key(0), 5)
params = {
    "dynamics": 0.3 * jax.random.normal(keys[0], (WIDTH + ACTIONS, WIDTH)),
    "policy": jax.random.normal(keys[1], (WIDTH, ACTIONS)),
    "value": 0.3 * jax.random.normal(keys[2], (WIDTH,)),
    "reward": 0.1 * jax.random.normal(keys[3], (WIDTH,)),
}


def outputs(params, state):
    return state @ params["policy"], jnp.tanh(state @ params["value"])


def recurrent(params, key, action, state):
    del key
    moved = jnp.tanh(jnp.concatenate([state, jax.nn.one_hot(action, ACTIONS)], axis=1) @ params["dynamics"])
    logits, value = outputs(params, moved)
    reward = moved @ params["reward"]
    discount = jnp.full(action.shape, 0.95)
    return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value), moved


@jax.jit
def search(params, key, state):
    logits, value = outputs(params, state)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
    return mctx.gumbel_muzero_policy(params, key, root, recurrent, num_simulations=SIMULATIONS)


boards = jax.random.normal(keys[4], (BATCH, WIDTH))
found = search(params, jax.random.key(1), boards)
jax.block_until_ready(found.action)
actions, start = [found.action], time.perf_counter()
for i in range(SEARCHES - 1):
    actions.append(search(params, jax.random.key(2 + i), boards).action)
jax.block_until_ready(actions)
seconds = (time.perf_counter() - start) / (SEARCHES - 1)
np.savez(sys.argv[1], actions=jnp.stack(actions), weights=found.action_weights, step_seconds=seconds)
