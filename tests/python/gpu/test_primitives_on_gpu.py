"""Every primitive on a GPU, called as users call it, against its reference: the kernels that ship, and the host's code
that launches them.

What holds a routine that has no kernel is left out, by name.
"""

import numpy as np
import pytest
from test_kernels import assert_agree
from test_table import NAMES, samples

from pycompiler import devices
from pycompiler._compiler import ir
from pycompiler.core.config.config import enable_x64
from pycompiler.ops import PRIMITIVES

GPU = True


@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_gives_the_reference(name):
    primitive = PRIMITIVES[name]
    missing = 0
    with enable_x64(True):
        every = samples(name)
        for sample in every:
            try:
                result = primitive.bind(*sample.args, **sample.params)
            except ir.MLIRError as error:
                if "has no kernel for a GPU yet" not in str(error):
                    raise
                missing += 1
                continue
            got = result if primitive.multiple_results else [result]
            assert all(one.device in devices("gpu") or name == "device_put" for one in got)
            assert_agree(primitive, sample, [np.asarray(one) for one in got])
    if missing == len(every):
        pytest.skip(f"{name}: every sample calls a routine that has no kernel")
