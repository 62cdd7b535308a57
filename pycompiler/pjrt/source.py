"""A program from JAX, read by JAX's own bindings. `compiler` imports this module.

The bindings give the program's text, with its locations, and facts that the importer drops: the donated arguments and
the memories of results. Calls of Python get the numbers of their functions in the table of the loaded code.
"""

from __future__ import annotations

import functools
from math import prod
from typing import Any

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from pycompiler.cache import Aliases
from pycompiler.compile import modules
from pycompiler.pjrt import inspection, own_division
from pycompiler.pjrt.callbacks import TARGET, Callback, callback_with
from pycompiler.pjrt.expansion import GENERATOR, expand_generators
from pycompiler.pjrt.foreign import ForeignFunction, foreign_function, is_foreign
from pycompiler.pjrt.functions import entry_of, walk
from pycompiler.pjrt.layouts import CONSTRAINT, layout_attributes, take_constraints, take_layouts
from pycompiler.pjrt.masks import spell_masks
from pycompiler.pjrt.partition import PARTICIPANTS, Shardings, divide, together
from pycompiler.pjrt.program import Description, array_types
from pycompiler.pjrt.scheduling import SCHEDULES, join_futures

__all__ = ["Source", "brings_own_division", "calls_of", "printed", "text_of"]

Call = Callback | ForeignFunction

# The name of the operation in a program's bytes.
_CALLS = b"custom_call"
_BYTECODE = b"ML\xefR"
_GROUPS = "sharding_group"
# The begin of a source that is a text to print.
_PRINTED = b"// printed\n"


class _Contexts:
    """Contexts of modules. A new one takes milliseconds; an old one keeps the constants and locations of all modules
    that it has read. Threads may share one."""

    def __init__(self) -> None:
        self._context: Any = None
        self._reads = 0

    def take(self) -> Any:
        """A context for one more module."""
        context = self._context
        if context is None or self._reads >= _READS_OF_CONTEXT:
            context = self._context = jax_mlir.make_ir_context()
            context.allow_unregistered_dialects = True
            self._reads = 0
        self._reads += 1
        return context


_READS_OF_CONTEXT = 64
_contexts = _Contexts()


def _read(code: bytes) -> Any:
    """The module."""
    context = _contexts.take()
    if code.startswith(_BYTECODE):
        module = stablehlo.deserialize_portable_artifact(context, code)
    else:
        module = ir.Module.parse(code, context)
    if any(name in code for name in SCHEDULES):
        join_futures(module)
    if GENERATOR.encode() in code:
        expand_generators(module)
    if CONSTRAINT.encode() in code:
        take_constraints(module)
    return module


# Texts of programs: JAX reads their layouts from the text, four times after each compilation, and their shardings a
# dozen times.
_texts: dict[tuple[bytes, int], str] = {}
_KEPT_TEXTS = 4
# The text of a longer program for one device, which has large constants, is printed only when JAX asks for it.
_KEPT_BYTES = 1 << 20


def brings_own_division(code: bytes) -> bool:
    """Whether a program has functions whose division a user registered in this process."""
    return own_division.TARGET.encode() in code


def printed(text: str) -> bytes:
    """A text as a program's source, for `text_of` alone."""
    return _PRINTED + text.encode()


def text_of(code: bytes, count: int = 1) -> str:
    """The text of a program, as JAX prints it. For several devices, it is the text of one device's part."""
    if code.startswith(_PRINTED):
        return code.removeprefix(_PRINTED).decode()
    found = _texts.get((code, count))
    if found:
        return found
    module = _read(code)
    if count == 1:
        return _whole_text(module, code)
    for op in list(walk(module.operation)):
        if inspection.takes(op):
            op.erase()
    return _keep_text(module, code, count, divide(module, count))


def _whole_text(module: Any, code: bytes) -> str:
    """The text of a module for one device; that of a short one is kept."""
    attributes, added = module.operation.attributes, layout_attributes(module)
    for name, value in added.items():
        attributes[name] = value
    text = str(module)
    for name in added:
        del attributes[name]
    return _kept(text, code, 1) if len(code) <= _KEPT_BYTES else text


def _kept(text: str, code: bytes, count: int) -> str:
    _texts[code, count] = text
    for key in list(_texts)[:-_KEPT_TEXTS]:
        _texts.pop(key, None)
    return text


def _keep_text(module: Any, code: bytes, count: int, given: Shardings) -> str:
    """The text of a divided module. JAX asks for shardings by attributes of the module, and has replicas only if the
    whole program is on one device."""
    with module.context:
        attributes = module.operation.attributes
        participants = attributes[PARTICIPANTS]
        added: dict[str, Any] = layout_attributes(module) | {
            "mhlo.num_partitions": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)
        }
        if given.results:
            added["mhlo.spmd_output_sharding"] = ir.StringAttr.get(together(given.results))
        added["mhlo.spmd_parameters_shardings"] = ir.ArrayAttr.get([ir.StringAttr.get(one) for one in given.arguments])
        del attributes[PARTICIPANTS]
        for name, value in added.items():
            attributes[name] = value
        text = str(module)
        for name in added:
            del attributes[name]
        attributes[PARTICIPANTS] = participants
    return _kept(text, code, count)


def calls_of(code: bytes) -> list[Call]:
    """The functions of the host that a program calls, by slot."""
    return _numbered(_read(code))


def _bits_of(kind: Any) -> Any:
    """The size of an array of a type; for a token, the type itself."""
    if not isinstance(kind, ir.RankedTensorType):
        return kind
    element: Any = kind.element_type
    parts = 1
    if isinstance(element, ir.ComplexType):
        element, parts = element.element_type, 2
    return prod(kind.shape) * parts * element.width


