"""A kernel that waits for the test, which makes the order of events certain; and conditions that come to hold soon."""

import gc
import time

import numpy as np

from pycompiler import _runtime as rt

VECTOR = rt.ShapedArray((4,), np.float32)


class Gate:
    """Launches x + 1, which waits until `open` is called. The end of the block opens it."""

    def __init__(self, load):
        self.kernel = load("gated_add_one", 1e9)
        self.memory = np.zeros(4, np.float32)
        # An array over the memory itself, which the kernel reads while the test writes to it.
        self.array = rt.array_from_dlpack(self.memory.__dlpack__(), None)

    def __call__(self, x):
        (result,) = self.kernel.execute([x, self.array], [VECTOR])
        return result

    def open(self):
        self.memory[:] = 1

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.open()
        rt.synchronize()


def eventually(condition):
    """Whether a condition holds soon: the last owner may be a worker that was asleep."""
    for _ in range(100):
        gc.collect()
        if condition():
            return True
        time.sleep(0.1)
    return False
