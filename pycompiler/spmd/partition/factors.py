"""Rules of factors, as in Shardy: dimensions of a function's operands and results with the same factor are divided
alike.

A rule is written as for einsum: `"... i k, k j -> ... i j"`. A name is a factor; a dimension in brackets has several
factors. `custom` divides functions by such rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.spec import Layout
from pycompiler.spmd.partition.layouts import Sizes, parts_of

# Any number of leading dimensions. A number after it tells groups of such dimensions apart.
BATCHING = "…"

_FACTOR = re.compile(r"[^\W\d_]\w*")
_WORD = re.compile(r"\s*(\.\.\.\d*|[^\W\d_]\w*|[(),])")


def _is_batching(factor: str) -> bool:
    return factor[:1] == BATCHING and (len(factor) == 1 or factor[1:].isdigit())


def _check_factor(factor: Any) -> None:
    if not isinstance(factor, str) or not _FACTOR.fullmatch(factor):
        raise ArgumentError(f"a sharding rule has the factor {factor!r}, expected a name: a letter, letters and digits")


class CompoundFactor(tuple[str, ...]):
    """The factors of a dimension that has two or more. Raises ArgumentError for others than names.

    >>> from pycompiler.experimental.custom_partitioning import CompoundFactor
    >>> CompoundFactor("b", "c")
    ('b', 'c')
    """

    def __new__(cls, *factors: str) -> CompoundFactor:
        if len(factors) < 2:
            raise ArgumentError(f"CompoundFactor: takes two factors or more, got {factors}")
        for factor in factors:
            _check_factor(factor)
        return super().__new__(cls, factors)


class ArrayMapping(tuple[Any, ...]):
    """The factor, or the CompoundFactor, of each dimension of an array. The first may be BATCHING.

    >>> from pycompiler.experimental.custom_partitioning import BATCHING, ArrayMapping
    >>> ArrayMapping(BATCHING, "i")
    ('…', 'i')
    """

    def __new__(cls, *dim_mappings: str | CompoundFactor) -> ArrayMapping:
        for place, dim in enumerate(dim_mappings):
            if isinstance(dim, str) and _is_batching(dim):
                if place:
                    raise ArgumentError(f"ArrayMapping: BATCHING comes first, got {dim_mappings}")
            elif not isinstance(dim, CompoundFactor):
                _check_factor(dim)
        return super().__new__(cls, dim_mappings)


class SdyShardingRule:
    """The factors of the dimensions of operands and results.

    `reduction_factors` belong to dimensions that a function sums over, `need_replication_factors` to dimensions that
    are not divided, `permutation_factors` to dimensions whose parts are exchanged. Keywords give the sizes of factors
    that occur in compound factors alone. Raises ArgumentError for factors that do not occur, or have two kinds, and for
    sizes that are missing or known.
    """

    def __init__(
        self,
        operand_mappings: Sequence[Sequence[Any]],
        result_mappings: Sequence[Sequence[Any]],
        *,
        reduction_factors: Sequence[str] = (),
        need_replication_factors: Sequence[str] = (),
        permutation_factors: Sequence[str] = (),
        **factor_sizes: int,
    ) -> None:
        self.operand_mappings = tuple([ArrayMapping(*dims) for dims in operand_mappings])
        self.result_mappings = tuple([ArrayMapping(*dims) for dims in result_mappings])
        self.factor_sizes = factor_sizes
        self.reduction_factors = tuple(reduction_factors)
        self.need_replication_factors = tuple(need_replication_factors)
        self.permutation_factors = tuple(permutation_factors)
        dims = [dim for mapping in (*self.operand_mappings, *self.result_mappings) for dim in mapping]
        whole = {dim for dim in dims if isinstance(dim, str)}
        inner = {factor for dim in dims if not isinstance(dim, str) for factor in dim} - whole
        if inner != set(factor_sizes):
            raise ArgumentError(
                f"SdyShardingRule: the factors {sorted(inner)} occur in compound factors alone, and sizes are given of "
                f"{sorted(factor_sizes)}: expected a size for each of these, and for no other"
            )
        special = [*self.reduction_factors, *self.need_replication_factors, *self.permutation_factors]
        for factor in special:
            if factor not in whole | inner or special.count(factor) > 1:
                raise ArgumentError(
                    f"SdyShardingRule: the factor {factor!r} of a special kind is "
                    + ("given twice" if special.count(factor) > 1 else "not used in the rule")
                )

    def __str__(self) -> str:
        kinds = ("reduction_factors", "need_replication_factors", "permutation_factors")
        special = "".join([f" {kind}={factors}" for kind in kinds if (factors := getattr(self, kind))])
        return f"SdyShardingRule({self.operand_mappings}, {self.result_mappings}, {self.factor_sizes}{special})"


def parsed(rule: str, **options: Any) -> SdyShardingRule:
    """The rule from its text. Raises ArgumentError for a text that is no rule."""
    sides = rule.split("->")
    if len(sides) != 2:
        raise ArgumentError(f"sharding_rule: expected one -> between operands and results, got {rule!r}")
    return SdyShardingRule(_arrays(rule, sides[0]), _arrays(rule, sides[1]), **options)


def _arrays(rule: str, text: str) -> tuple[ArrayMapping, ...]:
    arrays: list[list[Any]] = [[]]
    inner: list[str] | None = None
    at = 0
    while text[at:].strip():
        found = _WORD.match(text, at)
        if found is None:
            raise ArgumentError(f"sharding_rule: {text[at:].strip()!r} in {rule!r} is no factor")
        word, at = found[1], found.end()
        if word == "(" and inner is None:
            inner = []
        elif word == ")" and inner is not None:
            arrays[-1].append(CompoundFactor(*inner))
            inner = None
        elif word in "(),":
            if word != "," or inner is not None:
                raise ArgumentError(f"sharding_rule: the brackets of {rule!r} do not fit")
            arrays.append([])
        elif inner is not None:
            inner.append(word)
        else:
            arrays[-1].append(word.replace("...", BATCHING))
    if inner is not None:
        raise ArgumentError(f"sharding_rule: the brackets of {rule!r} do not fit")
    return tuple([ArrayMapping(*dims) for dims in arrays])


def _factors(what: str, mapping: ArrayMapping, rank: int) -> list[tuple[str, ...]]:
    """The factors of each dimension of an array."""
    dims = list(mapping)
    leading: list[tuple[str, ...]] = []
    if dims and isinstance(dims[0], str) and _is_batching(dims[0]):
        group = dims.pop(0)
        leading = [(f"{group}{number}",) for number in range(rank - len(dims))]
    found = [*leading, *[(dim,) if isinstance(dim, str) else tuple(dim) for dim in dims]]
    if len(found) != rank:
        raise ArgumentError(f"sharding_rule: {what} has {rank} dimensions, and the rule gives {mapping}")
    return found


def divided_by(
    rule: SdyShardingRule,
    shapes: Sequence[Sequence[int]],
    out_shapes: Sequence[Sequence[int]],
    layouts: Sequence[Layout],
    sizes: Sizes,
) -> tuple[list[Layout], list[Layout]]:
    """The layouts of operands and results by a rule, from the present layouts of the operands.

    A factor is divided as in the first operand that divides it. In a dimension with several factors, only the first
    factor is divided.
    """
    if (len(rule.operand_mappings), len(rule.result_mappings)) != (len(shapes), len(out_shapes)):
        raise ArgumentError(
            f"sharding_rule: {rule} is of {len(rule.operand_mappings)} operands and {len(rule.result_mappings)} "
            f"results, and there are {len(shapes)} and {len(out_shapes)}"
        )
    operands = [
        _factors(f"operand {n}", mapping, len(shape))
        for n, (mapping, shape) in enumerate(zip(rule.operand_mappings, shapes, strict=True))
    ]
    results = [
        _factors(f"result {n}", mapping, len(shape))
        for n, (mapping, shape) in enumerate(zip(rule.result_mappings, out_shapes, strict=True))
    ]
    names: dict[str, tuple[str, ...]] = dict.fromkeys(rule.need_replication_factors, ())
    used: set[str] = set()
    for factors, layout in zip(operands, layouts, strict=True):
        for (first, *_), over in zip(factors, layout, strict=True):
            if over and first not in names and not used.intersection(over):
                names[first] = over
                used.update(over)

    def layout_of(factors: Sequence[tuple[str, ...]], shape: Sequence[int]) -> Layout:
        return tuple(
            [
                over if size % parts_of(over := names.get(first, ()), sizes) == 0 else ()
                for (first, *_), size in zip(factors, shape, strict=True)
            ]
        )

    return (
        [layout_of(factors, shape) for factors, shape in zip(operands, shapes, strict=True)],
        [layout_of(factors, shape) for factors, shape in zip(results, out_shapes, strict=True)],
    )
