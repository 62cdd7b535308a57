"""Emission: from a graph to a module of the `array` dialect, through an op builder. `compile` imports this module.

The name of a primitive is the contract: an equation becomes the op `array.<name>`, its parameters become attributes of
the same names, and every op has the user's file and line. A nested call becomes a private function, once for each
graph. The graphs of a loop become regions. This module links the compiler: the first compilation imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pycompiler._compiler import ir
from pycompiler.compile.emit_sizes import SizeEmitter, dims_in
from pycompiler.compile.emit_types import TypeEmitter
from pycompiler.compile.foreign import operations_of, readable
from pycompiler.compile.module_sizes import with_derived
from pycompiler.core.autodiff.call import call
from pycompiler.core.autodiff.checkpoint import name_value
from pycompiler.core.autodiff.custom import custom_lin, forward_mode
from pycompiler.core.dims.dims import Dim, Dimension, Symbol
from pycompiler.core.dims.sizes import solve, symbols_of
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.reshard import reshard
from pycompiler.core.tracing.dim_value import dim_as_value
from pycompiler.core.tracing.effects import is_ordered
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal
from pycompiler.core.tracing.key_use import key_use
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.specialize import aval_at
from pycompiler.core.tracing.trace import names_of
from pycompiler.core.types.aval import ShapedArray, short
from pycompiler.primitives import TYPE_PARAMS, WISH_PARAMS
from pycompiler.primitives.control.checks import check, not_functional
from pycompiler.primitives.control.cond import cond
from pycompiler.primitives.control.host_calls import HOST_CALLS, host_calls
from pycompiler.primitives.control.inlined import INLINED
from pycompiler.primitives.control.kernels import KernelForm, kernel_call
from pycompiler.primitives.control.members import guard, members
from pycompiler.primitives.control.scan import scan
from pycompiler.primitives.control.while_loop import split_operands, while_
from pycompiler.primitives.data_sizes import take_first
from pycompiler.primitives.formulas import FORMULAS, formula_graph, has_formula
from pycompiler.primitives.module_call import ModuleCode, module_call
from pycompiler.primitives.spmd.placement import device_put
from pycompiler.primitives.spmd.shard_map import shard_map, sharding_constraint

ENTRY = "main"


def _sizes_of_call(code: ModuleCode, avals: Sequence[ShapedArray]) -> dict[str, Dimension]:
    """The sizes of a module's symbols, in their order, in a call with arrays of these types."""
    symbols = symbols_of(code.in_avals)
    if symbols and all(aval.is_concrete for aval in avals):
        return dict(solve(code.in_avals, [aval.shape for aval in avals]))
    # The call has the symbols themselves.
    return {
        symbol.name: Dim(symbol.name, min=symbol.min, max=symbol.max, multiple_of=symbol.multiple_of)
        for symbol in symbols
    }


def _check_axes(equation: Equation) -> None:
    """Raise NameError for an operation over a named axis: the trace of the axis should have replaced it."""
    if equation.primitive.axis_names is not None and equation.primitive is not shard_map:
        where = f"{equation.source.describe()}\n" if equation.source else ""
        names = ", ".join(sorted(map(repr, names_of(equation.primitive, equation.params))))
        raise NameError(
            f"{where}{equation.primitive.name}: the axis {names} is mapped outside of this function, so that it can't "
            "be compiled alone.\nWhat to do: compile the function that calls vmap with axis_name."
        )


def _is_cut(equation: Equation) -> TypeError:
    where = f"{equation.source.describe()}\n" if equation.source else ""
    return TypeError(
        f"{where}the size {equation.params['size']} depends on data: the program is cut where this size becomes "
        "known, so no single module can be shown or exported.\nWhat to do: call it, or pass size= for a result of a "
        "fixed size"
    )


