"""einsum and einsum_path: sums of products by Einstein's convention, as a sequence of contractions of pairs.

Each operand is first summed over indices that no other operand has. Then the operands are contracted in the order from
NumPy's einsum_path for their shapes.
"""

from collections.abc import Callable, Sequence
from string import ascii_letters
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import typical
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import contraction, movement
from pycompiler.lax import elementwise as lax
from pycompiler.lax import reduction as reduce
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import cast, check_arrays
from pycompiler.lax.precision import check_precision
from pycompiler.lax.shardings import divided
from pycompiler.numpy.contraction import on_diagonal
from pycompiler.numpy.promotion import converted, requested

Path = tuple[tuple[int, ...], ...]


def _as_text(name: str, subscripts: Any, operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The subscripts as a string, and the operands, also for the interleaved form (a, [0, 1], b, [1, 2], [0, 2])."""
    if isinstance(subscripts, str):
        return subscripts, list(operands)
    given = [subscripts, *operands]
    if len(given) < 2:
        raise TypeError(f"{name}: the first argument is the string of subscripts, got {subscripts!r}")
    arrays, lists = given[: len(given) // 2 * 2 : 2], given[1::2]
    output = given[-1] if len(given) % 2 else None
    letters = _letters(name, lists if output is None else [*lists, output])

    def text(indices: Sequence[Any]) -> str:
        return "".join("..." if item is Ellipsis else letters[item] for item in indices)

    spelled = ",".join(map(text, lists))
    return (spelled if output is None else f"{spelled}->{text(output)}"), arrays


def _letters(name: str, lists: Sequence[Any]) -> dict[Any, str]:
    """A letter for each index of the interleaved form, in their order. Any values that can be sorted are indices."""
    found: set[Any] = set()
    ordered: list[Any] = []
    for indices in lists:
        if not isinstance(indices, list | tuple):
            raise TypeError(f"{name}: each operand is followed by a list of its indices, got {indices!r}")
        try:
            found.update(indices)  # pyright: ignore[reportUnknownArgumentType]
            ordered = sorted(found - {Ellipsis})
        except TypeError:
            raise TypeError(
                f"{name}: the indices of an operand are numbers, or other values of one kind that can be sorted, got "
                f"{indices!r}"
            ) from None
    return {item: ascii_letters[i] if i < len(ascii_letters) else chr(140 + i) for i, item in enumerate(ordered)}


def _parse(name: str, subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The indices of each operand and of the result; unused letters replace an ellipsis."""
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"{name}: {subscripts!r} has {len(terms)} operands, {len(ranks)} were given")
    unused = [letter for letter in ascii_letters if letter not in text]
    # Any character may name an index, as in JAX: digits, too.
    special = set(",.->")
    longest = max(
        rank - len(term.replace("...", "")) if "..." in term else 0 for term, rank in zip(terms, ranks, strict=True)
    )
    dots = "".join(unused[: max(longest, 0)])
    spelled: list[str] = []
    for term, rank in zip(terms, ranks, strict=True):
        missing = rank - len(term.replace("...", ""))
        whole = term.replace("...", dots[len(dots) - missing :]) if "..." in term and missing >= 0 else term
        if len(whole) != rank or not special.isdisjoint(whole):
            raise ValueError(f"{name}: {term!r} of {subscripts!r} does not name the {rank} dimensions of its operand")
        spelled.append(whole)
    every = "".join(spelled)
    if arrow:
        output = output.replace("...", dots)
    else:
        output = dots + "".join(letter for letter in sorted(set(every) - set(dots)) if every.count(letter) == 1)
    for letter in output:
        if output.count(letter) > 1 or letter not in every:
            raise ValueError(
                f"{name}: the index {letter!r} of the result of {subscripts!r} must be in an operand, and occur once"
            )
    # NumPy, which finds the path, accepts only letters.
    free = iter(letter for letter in unused if letter not in dots)
    names = {character: next(free) for character in dict.fromkeys(every) if character not in ascii_letters}
    table = str.maketrans(names)
    return [term.translate(table) for term in spelled], output.translate(table)


