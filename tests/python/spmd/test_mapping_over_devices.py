"""Documented behaviour of `pmap`, in a process of four devices."""

import os
import subprocess
import sys

_PROGRAM = """
import numpy as np
import pycompiler as pc, pycompiler.numpy as pnp
from pycompiler import lax

x = pnp.arange(8.0).reshape(4, 2)
whole = np.arange(8, dtype=np.float32).reshape(4, 2)

# It maps over the leading axis, each row on a separate device.
y = pc.pmap(lambda r: r * r)(x)
np.testing.assert_array_equal(np.asarray(y), whole**2)
assert [shard.device for shard in y.addressable_shards] == pc.devices()
assert [shard.data.shape for shard in y.addressable_shards] == [(1, 2)] * 4

# Collectives by the name of the axis.
def all_of_them(r):
    total, mean, most = lax.psum(r, "i"), lax.pmean(r, "i"), lax.pmax(r, "i")
    return total, mean, most, lax.all_gather(r, "i"), lax.ppermute(r, "i", [(i, (i + 1) % 4) for i in range(4)])

total, mean, most, rows, shifted = pc.pmap(all_of_them, axis_name="i")(x)
np.testing.assert_array_equal(np.asarray(total), np.tile(whole.sum(0), (4, 1)))
np.testing.assert_array_equal(np.asarray(mean), np.tile(whole.mean(0), (4, 1)))
np.testing.assert_array_equal(np.asarray(most), np.tile(whole[3], (4, 1)))
np.testing.assert_array_equal(np.asarray(rows), np.tile(whole, (4, 1, 1)))
np.testing.assert_array_equal(np.asarray(shifted), np.roll(whole, 1, 0))

# Each value of a static argument is traced once.
seen = []
def power(r, n):
    seen.append(n)
    return r**n

mapped = pc.pmap(power, static_broadcasted_argnums=1)
for n in (2, 2, 3):
    np.testing.assert_array_equal(np.asarray(mapped(x, n)), whole**n)
assert seen == [2, 3]

# It traces abstract values.
shown = []
pc.pmap(lambda r: shown.append(repr(r)) or r)(x)
assert shown == ["Traced<float32[2]>with<pmap>"], shown
"""


def test_pmap():
    environment = os.environ | {"PYCOMPILER_NUM_CPU_DEVICES": "4", "PYCOMPILER_PLATFORM": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