class Emitter(TypeEmitter):
    """Builds one module."""

    def __init__(self, context: ir.Context, symbols: Sequence[Symbol] = ()) -> None:
        super().__init__(context)
        self.module = ir.Module.create(self.unknown)
        self._callees: dict[int, str] = {}
        self._formula: Primitive | None = None  # the one whose formula is being emitted
        self._linked: dict[tuple[ModuleCode, tuple[tuple[str, Dimension], ...]], str] = {}
        # The slots of the equations that call the host, by id.
        self.slots: dict[int, int] = {}
        # The plans of matmuls, by the ids of their equations, as attributes.
        self.plans: Mapping[int, Mapping[str, int | str]] = {}
        # The token for the next ordered effect in the current block. It is the first result and argument of operations
        # with such effects.
        self._token: ir.Value | None = None
        self._token_type = ir.Type.parse("!array.token", context)
        self._sizes = SizeEmitter(context, symbols)

    def function(self, name: str, graph: Graph, *, private: bool, aliases: Sequence[tuple[int, int]] = ()) -> None:
        """`func.func @name`: its arguments are the graph's inputs, then its constants."""
        for equation in graph.equations:
            if equation.primitive is take_first:
                # This error must precede the one about shapes of results that name the size.
                raise _is_cut(equation)
        variables = (*graph.inputs, *graph.constvars)
        # The entry function begins without a token. A nested function gets one as an argument.
        ordered = is_ordered(graph.effects)
        handed = [self._token_type] if ordered and private else []
        arguments = handed + [self.type_of(var.aval) for var in variables]
        results = handed + [self.type_of(atom.aval) for atom in graph.outputs]
        attributes = {
            "sym_name": ir.StringAttr.get(name, self.context),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(arguments, results, self.context)),
        }
        if private:
            attributes["sym_visibility"] = ir.StringAttr.get("private", self.context)
        if aliases:
            result_of = {argument: result for result, argument in aliases}
            places = tuple([result_of.get(number, -1) for number in range(len(variables))])
            attributes["array.donated"] = ir.DenseI64ArrayAttr.get(places, self.context)
        # The place of its first line: assembly with lines names the file of its function.
        place = self.location(next((one.source for one in graph.equations if one.source), None))
        function = ir.Operation.create(
            "func.func", attributes=attributes, loc=place, ip=ir.InsertionPoint(self.module.body), regions=1
        )
        block = ir.Block.create_at_start(function.regions[0], arguments)
        ip = ir.InsertionPoint(block)
        given = list(block.arguments)
        caller = self._token
        if handed:
            self._token = given.pop(0)
        elif ordered:
            start = ir.Operation.create("array.create_token", [self._token_type], loc=self.unknown, ip=ip)
            self._token = start.results[0]
        outputs = self._body(graph, dict(zip(variables, given, strict=True)), ip)
        if handed:
            outputs = [self._token, *outputs]
        self._token = caller
        ir.Operation.create("func.return", operands=outputs, loc=self.unknown, ip=ip)
        if not private:
            # This comes after the body, whose sizes may add symbols that follow from others.
            sides = [var.aval for var in variables], [atom.aval for atom in graph.outputs]
            for key, value in self._sizes.attributes(*sides, len(handed)).items():
                function.set_attribute(key, value)

    def _body(self, graph: Graph, values: dict[Any, ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """The equations of a graph; `values` holds its variables. Returns the values of its results."""
        constants: dict[tuple[Any, bytes], ir.Value] = {}

        def read(atom: Atom) -> ir.Value:
            if not isinstance(atom, Literal):
                return values[atom]
            # A scalar that occurs a hundred times is one constant of its block. Its bytes distinguish 0.0 and -0.0.
            scalar = np.asarray(atom.value, atom.aval.dtype)
            key = (scalar.dtype, scalar.tobytes())
            known = constants.get(key)
            if known is None:
                known = constants[key] = self._constant(scalar, self.type_of(atom.aval), ip)
            return known

        for equation in graph.equations:
            operands = [read(atom) for atom in equation.inputs]
            outputs = self._equation(equation, operands, ip)
            if len(outputs) == 1:
                values[equation.outputs[0]] = outputs[0]
            else:
                values.update(zip(equation.outputs, outputs, strict=True))
        return [read(atom) for atom in graph.outputs]

    def _constant(self, scalar: np.ndarray[Any, Any], tensor: ir.Type, ip: ir.InsertionPoint) -> ir.Value:
        attributes = {"value": ir.DenseElementsAttr.get(scalar, tensor)}
        constant = ir.Operation.create("array.constant", [tensor], attributes=attributes, loc=self.unknown, ip=ip)
        return constant.results[0]

    def _equation(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        _check_axes(equation)
        form = _FORMS.get(equation.primitive)
        if form is not None and (form is not Emitter.formula or self._has_formula(equation)):
            return form(self, equation, operands, ip)
        attributes = {
            WISH_PARAMS.get(key, key): self.attribute(value)
            for key, value in equation.params.items()
            if key not in TYPE_PARAMS
        }
        plan = self.plans.get(id(equation))
        if plan:
            attributes["array.plan"] = self.plan_of(plan)
        operands = [*operands, *self._given_sizes(equation, ip)]
        return list(self._operation(f"array.{equation.primitive.name}", equation, operands, ip, attributes).results)

    def _given_sizes(self, equation: Equation, ip: ir.InsertionPoint) -> list[ir.Value]:
        """The size operands of an op, for sizes that types and attributes leave open: `?` in a result whose shape is a
        parameter, and sizes among its parameters."""
        params = equation.params
        says_shape = not equation.outputs[0].aval.is_concrete and not SHAPE_PARAMS.isdisjoint(params)
        given = [dim for dim in equation.outputs[0].aval.shape if isinstance(dim, Dim)] if says_shape else []
        for key, value in params.items():
            if key not in TYPE_PARAMS:
                given += dims_in(value)
        return [self._sizes.value(dim, ip) for dim in given]

    def _operation(
        self,
        name: str,
        equation: Equation,
        operands: Sequence[ir.Value],
        ip: ir.InsertionPoint,
        attributes: dict[str, ir.Attribute] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        """An op with the results and the place of an equation. With ordered effects, its first result is a token."""
        results = [self.type_of(var.aval) for var in equation.outputs]
        if self._is_ordered(equation):
            results.insert(0, self._token_type)
        location = self.location(equation.source)
        return ir.Operation.create(name, results, operands, attributes or {}, loc=location, ip=ip, regions=regions)

    @staticmethod
    def _is_ordered(equation: Equation) -> bool:
        return is_ordered(equation.effects)

    def _ordered(self, equation: Equation, operands: Sequence[ir.Value]) -> list[ir.Value]:
        """The operands of an op, the token first if it has ordered effects."""
        if not self._is_ordered(equation):
            return list(operands)
        assert self._token is not None
        return [self._token, *operands]

    def _results(self, equation: Equation, operation: ir.Operation) -> list[ir.Value]:
        """The results of an op without the token. The next ordered op takes the token."""
        results = list(operation.results)
        if self._is_ordered(equation):
            self._token = results.pop(0)
        return results

    def checked(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """No op for a check that is only for debugging. Raises ValueError for other checks."""
        if not equation.params["debug"]:
            not_functional(equation.source)
        return []

    def host_call(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """`array.host_call` of the equation's slot. Nothing, if the equation has neither effects nor results."""
        if not equation.effects and not equation.outputs:
            return []
        attributes = {"slot": self.attribute(self.slots[id(equation)])}
        if equation.effects:
            attributes["effectful"] = ir.UnitAttr.get(self.context)
        given = self._ordered(equation, operands)
        sizes = [dim for var in equation.outputs for dim in dims_in(var.aval.shape)]
        given = [*given, *[self._sizes.value(dim, ip) for dim in sizes]]
        return self._results(equation, self._operation("array.host_call", equation, given, ip, attributes))

    def size_as_value(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """`array.dim_as_value` of the size in its parameter."""
        size = self._sizes.value(equation.params["dim"], ip)
        return list(self._operation("array.dim_as_value", equation, [size], ip).results)

    def nothing(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """An equation for checks only: no op."""
        return []

    def same(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """An identity: the operand's value."""
        return list(operands)

    def guarded(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """The guarded value: the mask concerns only its cotangent."""
        return [operands[1]]

    def of_members(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """The values: the mask concerns only derivatives."""
        return self.inlined(equation, operands[1:], ip)

    def forward(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """A linear function that can only be transposed: no op."""
        forward_mode(equation.params["custom"], equation.source)

    def manual(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """A function for one device of a mesh has no module for all devices: an error."""
        where = f"{equation.source.describe()}\n" if equation.source else ""
        if not isinstance(equation.params["mesh"], Mesh):
            raise ValueError(
                f"{where}shard_map: its mesh {equation.params['mesh']} is abstract, and no argument is on the "
                "devices of such a mesh.\nWhat to do: give arrays with a NamedSharding, a Mesh, or set one by set_mesh"
            )
        raise TypeError(
            f"{where}shard_map: its function is compiled for the devices of {equation.params['mesh']} when it is "
            "called; no single module can be shown.\nWhat to do: call it, or look at make_jaxpr"
        )

    def cut(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """A data-dependent size: the program is cut there, and has a module for each part."""
        raise _is_cut(equation)

    def inlined(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """The equations of a call. Its other parameters concern only derivatives."""
        graph = equation.called.graph
        return self._body(graph, dict(zip(graph.inputs, operands, strict=True)), ip)

    def call(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """`array.call` of a private function."""
        callee = self._callee(equation.called, equation.params["name"])
        attributes: dict[str, ir.Attribute] = {"callee": ir.FlatSymbolRefAttr.get(callee, self.context)}
        given = self._ordered(equation, operands)
        return self._results(equation, self._operation("array.call", equation, given, ip, attributes))

    def formula(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """`array.call` of a private function that computes a primitive by simpler ones."""
        graph = formula_graph(equation.primitive, tuple([atom.aval for atom in equation.inputs]))
        around, self._formula = self._formula, equation.primitive
        callee = self._callee(graph, equation.primitive.name)
        self._formula = around
        attributes: dict[str, ir.Attribute] = {"callee": ir.FlatSymbolRefAttr.get(callee, self.context)}
        return list(self._operation("array.call", equation, operands, ip, attributes).results)

    def _has_formula(self, equation: Equation) -> bool:
        """Whether a formula computes an equation. Within its own formula, a primitive is its op: a routine."""
        is_own = equation.primitive is self._formula
        return not is_own and has_formula(equation.primitive, equation.inputs[0].aval.dtype)

    def linked_call(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """`array.call` of a function in another module. The first call links that module into this one, and so does
        each call with other sizes of the module's symbols."""
        code: ModuleCode = equation.params["module"]
        sizes = _sizes_of_call(code, [atom.aval for atom in equation.inputs])
        key = code, tuple(sizes.items())
        callee = self._linked.get(key)
        if callee is None:
            with code.reading():
                given = ir.Module.parse(readable(code), self.context)
                self._check_signature(given, code, equation.params["name"])
                self._set_symbols(given, with_derived(given, code.entry, list(sizes.values())))
                callee = self._linked[key] = self.module.link(given, code.entry)
        given = [
            self._as_type(operand, self.type_of(atom.aval), aval_at(wanted, sizes), self.type_of(wanted), ip)
            for operand, atom, wanted in zip(operands, equation.inputs, code.in_avals, strict=True)
        ]
        types = [self.type_of(aval) for aval in code.out_avals]
        attributes: dict[str, ir.Attribute] = {"callee": ir.FlatSymbolRefAttr.get(callee, self.context)}
        location = self.location(equation.source)
        call = ir.Operation.create("array.call", types, given, attributes, loc=location, ip=ip)
        return [
            self._as_type(result, type_, var.aval, self.type_of(var.aval), ip)
            for result, type_, var in zip(call.results, types, equation.outputs, strict=True)
        ]

    def _set_symbols(self, module: ir.Module, sizes: Sequence[Dimension]) -> None:
        """Give the symbols of another module, by their numbers, sizes in this one."""
        for op in module.walk() if sizes else ():
            if op.name == "array.symbol":
                size = sizes[op.attributes["number"].value]
                op.result.replace_all_uses_with(self._sizes.value(size, ir.InsertionPoint(op)))
                op.erase()

    def _as_type(
        self, value: ir.Value, before: ir.Type, aval: ShapedArray, after: ir.Type, ip: ir.InsertionPoint
    ) -> ir.Value:
        """The array `value` with another type, which has a `?` for some sizes of `aval`, or fewer of them."""
        if before == after:
            return value
        assert isinstance(after, ir.RankedTensorType)
        unknown = [dim for dim, size in zip(aval.shape, after.shape, strict=True) if size is None]
        sizes = [self._sizes.value(dim, ip) for dim in unknown]
        return ir.Operation.create("array.reshape", [after], [value, *sizes], loc=self.unknown, ip=ip).results[0]

    def _check_signature(self, given: ir.Module, code: ModuleCode, name: str) -> None:
        """Check that a module has the signature in its file, and only its operations, since these need libraries."""
        holds = operations_of(given)
        if "host_call" in holds:
            raise ValueError(f"{name}: its module calls functions of the process that wrote it (array.host_call)")
        others = holds - code.operations
        if others:
            raise ValueError(f"{name}: its module holds {', '.join(sorted(others))}, which the file does not list")
        signature = given.function_type(code.entry)
        sides = [("takes", code.in_avals, signature.inputs), ("gives", code.out_avals, signature.results)]
        for verb, avals, types in sides:
            if [self.type_of(aval) for aval in avals] != list(types):
                raise ValueError(
                    f"{name}: its module {verb} ({', '.join(map(str, types))}), and the file says "
                    f"({', '.join(map(short, avals))}): the file is damaged, or was not written by export"
                )

    def while_loop(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """`array.while`. Its regions read loop-invariant values from outside."""
        params = equation.params
        cond_consts, body_consts, carry = split_operands(operands, params["cond_nconsts"], params["body_nconsts"])
        loop = self._operation("array.while", equation, self._ordered(equation, carry), ip, regions=2)
        self._region(loop.regions[0], params["cond_jaxpr"].graph, cond_consts, equation, is_condition=True)
        self._region(loop.regions[1], params["body_jaxpr"].graph, body_consts, equation)
        return self._results(equation, loop)

    def scan(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """`array.scan`: its region reads the constants from outside."""
        params = equation.params
        first, last = params["num_consts"], params["num_consts"] + params["num_carry"]
        attributes = {
            "length": self.attribute(params["length"]),
            "reverse": self.attribute(params["reverse"]),
        }
        given = self._ordered(equation, operands[first:])
        sliced = len(operands) - last
        length = [params["length"]] if isinstance(params["length"], Dim) else []
        stacked = [dim for var in equation.outputs[params["num_carry"] :] for dim in dims_in(var.aval.shape)]
        segments = (len(given) - sliced, sliced, len(length), len(stacked))
        given = [*given, *[self._sizes.value(dim, ip) for dim in (*length, *stacked)]]
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments, self.context)
        loop = self._operation("array.scan", equation, given, ip, attributes, regions=1)
        self._region(loop.regions[0], params["jaxpr"].graph, list(operands[:first]), equation)
        return self._results(equation, loop)

    def cond(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """`array.cond`: its regions read all but the index from outside."""
        branches: tuple[ClosedGraph, ...] = equation.params["branches"]
        choice = self._operation("array.cond", equation, operands[:1], ip, regions=len(branches))
        for region, branch in zip(choice.regions, branches, strict=True):
            self._region(region, branch.graph, list(operands[1:]), equation, is_branch=True)
        return self._results(equation, choice)

    def kernel(self, equation: Equation, operands: Sequence[ir.Value], ip: ir.InsertionPoint) -> list[ir.Value]:
        """`array.kernel_call`: its regions read the constants from outside."""
        params = dict(equation.params)
        jaxpr, maps = params.pop("jaxpr"), params.pop("maps")
        form = KernelForm(**params)
        map_consts, consts, inputs, outputs = form.split(operands)
        blocks = [f"array<i64: {', '.join(map(str, sizes))}>" if sizes else "array<i64>" for sizes in form.blocks]
        attributes = {
            "grid": self.attribute(form.grid),
            "parallel": self.attribute(form.parallel),
            "overwritten": self.attribute(form.overwritten),
            "blocks": ir.Attribute.parse(f"[{', '.join(blocks)}]", self.context),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get((len(inputs), len(outputs)), self.context),
        }
        call = self._operation("array.kernel_call", equation, [*inputs, *outputs], ip, attributes, regions=2)
        self._region(call.regions[0], maps.graph, map_consts, equation, end="array.kernel_yield")
        self._region(call.regions[1], jaxpr.graph, consts, equation, end="array.kernel_yield")
        return self._results(equation, call)

    def _region(
        self,
        region: ir.Region,
        graph: Graph,
        captured: list[ir.Value],
        equation: Equation,
        *,
        is_condition: bool = False,
        is_branch: bool = False,
        end: str = "array.yield",
    ) -> None:
        """A block that computes a graph. The first inputs are values from outside, the others are its arguments.

        With ordered effects, a token is the first argument (a branch uses that from outside), and the first yielded
        value (a condition, which precedes the body, yields none).
        """
        location = self.location(equation.source)
        ordered = self._is_ordered(equation)
        inputs = graph.inputs[len(captured) :]
        arguments = [self.type_of(var.aval) for var in inputs]
        if ordered and not is_branch:
            arguments.insert(0, self._token_type)
        block = ir.Block.create_at_start(region, arguments, [location] * len(arguments))
        given = list(block.arguments)
        outer = self._token
        if ordered and not is_branch:
            self._token = given.pop(0)
        values = dict(zip(graph.inputs, (*captured, *given), strict=True))
        outputs = self._body(graph, values, ir.InsertionPoint(block))
        if ordered and not is_condition:
            outputs = [self._token, *outputs]
        self._token = outer
        ir.Operation.create(end, operands=outputs, loc=location, ip=ir.InsertionPoint(block))

    def _callee(self, closed: ClosedGraph, name: str) -> str:
        """The symbol of the private function of a nested graph, emitted at its first call."""
        known = self._callees.get(id(closed))
        if known is None:
            known = self._callees[id(closed)] = f"{name}_{len(self._callees)}"
            self.function(known, closed.graph, private=True)
        return known


# Parameters that are the shape of an op's result.
SHAPE_PARAMS = frozenset({"shape", "new_sizes"})

# The primitives that are not one op of the same name.
_FORMS: dict[Primitive, Callable[[Emitter, Equation, Sequence[ir.Value], ir.InsertionPoint], list[ir.Value]]] = {
    key_use: Emitter.nothing,
    check: Emitter.checked,
    name_value: Emitter.same,
    guard: Emitter.guarded,
    members: Emitter.of_members,
    device_put: Emitter.same,
    reshard: Emitter.same,
    sharding_constraint: Emitter.same,
    shard_map: Emitter.manual,
    take_first: Emitter.cut,
    custom_lin: Emitter.forward,
    **dict.fromkeys(INLINED, Emitter.inlined),
    call: Emitter.call,
    **dict.fromkeys(FORMULAS, Emitter.formula),
    module_call: Emitter.linked_call,
    while_: Emitter.while_loop,
    scan: Emitter.scan,
    cond: Emitter.cond,
    kernel_call: Emitter.kernel,
    dim_as_value: Emitter.size_as_value,
    **dict.fromkeys(HOST_CALLS, Emitter.host_call),
}


def emit(
    graph: Graph,
    context: ir.Context,
    aliases: Sequence[tuple[int, int]] = (),
    plans: Mapping[int, Mapping[str, int | str]] | None = None,
) -> ir.Module:
    """The verified module whose @main computes `graph`: it takes the graph's inputs, then its constants.

    `aliases` are pairs of a result and an input in whose memory it is computed. `plans` are the plans of matmuls and
    convolutions, by the ids of equations.

    Raises `ir.MLIRError` with the user's file and line when an op does not verify.
    """
    emitter = Emitter(context, symbols_of([var.aval for var in graph.inputs]))
    emitter.slots = {id(equation): slot for slot, equation in enumerate(host_calls(graph))}
    emitter.plans = plans or {}
    emitter.function(ENTRY, graph, private=False, aliases=aliases)
    emitter.module.operation.verify()
    return emitter.module