def _numbered(module: Any) -> list[Call]:
    """Give the calls of the host their slots, in place."""
    calls: list[Call] = []
    for op in list(walk(module.operation)):
        if is_foreign(op):
            calls.append(foreign_function(op, len(calls)))
        elif op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == TARGET:
            config = op.attributes["mhlo.backend_config"]
            found = callback_with(config["id"].value)
            calls.append(found)
            slot = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, op.context), len(calls) - 1)
            given: dict[str, Any] = {"slot": slot}
            if found.partitioned:
                given["partitioned"] = ir.UnitAttr.get(op.context)
            op.attributes["mhlo.backend_config"] = ir.DictAttr.get(given, op.context)
    return calls


def _take_parts(module: Any, calls: list[Call]) -> None:
    """Give callbacks that each device calls the sizes of its parts."""
    for op in walk(module.operation):
        if op.name == "stablehlo.custom_call" and "mhlo.backend_config" in op.attributes:
            config = op.attributes["mhlo.backend_config"]
            if "partitioned" in config:
                slot, kinds = config["slot"].value, [one.type for one in op.operands]
                found = calls[slot]
                assert isinstance(found, Callback)
                calls[slot] = found.of_parts([one.shape for one in kinds if isinstance(one, ir.RankedTensorType)])


class Source:
    """A program to compile for a number of devices: the part of each device."""

    def __init__(self, code: bytes, count: int = 1) -> None:
        module = _read(code)
        if count == 1 and len(code) <= _KEPT_BYTES:
            _whole_text(module, code)
        self.name: str = (
            module.operation.attributes["sym_name"].value if "sym_name" in module.operation.attributes else "main"
        )
        if count == 1 and _GROUPS.encode() in code:
            # On one device all values are sharded alike.
            for op in [one for one in walk(module.operation) if one.name == f"sdy.{_GROUPS}"]:
                op.erase()
        # The functions of the host that it calls, by slot.
        self.calls: list[Call] = _numbered(module) if _CALLS in code else []
        # Whether its functions must get shardings, at each compilation.
        self.asks = inspection.TARGET.encode() in code
        self.shardings = divide(module, count) if count > 1 else Shardings()
        if count > 1:
            _keep_text(module, code, count, self.shardings)
            _take_parts(module, self.calls)
        # The orders of arguments and of results; below, all are row-major.
        self.orders = take_layouts(module)
        self._donated: list[tuple[bool, int]] = []
        self._kinds: list[str] = []
        self._read_attributes(module)
        spell_masks(module)
        self._text: str = module.operation.get_asm(enable_debug_info=True)

    def _read_attributes(self, module: Any) -> None:
        main = entry_of(module)
        count = len(main.type.inputs)
        arguments = main.attributes["arg_attrs"] if "arg_attrs" in main.attributes else [None] * count
        results = main.attributes["res_attrs"] if "res_attrs" in main.attributes else [None] * len(main.type.results)
        self._kinds = [
            attrs["mhlo.memory_kind"].value if attrs and "mhlo.memory_kind" in attrs else "device" for attrs in results
        ]
        taken: dict[int, int] = {}
        donors: list[int] = []
        for number, attrs in enumerate(arguments):
            if attrs and "tf.aliasing_output" in attrs:
                taken[number] = attrs["tf.aliasing_output"].value
            elif attrs and "jax.buffer_donor" in attrs and attrs["jax.buffer_donor"].value:
                donors.append(number)
        # A donor gives its memory to the first free result of its type. One of another type with as many bytes lets it
        # go, too; any other stays, as with XLA.
        inputs, outputs = main.type.inputs, main.type.results
        free = [number for number in range(len(outputs)) if number not in taken.values()]
        given = dict(taken)
        for alike in (lambda one: one, _bits_of):
            for donor in [one for one in donors if one not in given]:
                match = next((number for number in free if alike(outputs[number]) == alike(inputs[donor])), None)
                if match is not None:
                    free.remove(match)
                    given[donor] = match if outputs[match] == inputs[donor] else -1
        self._donated = [(number in given, given.get(number, -1)) for number in range(count)]

    @property
    def aliases(self) -> Aliases:
        """Pairs of a result and of the argument that gives it its memory."""
        return tuple(sorted((result, argument) for argument, (_, result) in enumerate(self._donated) if result >= 0))

    @functools.cached_property
    def module(self) -> Any:
        """The translation to the `array` dialect. Raises MLIRError, with the user's line."""
        return modules.read_program(self._text)

    @functools.cached_property
    def signature(self) -> tuple[list[Any], list[Any]]:
        """The avals of arguments and results."""
        return modules.signature(self.module)

    def build(self, aliases: Aliases) -> Any:
        """A module to compile, in which results get the memory of arguments. The first one is `module`: compilation
        changes it, and the signature is known before."""
        _ = self.signature
        module = self.__dict__.pop("module", None) or modules.read_program(self._text)
        modules.mark_aliases(module, aliases, len(self._donated))
        return module

    def description(self, replicas: int, partitions: int, aliases: Aliases, lapack: bool) -> Description:
        """The plugin's description of the program, if these results get the memory of arguments."""
        arguments, results = self.signature
        kept = {argument: result for result, argument in aliases}
        return Description(
            self.name,
            array_types(arguments, self.orders[0]),
            array_types(results, self.orders[1]),
            tuple(self._kinds),
            tuple([(donated, kept.get(number, -1)) for number, (donated, _) in enumerate(self._donated)]),
            replicas,
            partitions,
            lapack,
            self.shardings.arguments,
            self.shardings.results,
            sum(isinstance(one, ForeignFunction) for one in self.calls),
        )
