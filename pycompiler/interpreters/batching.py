"""Batching rules of users' primitives.

A rule of `primitive_batchers`, `rule(args, dims, **params)`, returns the result and the position of its mapped axis.
`dims` has the position of the mapped axis of each argument, or `not_mapped`. A rule of `axis_primitive_batchers` takes
the size and the name of the axis first, and None: `rule(axis_size, axis_name, None, args, dims, **params)`. A rule of
`fancy_primitive_batchers` takes an object with `size`, `name` and `spmd_name`.

>>> import pycompiler as pc, pycompiler.numpy as pnp
>>> from pycompiler.extend import core
>>> from pycompiler.interpreters import batching
>>> double_p = core.Primitive("double")
>>> _ = double_p.def_impl(lambda x: x + x)
>>> batching.defvectorized(double_p)
>>> pc.vmap(double_p.bind)(pnp.arange(3))
Array([0, 2, 4], dtype=int32)
"""

from pycompiler.core.batching.batch import BatchTrace, BatchTracer
from pycompiler.core.batching.user_rules import (
    AxisBatchers,
    bdim_at_front,
    broadcast,
    defbroadcasting,
    defreducer,
    defvectorized,
    moveaxis,
)
from pycompiler.core.tracing.user_primitive import RuleTable, axis_batchers, batchers
from pycompiler.extend.core.primitives import package_primitives
from pycompiler.lax.names import nearest_name

__all__ = [
    "BatchTrace",
    "BatchTracer",
    "axis_primitive_batchers",
    "bdim_at_front",
    "broadcast",
    "defbroadcasting",
    "defreducer",
    "defvectorized",
    "fancy_primitive_batchers",
    "moveaxis",
    "not_mapped",
    "primitive_batchers",
]

not_mapped = None
primitive_batchers = RuleTable("batch", batchers, package_primitives)
axis_primitive_batchers = AxisBatchers()
fancy_primitive_batchers = axis_batchers

__getattr__ = nearest_name(__name__, __all__)
