"""A program whose process number 1 is late, in the way that the argument says. The others report, and go on."""

import os
import sys
import threading
import time

what = sys.argv[1]

import numpy as np  # noqa: E402

import pycompiler as pc  # noqa: E402
from pycompiler.experimental import multihost_utils  # noqa: E402
from pycompiler.sharding import PartitionSpec as P  # noqa: E402

# From here on nothing may hang.
guard = threading.Timer(float(sys.argv[2]), lambda: os._exit(97))
guard.daemon = True
guard.start()

pc.distributed.initialize()
number = pc.process_index()
mesh = pc.make_mesh((pc.device_count(),), ("x",))


def sleep_here(seconds):
    if what == "holds":
        # A C function that keeps the interpreter's lock.
        import ctypes

        ctypes.PyDLL(None).sleep(int(seconds))
    else:
        time.sleep(seconds)


def slow(x):
    if number == 1 and is_late:
        sleep_here(7)
    return x


is_late = False
with_callback = what == "callback"


@pc.jit
@pc.shard_map(mesh=mesh, in_specs=P("x"), out_specs=P())
def summed(x):
    if with_callback:
        x = pc.pure_callback(slow, x, x)
    return pc.lax.psum(x, "x")


x = pc.make_array_from_process_local_data(pc.NamedSharding(mesh, P("x")), np.ones((1, 10), np.float32))
summed(x).block_until_ready()
is_late = True
if number == 1 and not with_callback:
    sleep_here(7)
begin = time.time()
try:
    summed(x).block_until_ready()
    print(f"process {number} had its result", flush=True)
except pc.errors.DistributedError as error:
    print(
        f"process {number} was told of {error.process} after {time.time() - begin:.1f}: {error.cause} [{error.place}]",
        flush=True,
    )
is_late = False
# The next launch works, when the late process has come.
multihost_utils.sync_global_devices("all are here")
assert summed(x)[0, 0] == pc.device_count()
pc.distributed.shutdown()
print(f"process {number} is done", flush=True)
os._exit(0)
