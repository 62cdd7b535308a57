"""Launches for some time (seconds, the argument), of random meshes, after random delays, of which some fail in one
process; each result is compared. All processes draw the same launches, and delays of their own."""

import faulthandler
import sys
import time

import numpy as np

import pycompiler as pc
from pycompiler.experimental import multihost_utils
from pycompiler.sharding import Mesh, NamedSharding
from pycompiler.sharding import PartitionSpec as P

seconds, seed = float(sys.argv[1]), int(sys.argv[2])
# No round is so long, and no soak either.
ROUND_LIMIT = 120
faulthandler.dump_traceback_later(ROUND_LIMIT, exit=True)
pc.distributed.initialize(initialization_timeout=60)
own = pc.process_index()
shared, delays = np.random.default_rng(seed), np.random.default_rng(1000 * seed + own)
who_fails = -1


def host(x):
    if delays.integers(4) == 0:
        time.sleep(float(delays.exponential(0.003)))
    if who_fails == own:
        raise KeyError("as drawn")
    return x


def program(mesh):
    def each(x):
        x = pc.pure_callback(host, pc.ShapeDtypeStruct(x.shape, x.dtype), x)
        total = pc.lax.psum(x, "x")
        parts = pc.lax.all_gather(x, "x", tiled=True)
        return total + parts.reshape(-1, x.shape[0]).max(0) - parts.reshape(-1, x.shape[0]).max(0)

    return pc.jit(pc.shard_map(each, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False))


groups = [(0, 1, 2, 3), (0, 1), (2, 3), (0, 2), (1, 3), (1, 2, 3), (0, 1, 2)]
meshes = [Mesh(np.array([pc.devices()[number] for number in group], object), ("x",)) for group in groups]
programs = [program(mesh) for mesh in meshes]
begun, rounds, launches, failures = time.monotonic(), 0, 0, 0
while True:
    faulthandler.dump_traceback_later(ROUND_LIMIT, exit=True)
    results = []
    for _ in range(20):
        which, length = int(shared.integers(len(groups))), int(shared.choice([1, 1000, 100_000]))
        if own not in groups[which]:
            continue
        time.sleep(float(delays.exponential(0.001)))
        x = pc.make_array_from_process_local_data(
            NamedSharding(meshes[which], P("x")), np.full(length, own, np.float32)
        )
        results.append((programs[which](x), sum(groups[which])))
    for result, expected in results:
        np.testing.assert_array_equal(np.asarray(result), expected)
        launches += 1
    # One that fails alone, and what comes after it.
    failing = int(shared.integers(4))
    who_fails = failing
    x = pc.make_array_from_process_local_data(NamedSharding(meshes[0], P("x")), np.ones(1, np.float32))
    try:
        np.asarray(programs[0](x))
        raise AssertionError("a launch that fails in one process has a result")
    except KeyError:
        told = own
    except pc.errors.DistributedError as error:
        told = error.process
    assert told == failing
    who_fails = -1
    failures += 1
    rounds += 1
    is_over = multihost_utils.broadcast_one_to_all(np.int32(time.monotonic() - begun > seconds))
    if is_over:
        break
print(f"process {own}: {rounds} rounds, {launches} launches, {failures} failures as drawn", flush=True)
pc.distributed.shutdown()
faulthandler.cancel_dump_traceback_later()
