"""What the processes of test_gpus.py run: collectives between GPUs, their values, and the route that they took."""

import ctypes
import json
import os
import sys
from pathlib import Path

RANK = int(os.environ.get("PMI_RANK") or os.environ.get("PYCOMPILER_PROCESS_ID") or 0)
# What a test asks of this process alone, before the import makes devices.
if "VISIBLE_OF" in os.environ:
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["VISIBLE_OF"].split(";")[RANK]
CHOSEN = (
    [int(number) for number in os.environ["CHOSEN"].split(";")[RANK].split(",")] if "CHOSEN" in os.environ else None
)
if os.environ.get("WITHOUT_NCCL") == str(RANK):
    del os.environ["PYCOMPILER_NCCL"]

import numpy as np  # noqa: E402

import pycompiler as pc  # noqa: E402
import pycompiler.numpy as pnp  # noqa: E402
from pycompiler import lax  # noqa: E402
from pycompiler.sharding import NamedSharding  # noqa: E402
from pycompiler.sharding import PartitionSpec as P  # noqa: E402


def exchanges():
    """How many groups of sends and receives the emulated NCCL has put on streams here."""
    library = os.environ.get("PYCOMPILER_NCCL")
    if not library:
        return 0
    count = ctypes.CDLL(library).emulatedComputations
    count.restype = ctypes.c_uint64
    return count()


def collectives(mesh):
    """Every collective, beside the value that NumPy gives."""
    n = mesh.size
    x = np.arange(n * n * 6, dtype=np.float32).reshape(n, n, 6) / 7
    ring = [(i, (i + 1) % n) for i in range(n - 1)]  # Nobody sends to 0.
    moved = np.zeros_like(x)
    moved[1:] = x[:-1]
    cases = {
        "psum": (lambda v: lax.psum(v, "i"), np.broadcast_to(x.sum(0), x.shape)),
        "pmax": (lambda v: lax.pmax(v, "i"), np.broadcast_to(x.max(0), x.shape)),
        "all_gather": (lambda v: lax.all_gather(v, "i"), np.broadcast_to(x, (n, *x.shape))),
        "all_to_all": (lambda v: lax.all_to_all(v, "i", 0, 0, tiled=True), x.swapaxes(0, 1)),
        "psum_scatter": (lambda v: lax.psum_scatter(v, "i", tiled=True), x.sum(0)[:, None]),
        "ppermute": (lambda v: lax.ppermute(v, "i", ring), moved),
    }
    sharding = NamedSharding(mesh, P("i"))
    given = pc.make_array_from_callback(x.shape, sharding, lambda index: x[index])
    for name, (function, want) in cases.items():
        out = P("i")
        mapped = pc.jit(pc.shard_map(lambda v, f=function: f(v[0])[None], mesh=mesh, in_specs=P("i"), out_specs=out))
        found = mapped(given)
        for shard in found.addressable_shards:
            np.testing.assert_allclose(
                np.asarray(shard.data)[0], want[shard.index[0].start or 0], rtol=1e-6, err_msg=name
            )
    # Launches that need nothing of each other are in flight together: their exchanges have one order on all streams.
    shifted = pc.jit(pc.shard_map(lambda v: lax.psum(v, "i") + 1, mesh=mesh, in_specs=P("i"), out_specs=P()))
    moved_on = pc.jit(pc.shard_map(lambda v: lax.ppermute(v, "i", ring), mesh=mesh, in_specs=P("i"), out_specs=P("i")))
    flights = [function(given * number) for number in range(15) for function in (shifted, moved_on)]
    for number, (total, next_one) in enumerate(zip(flights[::2], flights[1::2], strict=True)):
        np.testing.assert_allclose(np.asarray(total.addressable_data(0))[0], x.sum(0) * number + 1, rtol=1e-5)
        shard = next_one.addressable_shards[0]
        np.testing.assert_allclose(np.asarray(shard.data)[0], moved[shard.index[0].start or 0] * number, rtol=1e-6)
    # A loop, and sums in the order of the members: the same bits as in one process.
    steps = pc.jit(lambda a: lax.fori_loop(0, 20, lambda _, c: c * 0.5 + pnp.sum(c) / c.size, a))
    return float(pnp.sum(steps(given)))


def main(folder):
    pc.distributed.initialize(local_device_ids=CHOSEN)
    gpus = pc.devices("gpu")
    mesh = pc.make_mesh((len(gpus),), ("i",), devices=gpus)
    total = collectives(mesh)
    before = exchanges()
    # Parts of the processes, in another order.
    some = pc.make_mesh((2,), ("i",), devices=[gpus[-1], gpus[0]])
    if any(device.process_index == pc.process_index() for device in some.devices.flat):
        collectives(some)
    # DLPack counts the GPUs that this process sees.
    for gpu in pc.local_devices(backend="gpu"):
        here = pc.device_put(np.arange(3.0, dtype=np.float32), gpu)
        assert here.__dlpack_device__() == (2, gpu.local_hardware_id)
        back = pnp.from_dlpack(here)
        assert back.device == gpu
        np.testing.assert_array_equal(back, [0, 1, 2])
    told = {
        "process": pc.process_index(),
        "local": [device.local_hardware_id for device in pc.local_devices() if device.platform == "gpu"],
        "devices": [str(device) for device in gpus],
        "total": total,
        "exchanges": before,
        "remarks": sorted({remark.kind for remark in pc.debug.remarks()}),
    }
    (Path(folder) / f"{pc.process_index()}.json").write_text(json.dumps(told))
    pc.distributed.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