def _find_path(name: str, terms: Sequence[str], output: str, shapes: Sequence[Any], optimize: Any) -> tuple[Path, str]:
    """The groups of operands that are contracted together, in order, and NumPy's report."""
    if optimize is True or optimize in ("auto", "auto-hq", "optimal"):
        optimize = "optimal" if len(terms) <= 5 else "greedy"
    if isinstance(optimize, str) and optimize not in ("greedy", "optimal"):
        raise ValueError(f"{name}: optimize must be a bool, 'auto', 'greedy', 'optimal' or a path, got {optimize!r}")
    if isinstance(optimize, list | tuple):
        optimize = ["einsum_path", *(tuple(group) for group in optimize if group != "einsum_path")]
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for letter, size in zip(term, shape, strict=True):
            sizes[letter] = max(sizes.get(letter, 0), typical(size))
    # NumPy needs arrays but only reads their shapes. Sizes of 0 and broadcast sizes are replaced.
    stand_ins = [np.broadcast_to(np.float32(0), [max(sizes[letter], 1) for letter in term]) for term in terms]
    path, account = np.einsum_path(f"{','.join(terms)}->{output}", *stand_ins, optimize=optimize)
    return tuple(tuple(int(i) for i in group) for group in path[1:]), account


def _without_repeats(x: Array, term: str) -> tuple[Array, str]:
    """The diagonal over indices that occur twice in a term."""
    for letter in sorted(set(term)):
        while term.count(letter) > 1:
            first, second = term.index(letter), term.rindex(letter)
            shape = get_aval(x).shape
            if shape[first] != shape[second]:
                raise ValueError(f"einsum: the index {letter!r} has sizes {shape[first]} and {shape[second]}")
            x = reduce.reduce_sum(on_diagonal(x, (first, second)), (second,))
            term = term[:second] + term[second + 1 :]
    return x, term


def _summed(x: Array, term: str, kept: str) -> tuple[Array, str]:
    """x summed over the indices that are not kept."""
    axes = tuple(axis for axis, letter in enumerate(term) if letter not in kept)
    if not axes:
        return x, term
    return reduce.reduce_sum(x, axes), "".join(letter for letter in term if letter in kept)


def _pair(
    a: Array,
    left: str,
    b: Array,
    right: str,
    kept: str,
    subscripts: str,
    precision: Any,
    preferred: Any,
    dot_general: Callable[..., Array],
) -> tuple[Array, str]:
    """Two operands contracted over their common indices that no later step needs."""
    sizes = dict(zip(left, get_aval(a).shape, strict=True))
    for letter, size in list(zip(right, get_aval(b).shape, strict=True)):
        known = sizes.get(letter, size)
        if known != size and 1 not in (known, size):
            raise ValueError(
                f"einsum: the index {letter!r} of {subscripts!r} has sizes {known} and {size}: {short(get_aval(a))}, "
                f"{short(get_aval(b))}"
            )
        if known != size:
            # A size of 1 broadcasts: remove the dimension from its operand.
            if size == 1:
                b, right = movement.squeeze(b, (right.index(letter),)), right.replace(letter, "")
            else:
                a, left = movement.squeeze(a, (left.index(letter),)), left.replace(letter, "")
    (a, left), (b, right) = _summed(a, left, kept + right), _summed(b, right, kept + left)
    batch = [letter for letter in left if letter in right and letter in kept]
    contract = [letter for letter in left if letter in right and letter not in kept]
    numbers: Any = tuple(
        tuple(tuple(term.index(letter) for letter in letters) for term in (left, right))
        for letters in (contract, batch)
    )
    rest = "".join(letter for letter in left + right if not (letter in left and letter in right))
    a, b = converted("einsum", a, b)
    result = dot_general(a, b, numbers, precision=precision, preferred_element_type=preferred)
    return result, "".join(batch) + rest


