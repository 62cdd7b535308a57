"""Orbax: a training state is saved at several steps, and the training goes on from the checkpoint in a new state."""

import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp

optimizer = optax.sgd(0.1, momentum=0.9)
x = jax.random.normal(jax.random.key(0), (20, 3))
y = x @ jnp.array([1.0, 2.0, -1.0])


@jax.jit
def step(state):
    grads = jax.grad(lambda w: jnp.mean((x @ w["w"] + w["b"] - y) ** 2))(state["params"])
    updates, opt = optimizer.update(grads, state["opt"])
    return {"params": optax.apply_updates(state["params"], updates), "opt": opt, "step": state["step"] + 1}


params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
state = {"params": params, "opt": optimizer.init(params), "step": jnp.array(0)}
options = ocp.CheckpointManagerOptions(max_to_keep=2)
with tempfile.TemporaryDirectory() as folder, ocp.CheckpointManager(folder, options=options) as manager:
    for i in range(1, 31):
        state = step(state)
        if i % 10 == 0:
            manager.save(i, args=ocp.args.StandardSave(state))
    manager.wait_until_finished()
    kept = manager.all_steps()
    abstract = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
    restored = manager.restore(20, args=ocp.args.StandardRestore(abstract))
for _ in range(10):
    restored = step(restored)
print(f"kept {kept}; the weights {restored['params']['w']} at step {restored['step']}")
np.savez(
    sys.argv[1],
    kept=sorted(kept),
    step=restored["step"],
    weights=restored["params"]["w"],
    same=jnp.array_equal(restored["params"]["w"], state["params"]["w"]),
)
