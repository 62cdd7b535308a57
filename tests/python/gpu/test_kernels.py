"""The kernels of all primitives that become PTX, against their references, on the CPU.

Calls of a runtime routine (`array.runtime_call`) without a kernel are left out.
"""

import re

import numpy as np
import pytest
from emulation import OnKernels
from test_spectral_routines import assert_svd
from test_table import BY_NORM, NAMES, ON_GPU, assert_near, expected, samples

from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import PRIMITIVES

ROUTINE = re.compile(r'array.runtime_call "(\w+)"')
WITHOUT_KERNELS = {"collective", "host_call", "eig", "schur", "sylvester"}


def on_kernels(primitive, every):
    """Samples of a primitive, compiled to kernels in one program."""

    def bind_all(arguments):
        return [primitive.bind(*args, **sample.params) for args, sample in zip(arguments, every, strict=True)]

    compiled = OnKernels(bind_all, [sample.args for sample in every])
    if compiled.plan.graph:
        called = set(ROUTINE.findall(compiled.kernels))
        assert called <= WITHOUT_KERNELS
        assert called or "gpu.launch_func" in compiled.kernels
    return compiled


def turned(name, got, want):
    """Eigenvectors with the phase of the reference, because the phase is not determined."""
    if name != "eigh" or got.ndim < 2 or got.shape[-1] != got.shape[-2]:
        return got
    along = (want * got.conj()).sum(-2, keepdims=True)
    return got * (along / np.abs(along)).astype(got.dtype)


def assert_agree(primitive, sample, got):
    """Check that results equal those of the reference, or are as good if several results are right."""
    wanted = expected(primitive, sample)
    assert len(got) == len(wanted)
    if primitive.name == "svd" and len(got) == 3:
        assert [(part.shape, part.dtype) for part in got] == [(part.shape, part.dtype) for part in wanted]
        assert_svd(np.asarray(sample.args[0]), *got)
        return
    # The length of a complex number is a root of a sum of products, which optimized kernels alone contract.
    is_length = primitive.name == "abs" and sample.args[0].dtype.kind == "c"
    for one, want in zip(got, wanted, strict=True):
        # Kernels multiply matrices in another order than the machine's BLAS, which the reference calls.
        elsewhere = ON_GPU or primitive.name in BY_NORM
        name = "sqrt" if is_length else primitive.name
        assert_near(name, turned(primitive.name, one, want), want, elsewhere=elsewhere)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_give_the_reference(name):
    primitive = PRIMITIVES[name]
    with enable_x64(True):
        every = samples(name)
        compiled = on_kernels(primitive, every)
        if ROUTINE.search(compiled.kernels):
            # Select the samples.
            every = [sample for sample in every if not ROUTINE.search(on_kernels(primitive, [sample]).kernels)]
            if not every:
                # Work of the host, or primitives that a GPU refuses (docs/gpu.md): test_primitives_on_gpu.py.
                assert set(ROUTINE.findall(compiled.kernels)) <= WITHOUT_KERNELS
                return
            compiled = on_kernels(primitive, every)
        got = compiled.run()
        for sample in every:
            described = [f"{arg.dtype}{list(arg.shape)}" for arg in sample.args]
            try:
                assert_agree(primitive, sample, [got.pop(0) for _ in expected(primitive, sample)])
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