def _contracted(
    *arrays: Array,
    terms: tuple[str, ...],
    output: str,
    path: Path,
    subscripts: str,
    precision: Any,
    preferred: Any,
    dot_general: Callable[..., Array] = contraction.dot_general,
) -> Array:
    pairs = [_without_repeats(x, term) for x, term in zip(arrays, terms, strict=True)]
    for group in path:
        chosen = [pairs[i] for i in group]
        pairs = [pair for i, pair in enumerate(pairs) if i not in group]
        later = output + "".join(term for _, term in pairs)
        result, term = chosen[0]
        for position, (x, other) in enumerate(chosen[1:], start=2):
            kept = later + "".join(term for _, term in chosen[position:])
            result, term = _pair(result, term, x, other, kept, subscripts, precision, preferred, dot_general)
        pairs.append(_summed(result, term, later))
    ((result, term),) = pairs
    order = tuple(term.index(letter) for letter in output)
    return result if order == tuple(range(len(order))) else movement.transpose(result, order)


@decided
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
    _dot_general: Any = contraction.dot_general,
    out_sharding: Any = None,
) -> Array:
    """Sums of products by Einstein's convention: einsum('ij,jk->ik', a, b), or einsum(a, [0, 1], b, [1, 2], [0, 2]).

    Without `->`, the indices that occur once are kept, in alphabetical order; `...` means broadcast dimensions.
    optimize: the method that orders the contractions: 'auto' ('optimal' up to five operands), 'optimal', 'greedy',
    False (from left to right), or a path of einsum_path. _dot_general: the function for the matmul of a pair, with the
    signature of `lax.dot_general`. ValueError if the indices do not fit.

    >>> import pycompiler.numpy as pnp
    >>> pnp.einsum("ij,j->i", pnp.eye(2), pnp.array([3.0, 4.0]))
    Array([3., 4.], dtype=float32)
    """
    if out is not None:
        raise TypeError("einsum: arrays never change, so there is no out=")
    text, given = _as_text("einsum", subscripts, operands)
    check_arrays("einsum", *given)
    check_precision("einsum", precision)
    wanted = requested("einsum", preferred_element_type)
    arrays = converted("einsum", *given)
    shapes = [get_aval(x).shape for x in arrays]
    terms, output = _parse("einsum", text, list(map(len, shapes)))
    path, _ = _find_path("einsum", terms, output, shapes, optimize)
    boolean = get_aval(arrays[0]).dtype == dtypes.bool_
    if boolean:
        arrays = [cast(x, dtypes.int32) for x in arrays]
    if len(arrays) == 1 and wanted is not None:
        arrays = [cast(arrays[0], wanted)]
    static: dict[str, Any] = {
        "terms": tuple(terms),
        "output": output,
        "path": path,
        "subscripts": text,
        "precision": tuple(precision) if isinstance(precision, list) else precision,
        "preferred": None if boolean else wanted,
    }
    if _dot_general is contraction.dot_general:
        result = eager_jit(_contracted, *arrays, **static)
    else:
        # A function of the user may compute in other dtypes, so it gets that of the result.
        static["preferred"] = static["preferred"] or get_aval(arrays[0]).dtype
        result = _contracted(*arrays, **static, dot_general=_dot_general)
    if boolean and wanted is None:
        return divided("einsum", lax.ne(result, 0), out_sharding)
    return divided(
        "einsum", result if wanted is None or get_aval(result).dtype == wanted else cast(result, wanted), out_sharding
    )


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> tuple[list[tuple[int, ...]], Any]:
    """The order of einsum's contractions, as groups of positions in the list of remaining operands, and a report."""
    text, given = _as_text("einsum_path", subscripts, operands)
    check_arrays("einsum_path", *given)
    shapes = [get_aval(x).shape for x in given]
    terms, output = _parse("einsum_path", text, list(map(len, shapes)))
    path, account = _find_path("einsum_path", terms, output, shapes, optimize)
    return list(path), account
