"""`stages`: the classes of what `jit` returns, and the numbers of the version."""

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import stages, version


def test_the_objects_of_each_stage_are_instances():
    @pc.jit
    def f(x):
        return x + 1

    x = pnp.ones(3)
    traced = f.trace(x)
    lowered = traced.lower()
    compiled = lowered.compile()
    assert isinstance(f, stages.Wrapped)
    assert not isinstance(f.__wrapped__, stages.Wrapped)
    for made, kind in ((traced, stages.Traced), (lowered, stages.Lowered), (compiled, stages.Compiled)):
        assert type(made) is kind
    assert type(f.lower(x)) is stages.Lowered
    info = traced.args_info[0][0]
    assert type(info) is stages.ArgInfo
    assert (info.shape, info.dtype, info.donated) == ((3,), "float32", False)
    assert info == stages.ArgInfo(pc.typeof(x), donated=False) != stages.ArgInfo(pc.typeof(x), donated=True)
    assert stages.CompilerOptions == dict[str, str | bool]


def test_the_numbers_of_the_version():
    assert ".".join(map(str, version.__version_info__)) == version.__version__ == pc.__version__
