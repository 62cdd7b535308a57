"""A training run that goes on from its last checkpoint: `train_program.py FOLDER STEPS KILLED_AT [TORN_AT]`.

Process 1 (0, where it is alone) is killed after the step KILLED_AT, or in the middle of writing the checkpoint of
the step TORN_AT. Process 0 prints the losses, with all bits.
"""

import os
import signal
import sys
import threading
from functools import partial

import numpy as np

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.checkpoints import files
from pycompiler.sharding import PartitionSpec as P

folder, steps, killed_at, torn_at = sys.argv[1], *map(int, sys.argv[2:5])
guard = threading.Timer(float(sys.argv[5]), lambda: os._exit(97))
guard.daemon = True
guard.start()

pc.distributed.initialize()
last = pc.process_count() - 1
mesh = pc.make_mesh((pc.device_count(),), ("data",))
divided, whole = pc.NamedSharding(mesh, P("data")), pc.NamedSharding(mesh, P())
rows = np.random.default_rng(0).normal(size=(16, 9)).astype(np.float32)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


inner = files.write


def torn(path, tensors, about):
    """Half of the file."""
    if about["step"] == str(torn_at) and pc.process_index() == last:
        part = path.with_name(f"{path.name}.part")
        part.write_bytes(b"x" * 100)
        die()
    return inner(path, tensors, about)


files.write = torn


def loss(w, rows):
    return pnp.mean((pnp.tanh(rows[:, :8] @ w) - rows[:, 8]) ** 2)


shardings = {"w": whole, "momentum": divided, "key": whole, "step": whole}


# The state of each step is divided as the one that is restored: then both run the same compiled step.
@partial(pc.jit, out_shardings=(shardings, whole))
def step(state, rows):
    value, slope = pc.value_and_grad(loss)(state["w"], rows)
    noise = pc.random.normal(pc.random.fold_in(state["key"], state["step"]), (8,)) * 0.01
    # The optimizer's memory is divided over the processes.
    momentum = 0.9 * state["momentum"] + slope
    return state | {"w": state["w"] - 0.1 * momentum + noise, "momentum": momentum, "step": state["step"] + 1}, value


x = pc.make_array_from_callback(rows.shape, divided, lambda index: rows[index])
like = {
    "w": pc.ShapeDtypeStruct((8,), "float32", sharding=whole),
    "momentum": pc.ShapeDtypeStruct((8,), "float32", sharding=divided),
    "key": pc.device_put(pc.random.key(3), whole),
    "step": pc.ShapeDtypeStruct((), "int32", sharding=whole),
}
begin = pc.checkpoint.latest(folder)
if begin is None:
    state = {
        "w": pc.device_put(np.zeros(8, np.float32), whole),
        "momentum": pc.device_put(np.zeros(8, np.float32), divided),
        "key": like["key"],
        "step": pc.device_put(np.int32(0), whole),
    }
else:
    state = pc.checkpoint.restore(folder, like)
for number in range(int(np.asarray(state["step"])), steps):
    state, value = step(state, x)
    if pc.process_index() == 0:
        print(f"step {number} {float(value).hex()}", flush=True)
    if (number + 1) % 3 == 0:
        pc.checkpoint.save(folder, number + 1, state, keep=2)
    if number + 1 == killed_at and pc.process_index() == last:
        pc.checkpoint.wait()
        die()
pc.distributed.shutdown()
print("done", flush=True)
