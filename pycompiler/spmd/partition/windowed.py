"""Partitioning rules of reductions over windows and of convolutions.

Imports `rule`; `table` joins all rules. A dimension stays divided if each window has one element along it; other
dimensions are gathered. In a convolution, the batch and the output features stay divided. Input features that are
divided give parts of a sum. Groups are divided among the devices.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives import window
from pycompiler.primitives.collective.reductions import psum
from pycompiler.primitives.convolution import conv_general_dilated
from pycompiler.spmd.partition.layouts import Part, joined, parts_of
from pycompiler.spmd.partition.rule import Axes, Context, Names, Results, Rule, without

_OF_ONE = (1, 1, 0, 0, 1)


def _windows(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    params = equation.params
    described = ("window_dimensions", "window_strides", "low", "high", "base_dilation")
    each = zip(*[params[what] for what in described], strict=True)
    reaching = [dim for dim, numbers in enumerate(each) if numbers != _OF_ONE]
    layout = without(joined([part.layout for part in parts]), reaching)
    return context.bound(equation, [context.moved(part, layout) for part in parts], [layout])


def _convolution(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    params = equation.params
    (of_batch, of_features, *_), (of_kernels, of_seen, *_) = params["lhs_spec"], params["rhs_spec"]
    left: list[Names] = [()] * len(parts[0].layout)
    right, out = left.copy(), left.copy()
    axes = Axes()
    summed: Names = ()
    groups = {count: params[count] for count in ("feature_group_count", "batch_group_count")}
    # Each device may have some of the groups, of both operands.
    for count, of_groups in (("feature_group_count", of_features), ("batch_group_count", of_batch)):
        names = parts[0].layout[of_groups] or parts[1].layout[of_kernels]
        if params[count] > 1 and params[count] % parts_of(names, context.sizes) == 0:
            left[of_groups] = right[of_kernels] = out[params["out_spec"][1]] = axes.free(names)
            groups[count] //= parts_of(left[of_groups], context.sizes)
    if params["batch_group_count"] == 1:
        left[of_batch] = out[params["out_spec"][0]] = axes.free(parts[0].layout[of_batch])
    if params["feature_group_count"] == params["batch_group_count"] == 1:
        right[of_kernels] = out[params["out_spec"][1]] = axes.free(parts[1].layout[of_kernels])
        summed = left[of_features] = right[of_seen] = axes.free(parts[0].layout[of_features], parts[1].layout[of_seen])
    values = [context.moved(part, tuple(to)) for part, to in zip(parts, (left, right), strict=True)]
    (result,) = context.bound(equation, values, [tuple(out)], **groups)
    return [context.combined(psum, result, summed)] if summed else [result]


TABLE: dict[Primitive, Rule] = dict.fromkeys(window.TABLE, _windows) | {conv_general_dilated: _convolution}
