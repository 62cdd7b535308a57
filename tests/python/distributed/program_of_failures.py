"""A program whose process number 1 does what the argument says, in the phase that it says. The others report."""

import os
import signal
import sys
import threading

what, phase = sys.argv[1:3]

import numpy as np  # noqa: E402

import pycompiler as pc  # noqa: E402
from pycompiler.sharding import PartitionSpec as P  # noqa: E402

# From here on nothing may hang.
guard = threading.Timer(float(sys.argv[3]), lambda: os._exit(97))
guard.daemon = True
guard.start()


def happens(now):
    if now != phase or number != 1:
        return
    print(f"process 1: {what}", flush=True)
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if what == "exit":
        sys.exit(3)
    if what == "raise":
        raise KeyError("lost")


pc.distributed.initialize(initialization_timeout=60, heartbeat_timeout_seconds=3)
number = pc.process_index()
happens("init")
mesh = pc.make_mesh((pc.device_count(),), ("x",))
f = pc.jit(pc.shard_map(lambda x: pc.lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))
x = pc.make_array_from_process_local_data(pc.NamedSharding(mesh, P("x")), np.ones((1, 1000), np.float32))


def sum_beside_products(x, w):
    total = pc.lax.psum(x, "x")
    for _ in range(8):
        w = pc.numpy.tanh(w @ w)
    return total, w


try:
    if phase == "beside":
        both = pc.jit(pc.shard_map(sum_beside_products, mesh=mesh, in_specs=(P("x"), P()), out_specs=(P(), P("x"))))
        w = pc.device_put(np.eye(256, dtype=np.float32), pc.NamedSharding(mesh, P()))
        pc.block_until_ready(both(x, w))
        threading.Timer(0.3, happens, ["beside"]).start()
        while True:
            pc.block_until_ready(both(x, w))
    if phase != "compile" or number != 1:
        f(x).block_until_ready()
    happens("compile")
    happens("run")
    for step in range(10_000 if phase == "run" else 3):
        f(x).block_until_ready()
        if phase == "middle" and step == 1 and number == 1:
            happens("middle")
    happens("exit")
except pc.errors.DistributedError as error:
    print(f"process {number} learned of {error.process}: {error.cause} [{error.place}]", flush=True)
    raise
pc.distributed.shutdown()
print(f"process {number} is done", flush=True)
os._exit(0)
