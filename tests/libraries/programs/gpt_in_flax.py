"""A small GPT in Flax, trained with Optax on the characters of the Python standard library's documentation strings."""

import sys
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

CONTEXT, WIDTH, HEADS, DEPTH, BATCH, STEPS = 64, 96, 4, 3, 16, 40


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, mask):
        normed = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=HEADS)(normed, normed, mask=mask)
        return x + nn.Dense(WIDTH)(nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x))))


class GPT(nn.Module):
    vocabulary: int

    @nn.compact
    def __call__(self, tokens):
        places = self.param("places", nn.initializers.normal(0.02), (CONTEXT, WIDTH))
        x = nn.Embed(self.vocabulary, WIDTH)(tokens) + places[: tokens.shape[1]]
        mask = nn.make_causal_mask(tokens)
        for _ in range(DEPTH):
            x = Block()(x, mask)
        return nn.Dense(self.vocabulary)(nn.LayerNorm()(x))


text = " ".join(each.__doc__ or "" for each in (str, bytes, list, dict, tuple, set, int, float, slice, range)) * 4
letters = sorted(set(text))
tokens = np.array([letters.index(c) for c in text], np.int32)
model = GPT(len(letters))
state = TrainState.create(
    apply_fn=model.apply,
    params=model.init(jax.random.key(0), jnp.zeros((1, CONTEXT), jnp.int32))["params"],
    tx=optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0, 3e-3, 10, STEPS))),
)


@jax.jit
def train_step(state, batch):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, batch[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def extend(params, window):
    return jnp.roll(window, -1).at[-1].set(jnp.argmax(model.apply({"params": params}, window[None])[0, -1]))


starts = np.random.default_rng(0).integers(0, len(tokens) - CONTEXT - 1, (STEPS, BATCH))
batches = tokens[starts[..., None] + np.arange(CONTEXT + 1)]
state, loss = train_step(state, batches[0])
loss.block_until_ready()
losses, start = [loss], time.perf_counter()
for batch in batches[1:]:
    state, loss = train_step(state, batch)
    losses.append(loss)
loss.block_until_ready()
seconds = (time.perf_counter() - start) / (STEPS - 1)
window = jnp.asarray(tokens[:CONTEXT])
for _ in range(8):
    window = extend(state.params, window)
print("".join(letters[i] for i in np.asarray(window)))
np.savez(sys.argv[1], losses=jnp.stack(losses), step_seconds=seconds)
