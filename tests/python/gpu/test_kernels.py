"""The kernels of every primitive, those that PTX is made of, against its reference, on the CPU.

What holds a routine of the runtime (`array.runtime_call`) is left out: it has no kernel.
"""

import numpy as np
import pytest
from emulation import Program, empty, kernels_of
from test_table import NAMES, assert_near, expected, samples

import pycompiler as pc
from pycompiler.compile import build_module
from pycompiler.core.config import enable_x64
from pycompiler.ops import PRIMITIVES, bits, compare, creation, math, movement, shape
from pycompiler.plan import plan_outputs

ROUTINE = "array.runtime_call"
# All of their primitives have kernels.
FAMILIES = (bits, compare, creation, math, movement, shape)
WITHOUT_ROUTINES = {entry.name for family in FAMILIES for entry in family.TABLE}


class OnKernels:
    """Samples of a primitive in one function, compiled to kernels; calling it gives the outputs of each."""

    def __init__(self, primitive, every):
        self.primitive, self.every = primitive, every
        closed = pc.jit(self.bind).trace([sample.args for sample in every]).jaxpr
        self.plan = plan_outputs(closed)
        self.kernels = ""
        if self.plan.graph:
            (self.kernels,) = kernels_of([str(build_module(self.plan.graph))])
            assert "gpu.launch_func" in self.kernels or ROUTINE in self.kernels

    def bind(self, arguments):
        results = []
        for args, sample in zip(arguments, self.every, strict=True):
            out = self.primitive.bind(*args, **sample.params)
            results += out if self.primitive.multiple_results else [out]
        return results

    def run(self):
        leaves = [np.asarray(arg) for sample in self.every for arg in sample.args]
        computed = []
        if self.plan.graph:
            given = [leaves[i] for i in self.plan.used] + [np.asarray(const) for const in self.plan.consts]
            computed = [empty(aval.shape, aval.dtype) for aval in self.plan.result_avals]
            Program(self.kernels)([np.ascontiguousarray(array) for array in given], computed)
        sources = {"result": computed, "arg": leaves}
        return [np.asarray(sources[kind][i]) if kind in sources else np.asarray(i) for kind, i in self.plan.outputs]


@pytest.mark.parametrize("name", NAMES)
def test_kernels_give_the_reference(name):
    primitive = PRIMITIVES[name]
    with enable_x64(True):
        every = samples(name)
        compiled = OnKernels(primitive, every)
        if ROUTINE in compiled.kernels:
            # Which samples?
            every = [sample for sample in every if ROUTINE not in OnKernels(primitive, [sample]).kernels]
            assert name not in WITHOUT_ROUTINES, "its samples have called no routine of the runtime"
            if not every:
                pytest.skip(f"{name}: every sample calls a routine of the runtime")
            compiled = OnKernels(primitive, every)
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
    compiled = OnKernels(add, [sample])
    assert_near("add", compiled.run()[0], expected(add, sample)[0])
    compiled.kernels = compiled.kernels.replace("arith.addf", "arith.subf")
    with pytest.raises(AssertionError, match="not equal"):
        assert_near("add", compiled.run()[0], expected(add, sample)[0])
