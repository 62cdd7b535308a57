"""The rules of all operations, and the word of those that have none. After the families' files; the interpreter asks
here.

Every primitive of `ops` has a rule, or a form of the interpreter, or stands in WITHOUT_RULE with the reason:
tests/python/spmd/test_sharding_rules.py holds it to that.
"""

from __future__ import annotations

from pycompiler.core.autodiff.custom import custom_lin
from pycompiler.core.tracing.dim_value import dim_as_value
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.ops.creation import iota
from pycompiler.ops.data_sizes import take_first
from pycompiler.ops.module_call import module_call
from pycompiler.spmd.partition import indexed, rules, stacks, windowed
from pycompiler.spmd.partition.rule import Rule

RULES: dict[Primitive, Rule] = rules.TABLE | indexed.TABLE | windowed.TABLE | stacks.TABLE

# What every device computes all of; operands that are divided are gathered for it.
WITHOUT_RULE: dict[Primitive, str] = {
    dim_as_value: "has no operands",
    iota: "has no operands",
    custom_lin: "is transposed before anything is computed",
    take_first: "the graph is cut there, before it is computed",
    module_call: "the module was compiled for whole arrays",
}
