"""All primitives on a GPU, called as users call them, against their references: the shipped kernels, and the host code
that launches them.

Primitives without a kernel are refused, with the advice to put the operands on a CPU.
"""

import re

import numpy as np
import pytest
from test_kernels import assert_agree
from test_table import NAMES, samples

from pycompiler import devices
from pycompiler._compiler import ir
from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import PRIMITIVES

GPU = True
# docs/gpu.md names them.
REFUSED = {"eig", "schur", "sylvester"}


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
                refused = re.search(r"'(\w+)' has no kernel for a GPU yet: put its operands on a CPU", str(error))
                if refused is None or refused[1] not in REFUSED:
                    raise
                missing += 1
                continue
            got = result if primitive.multiple_results else [result]
            assert all(one.device in devices("gpu") or name == "device_put" for one in got)
            assert_agree(primitive, sample, [np.asarray(one) for one in got])
    assert (missing == len(every)) == (name in REFUSED)
