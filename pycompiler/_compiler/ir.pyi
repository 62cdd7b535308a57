"""The part of mlir.ir that an op builder needs."""

from collections.abc import Sequence
from typing import overload

from pycompiler.core.errors import MLIRError as MLIRError


class Context:
    """Owns types and attributes. Use from one thread at a time."""

    def __init__(self) -> None: ...

    @property
    def is_left(self) -> bool:
        """
        Whether interrupted work still runs in it. If so, use another Context instead.
        """

    def __enter__(self) -> object: ...

    def __exit__(self, *args) -> None: ...

class Location:
    @staticmethod
    def file(filename: str, line: int, col: int, context: Context | None = None) -> Location: ...

    @staticmethod
    def unknown(context: Context | None = None) -> Location: ...

    def __str__(self) -> str: ...

    def __enter__(self) -> object: ...

    def __exit__(self, *args) -> None: ...

class Type:
    @staticmethod
    def parse(asm: str, context: Context | None = None) -> Type: ...

    @overload
    def __eq__(self, arg: Type, /) -> bool: ...

    @overload
    def __eq__(self, arg: object | None, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

class RankedTensorType(Type):
    @staticmethod
    def get(shape: Sequence, element_type: Type) -> RankedTensorType: ...

    @property
    def shape(self) -> list: ...

    @property
    def element_type(self) -> object: ...

class FunctionType(Type):
    @staticmethod
    def get(inputs: Sequence[Type], results: Sequence[Type], context: Context | None = None) -> FunctionType: ...

    @property
    def inputs(self) -> list: ...

    @property
    def results(self) -> list: ...

class Attribute:
    @staticmethod
    def parse(asm: str, context: Context | None = None) -> Attribute: ...

    @overload
    def __eq__(self, arg: Attribute, /) -> bool: ...

    @overload
    def __eq__(self, arg: object | None, /) -> bool: ...

    def __hash__(self) -> int: ...

    @property
    def value(self) -> object:
        """
        A number, a string, a type, True for a unit, a list or a dict of those, the expressions of a map as text; ValueError for any other attribute.
        """

    def __str__(self) -> str: ...

class IntegerAttr(Attribute):
    @staticmethod
    def get(type: Type, value: int) -> IntegerAttr: ...

class FloatAttr(Attribute):
    @staticmethod
    def get(type: Type, value: float) -> FloatAttr: ...

class DenseElementsAttr(Attribute):
    @staticmethod
    def get(array: object, type: Type) -> DenseElementsAttr: ...

    @staticmethod
    def get_splat(shaped_type: Type, element_attr: Attribute) -> DenseElementsAttr: ...

class BoolAttr(Attribute):
    @staticmethod
    def get(value: bool, context: Context | None = None) -> BoolAttr: ...

class StringAttr(Attribute):
    @staticmethod
    def get(value: str, context: Context | None = None) -> StringAttr: ...

class FlatSymbolRefAttr(Attribute):
    @staticmethod
    def get(value: str, context: Context | None = None) -> FlatSymbolRefAttr: ...

class DenseI32ArrayAttr(Attribute):
    @staticmethod
    def get(value: Sequence[int], context: Context | None = None) -> DenseI32ArrayAttr: ...

class DenseI64ArrayAttr(Attribute):
    @staticmethod
    def get(value: Sequence[int], context: Context | None = None) -> DenseI64ArrayAttr: ...

class ArrayAttr(Attribute):
    @staticmethod
    def get(value: Sequence[Attribute], context: Context | None = None) -> ArrayAttr: ...

class TypeAttr(Attribute):
    @staticmethod
    def get(value: Type) -> TypeAttr: ...

class UnitAttr(Attribute):
    @staticmethod
    def get(context: Context | None = None) -> UnitAttr: ...

class Module:
    @overload
    @staticmethod
    def parse(asm: str, context: Context | None = None) -> Module: ...

    @overload
    @staticmethod
    def parse(asm: bytes, context: Context | None = None) -> Module: ...

    @staticmethod
    def create(loc: Location | None = None) -> Module: ...

    def function_type(self, name: str) -> FunctionType:
        """The FunctionType of a function of the module."""

    def link(self, module: Module, entry: str) -> str:
        """
        Take in a copy of the functions of another module, private and under names that are free. Returns that of
        `entry`. Raises MLIRError.
        """

    @property
    def operation(self) -> Operation: ...

    @property
    def body(self) -> Block: ...

    @property
    def context(self) -> Context: ...

    def verify(self) -> bool: ...

    def walk(self) -> list: ...

    def __str__(self) -> str: ...

class Operation:
    @staticmethod
    def create(name: str, results: object | None = None, operands: object | None = None, attributes: object | None = None, regions: int = 0, loc: Location | None = None, ip: InsertionPoint | None = None, infer_type: bool = False) -> Operation: ...

    @property
    def attributes(self) -> dict: ...

    def set_attribute(self, name: str, value: Attribute) -> None: ...

    def remove_attribute(self, name: str) -> None: ...

    def set_operand(self, index: int, value: Value) -> None: ...

    def erase(self) -> None: ...

    def walk(self) -> list: ...

    @property
    def parent(self) -> object: ...

    @property
    def location(self) -> Location: ...

    @overload
    def __eq__(self, arg: Operation, /) -> bool: ...

    @overload
    def __eq__(self, arg: object | None, /) -> bool: ...

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def results(self) -> list: ...

    @property
    def result(self) -> Value: ...

    @property
    def operands(self) -> list: ...

    @property
    def regions(self) -> list: ...

    def verify(self) -> bool: ...

    def write_bytecode(self) -> bytes:
        """MLIR's bytecode of it, which Module.parse takes."""

    def get_asm(self, enable_debug_info: bool = False, large_elements_limit: int | None = None) -> str: ...

    def __str__(self) -> str: ...

class Region:
    @property
    def blocks(self) -> list: ...

class Block:
    @staticmethod
    def create_at_start(parent: Region, arg_types: object = (), arg_locs: object | None = None) -> Block: ...

    @property
    def arguments(self) -> list: ...

    @property
    def operations(self) -> list: ...

class Value:
    @property
    def type(self) -> Type: ...

    @property
    def owner(self) -> object: ...

    @property
    def users(self) -> list: ...

    def replace_all_uses_with(self, value: Value) -> None: ...

    @overload
    def __eq__(self, arg: Value, /) -> bool: ...

    @overload
    def __eq__(self, arg: object | None, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

class InsertionPoint:
    @overload
    def __init__(self, arg: Block, /) -> None: ...

    @overload
    def __init__(self, arg: Operation, /) -> None: ...

    def __enter__(self) -> object: ...

    def __exit__(self, *args) -> None: ...
