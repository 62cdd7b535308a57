"""The kernels of every primitive, those that PTX is made of, against its reference, on the CPU.

What holds a routine of the runtime (`array.runtime_call`) is left out: it has no kernel.
"""

import numpy as np
import pytest
from emulation import OnKernels
from test_table import NAMES, assert_near, expected, samples

from pycompiler.core.config import enable_x64
from pycompiler.ops import PRIMITIVES, bits, compare, creation, math, movement, shape, special

ROUTINE = "array.runtime_call"
# All of their primitives have kernels.
FAMILIES = (bits, compare, creation, math, movement, shape, special)
WITHOUT_ROUTINES = {entry.name for family in FAMILIES for entry in family.TABLE}


def on_kernels(primitive, every):
    """Samples of a primitive, compiled to kernels in one program."""

    def bind_all(arguments):
        return [primitive.bind(*args, **sample.params) for args, sample in zip(arguments, every, strict=True)]

    compiled = OnKernels(bind_all, [sample.args for sample in every])
    if compiled.plan.graph:
        assert "gpu.launch_func" in compiled.kernels or ROUTINE in compiled.kernels
    return compiled


@pytest.mark.parametrize("name", NAMES)
def test_kernels_give_the_reference(name):
    primitive = PRIMITIVES[name]
    with enable_x64(True):
        every = samples(name)
        compiled = on_kernels(primitive, every)
        if ROUTINE in compiled.kernels:
            # Which samples?
            every = [sample for sample in every if ROUTINE not in on_kernels(primitive, [sample]).kernels]
            assert name not in WITHOUT_ROUTINES, "its samples have called no routine of the runtime"
            if not every:
                pytest.skip(f"{name}: every sample calls a routine of the runtime")
            compiled = on_kernels(primitive, every)
        got = compiled.run()
        for sample in every:
            for want in expected(primitive, sample):
                described = [f"{arg.dtype}{list(arg.shape)}" for arg in sample.args]
                try:
                    assert_near(name, got.pop(0), want)
                except AssertionError as error:
                    raise AssertionError(f"{name} of {described} with {sample.params}: {error}") from None
    assert not got


def test_a_wrong_kernel_shows():
    add = PRIMITIVES["add"]
    sample = next(sample for sample in samples("add") if sample.args[0].dtype == np.float32)
    compiled = on_kernels(add, [sample])
    assert_near("add", compiled.run()[0], expected(add, sample)[0])
    compiled.kernels = compiled.kernels.replace("arith.addf", "arith.subf")
    with pytest.raises(AssertionError, match="not equal"):
        assert_near("add", compiled.run()[0], expected(add, sample)[0])
