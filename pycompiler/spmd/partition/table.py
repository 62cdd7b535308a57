"""The rules of all operations, and the reasons of the operations without a rule. Imports the families' files; the
interpreter reads this table.

Every primitive of `primitives` has a rule, a form of the interpreter, or an entry in WITHOUT_RULE with the reason.
tests/python/spmd/test_sharding_rules.py checks this.
"""

from __future__ import annotations

from pycompiler.core.autodiff.custom import custom_lin
from pycompiler.core.tracing.dim_value import dim_as_value
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives.control.kernels import kernel_call
from pycompiler.primitives.creation import iota
from pycompiler.primitives.data_sizes import take_first
from pycompiler.primitives.module_call import module_call
from pycompiler.spmd.partition import indexed, rules, stacks, windowed
from pycompiler.spmd.partition.rule import Rule

RULES: dict[Primitive, Rule] = rules.TABLE | indexed.TABLE | windowed.TABLE | stacks.TABLE

# Operations that every device computes whole. Divided operands are gathered for them.
WITHOUT_RULE: dict[Primitive, str] = {
    dim_as_value: "has no operands",
    iota: "has no operands",
    custom_lin: "is transposed before anything is computed",
    take_first: "the graph is cut there, before it is computed",
    module_call: "the module was compiled for whole arrays",
    kernel_call: "an index map may read any block; in shard_map a kernel computes on the parts of a device",
}
