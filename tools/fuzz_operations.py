"""Programs of one operation of the dialect for `fuzz`, with sizes of a call near the limits. The table RULES has the
rule of each operation. `fuzz_sizes` has programs of several operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from fuzz_operation import FAR, RULES, OperationProgram, Results, Shape, dilated, element_of, rule, windows

__all__ = ["RULES", "OperationProgram"]

# Matrices: sizes by the operations' names, attributes, and further conditions.

SAME = "left_side = true, lower = true, transpose_a = false, conjugate_a = false, unit_diagonal = false"
MATRICES: list[tuple[str, str, str, Callable[[dict[str, int]], bool]]] = [
    ("cholesky", "nn->nn", "", lambda _: True),
    ("triangular_solve", "mm,mn->mn", SAME, lambda _: True),
    ("triangular_solve/right", "nn,mn->mn", SAME.replace("true", "false", 1), lambda _: True),
    ("lu", "mn->mn,i:r,i:m", "", lambda _: True),
    ("linear_solve", "nn,nn,i:n,nm->nm", "transpose_a = 0 : i64", lambda _: True),
    ("tridiagonal_solve", "n,n,n,nm->nm", "", lambda _: True),
    ("cholesky_update", "nn,n->nn", "", lambda _: True),
    ("qr", "mn->mr,rn", "pivoting = false, full_matrices = false", lambda _: True),
    ("qr/pivoting", "mn->mr,rn,i:n", "pivoting = true, full_matrices = false", lambda _: True),
    ("qr/full", "mn->mm,mn", "pivoting = false, full_matrices = true", lambda _: True),
    ("geqrf", "mn->mn,r", "", lambda _: True),
    ("geqp3", "mn->mn,r,i:n", "", lambda _: True),
    ("householder_product", "mn,k->mn", "", lambda s: s["k"] <= s["n"] <= s["m"]),
    ("ormqr", "mq,k,mn->mn", "left = true, transpose = false", lambda s: s["k"] <= min(s["q"], s["m"])),
    ("ormqr/right", "nq,k,mn->mn", "left = false, transpose = true", lambda s: s["k"] <= min(s["q"], s["n"])),
    ("hessenberg", "nn->nn,l", "", lambda _: True),
    ("tridiagonal", "nn->nn,n,l,l", "lower = true", lambda _: True),
    ("eigh", "nn->nn,n", "lower = true, compute_vectors = true", lambda _: True),
    ("eigh/values", "nn->n", "lower = false, compute_vectors = false", lambda _: True),
    ("eig", "nn->C:n,C:nn,C:nn", "compute_left = true, compute_right = true", lambda _: True),
    ("eig/values", "nn->C:n", "compute_left = false, compute_right = false", lambda _: True),
    ("svd", "mn->r,mr,rn", "full_matrices = false, compute_vectors = true, by_qr = false", lambda _: True),
    ("svd/full", "mn->r,mm,nn", "full_matrices = true, compute_vectors = true, by_qr = true", lambda _: True),
    ("svd/values", "mn->r", "full_matrices = false, compute_vectors = false, by_qr = false", lambda _: True),
    ("schur", "nn->nn,nn", "compute_vectors = true", lambda _: True),
    ("sylvester", "mm,nn,mn->mn", "", lambda _: True),
    ("expm", "nn->nn", "max_squarings = 16 : i64", lambda _: True),
    ("expm_frechet", "nn,nn->nn", "max_squarings = 16 : i64", lambda _: True),
]
KINDS = {"i": "i32", "C": "complex<f32>", "": "f32"}


def _matrices(program: OperationProgram, name: str) -> Results:
    _, shapes, attributes, holds = next(entry for entry in MATRICES if entry[0] == name)
    operands, results = ([word.rpartition(":")[::2] for word in side.split(",")] for side in shapes.split("->"))
    sizes = {letter: program.base() for letter in "mnkq"}
    if program.is_plain:  # k <= n <= m, k <= q
        sizes = dict(zip("kqnm", sorted(sizes.values()), strict=True))
    batch = [program.base(1)] * program.rng.choice([0, 0, 1])
    known: dict[str, int] = {}
    fits, names = True, list[str]()
    for number, (kind, letters) in enumerate(operands):
        shape = [program.near(size) for size in (*batch, *(sizes[letter] for letter in letters))]
        if number == 0:
            batch = shape[: len(batch)]
        fits = fits and shape[: len(batch)] == batch
        for letter, size in zip(letters, shape[len(batch) :], strict=True):
            fits = known.setdefault(letter, size) == size and fits
        values = ["fill:0", "fill:0", "fill:1", "fill:-1", "fill:1000000000"] if kind == "i" else ["fill:1", "random"]
        names.append(program.array(shape, KINDS[kind], program.rng.choice(values)))
        if kind == "i" and program.inputs[-1] != "fill:0":
            program.fits = None
    known |= {"r": min(known.get("m", 0), known.get("n", 0)), "l": max(0, known.get("n", 0) - 1)}
    program.operation = f"{name.split('/')[0]} {', '.join(names)} {{{attributes}}} : {program.call(names)}"
    shaped = [(KINDS[kind], (*batch, *(known[letter] for letter in word))) for kind, word in results]
    program.expected = shaped
    return shaped if fits and holds(known | {letter: known.get(letter, 0) for letter in "mnkq"}) else None


for _name, *_ in MATRICES:
    RULES[_name] = lambda program, name=_name: _matrices(program, name)


@rule("lu_pivots_to_permutation")
def _pivots(program: OperationProgram, name: str) -> Results:
    count = program.base()
    pivots, total = program.near(count), program.rng.choice([count, count + 1, count + 3, max(0, count - 1)])
    given = program.rng.choice(["fill:0", "fill:0", "fill:-1", "fill:1000000000"])
    operand = program.array([pivots], "i32", given)
    # Pivots are rows of the permuted matrix.
    program.fits = True if given == "fill:0" else None
    program.numbers.append(total)
    attributes = "{permutation_size = -9223372036854775808 : i64}"
    program.operation = f"{name} {operand} sizes(%n0) {attributes} : ({program.type(operand)}) -> RESULTS"
    program.expected = [("i32", (total,))]
    return program.expected if pivots <= total else None


@rule("sort")
def _sort(program: OperationProgram, name: str) -> Results:
    shape = [program.base() for _ in range(program.rng.choice([1, 2]))]
    shapes = [tuple(program.near(size) for size in shape) for _ in range(program.rng.choice([1, 2, 3]))]
    names = [program.array(one, program.rng.choice(["f32", "i32"])) for one in shapes]
    elements = [element_of(program.type(one)) for one in names]
    dimension = program.rng.randrange(len(shape))
    text = f"dimension = {dimension} num_keys = 1 is_stable = true"
    program.operation = f"{name} {', '.join(names)} {text} : {program.call(names)}"
    program.expected = [(element, shapes[0]) for element in elements]
    return program.expected if len(set(shapes)) == 1 else None


@rule("top_k")
def _top_k(program: OperationProgram, name: str) -> Results:
    shape = [program.base() for _ in range(program.rng.choice([1, 2]))]
    axis, indices = program.rng.randrange(len(shape)), list[str]()
    count = program.rng.choice([shape[axis], 0, 1, shape[axis] + 1, -1, FAR])
    if program.is_plain:
        count = min(max(count, 0), shape[axis])
    operand = program.array(shape)
    written = program.number(count, indices)
    sizes = f" sizes({indices[0]})" if indices else ""
    program.operation = f"{name} {operand} k = {written} axis = {axis}{sizes} : ({program.type(operand)}) -> RESULTS"
    result = tuple(max(0, count) if dim == axis else size for dim, size in enumerate(shape))
    program.expected = [("f32", result), ("i32", result)]
    return program.expected if 0 <= count <= shape[axis] else None


@rule("fft/FFT", "fft/IFFT", "fft/RFFT", "fft/IRFFT")
def _fft(program: OperationProgram, name: str) -> Results:
    kind = name.partition("/")[2]
    dims = program.rng.choice([1, 1, 2])
    lengths = [program.base(1) for _ in range(dims)]
    shape = [*lengths]
    if kind == "IRFFT":
        shape[-1] = lengths[-1] // 2 + 1
    batch = [program.base()] * program.rng.choice([0, 1])
    given = [*batch, *(program.near(size) for size in shape)]
    lengths = [program.rng.choice([length] * 8 + [-1, 0]) if not program.is_plain else length for length in lengths]
    indices = list[str]()
    operand = program.array(given, "f32" if kind == "RFFT" else "complex<f32>")
    written = ", ".join([program.number(length, indices) for length in lengths])
    sizes = f" sizes({', '.join(indices)})" if indices else ""
    program.operation = (
        f'fft {operand} type = "{kind}" fft_lengths = [{written}]{sizes} : ({program.type(operand)}) -> RESULTS'
    )
    result = [*batch, *lengths]
    wanted = [*lengths]
    if kind == "RFFT":
        result[-1] = lengths[-1] // 2 + 1
    if kind == "IRFFT":
        wanted[-1] = lengths[-1] // 2 + 1
    program.expected = [("f32" if kind == "IRFFT" else "complex<f32>", tuple(max(0, size) for size in result))]
    if 0 in lengths:  # an empty transform gives an empty result
        program.fits = None
    return program.expected if given[len(batch) :] == wanted and min(lengths) >= 0 else None


@rule("conv_general_dilated", "conv_general_dilated/groups", "conv_general_dilated/batches")
def _convolution(program: OperationProgram, name: str) -> Results:
    dims = program.rng.choice([1, 1, 2])
    by, batches = (2 if name.endswith("/groups") else 1), (2 if name.endswith("/batches") else 1)
    features, inner, out = program.base(1) * by, 0, program.base(1) * by * batches
    inner = features // by
    batch = program.near(program.base(1) * batches)
    kernel = [program.base(1) for _ in range(dims)]
    space = [size + program.base() for size in kernel]
    if not program.is_plain and program.rng.random() < 0.3:
        space[0] = program.rng.choice([0, kernel[0] - 1, kernel[0]])
    features, inner, out = program.near(features), program.near(inner), program.near(out)
    lhs = program.array([batch, features, *space])
    rhs = program.array([out, inner, *kernel])
    strides, spread, apart = ([program.rng.choice([1, 1, 2]) for _ in range(dims)] for _ in range(3))
    pads = [0, 0, 1, 2] if program.is_plain else [0, 0, 1, -1, -3, FAR // 1000]
    low, high = ([program.rng.choice(pads) for _ in range(dims)] for _ in range(2))
    indices = list[str]()
    lows, highs = (", ".join([program.number(pad, indices) for pad in pads]) for pads in (low, high))
    every = list(range(dims + 2))
    program.operation = (
        f"conv_general_dilated {lhs}, {rhs} window_strides = {strides} low = [{lows}] high = [{highs}] "
        f"lhs_dilation = {spread} rhs_dilation = {apart} lhs_spec = {every} rhs_spec = {every} out_spec = {every} "
        f"feature_group_count = {by} batch_group_count = {batches}"
        + (f" sizes({', '.join(indices)})" if indices else "")
        + f" : {program.call([lhs, rhs])}"
    )
    counted: list[int] = []
    fits = features == by * inner and out % (by * batches) == 0 and batch % batches == 0
    for dim in range(dims):
        padded = dilated(space[dim], spread[dim]) + low[dim] + high[dim]
        # Padding that removes more than the size leaves an empty result.
        program.fits = None if padded < 0 else program.fits
        counted.append(windows(padded, dilated(kernel[dim], apart[dim]), strides[dim]))
    program.expected = [("f32", (batch // batches, out, *counted))]
    return program.expected if fits else None


WINDOWS = ("reduce_window_sum", "reduce_window_prod", "reduce_window_max", "reduce_window_min")


@rule(*WINDOWS, "select_and_gather", "select_and_scatter")
def _windows(program: OperationProgram, name: str) -> Results:
    dims = program.rng.choice([1, 1, 2])
    shape = [program.base() for _ in range(dims)]
    window = [program.rng.choice([1, 2, 3] if program.is_plain else [1, 2, 3, size + 1, 0, -1]) for size in shape]
    strides, spread, apart = ([program.rng.choice([1, 1, 2]) for _ in range(dims)] for _ in range(3))
    pads = [0, 0, 1, 2] if program.is_plain else [0, 0, 1, -1, -5]
    low, high = ([program.rng.choice(pads) for _ in range(dims)] for _ in range(2))
    padded = [dilated(n, by) + before + behind for n, by, before, behind in zip(shape, spread, low, high, strict=True)]
    counted = tuple(windows(n, dilated(w, by), s) for n, w, by, s in zip(padded, window, apart, strides, strict=True))
    operand = program.array(shape)
    given = [operand]
    fits = min(padded) >= 0 and min(window) >= 1
    if name.startswith("select"):
        wanted = shape if name.endswith("gather") else list(counted)
        source = [program.near(size) for size in wanted]
        fits = fits and source == wanted
        given = [program.array(source), operand]
    indices = list[str]()
    window_text, lows, highs = (
        ", ".join([program.number(value, indices) for value in values]) for values in (window, low, high)
    )
    program.operation = (
        f"{name} {', '.join(given)} {'greatest = true ' if name.startswith('select') else ''}"
        f"window_dimensions = [{window_text}] window_strides = {strides} low = [{lows}] high = [{highs}] "
        f"base_dilation = {spread} window_dilation = {apart}"
        + (f" sizes({', '.join(indices)})" if indices else "")
        + f" : {program.call(given)}"
    )
    program.expected = [("f32", tuple(shape) if name.endswith("scatter") else counted)]
    return program.expected if fits else None


@rule("gather/clip", "gather/fill", "gather/promise_in_bounds", "gather/batches")
def _gather(program: OperationProgram, name: str) -> Results:
    mode = name.partition("/")[2].replace("batches", "clip")
    rows, columns, count = program.base(1), program.base(), program.base()
    width = program.rng.choice([columns, max(0, columns - 1), columns + 1, -3, FAR])
    if program.is_plain:
        width = min(max(width, 0), columns)
    operand = program.array([rows, columns])
    in_batches = name.endswith("/batches")
    count = program.near(rows) if in_batches else count
    at = program.array([count], "i32", program.rng.choice(["fill:0", "fill:1000000", "fill:-5"]))
    indices = list[str]()
    written = program.number(width, indices)
    sizes = f" sizes({indices[0]})" if indices else ""
    if written == "-1":
        program.fits = None
    fill = [program.array([], "f32")] if mode == "fill" else []
    dims = (
        "operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, "
        "start_index_map = array<i64: 1>"
        if in_batches
        else "collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>"
    )
    slices = f"array<i64: 1, {width}>" if written != "?" else ""
    head = f" slice_sizes = [1, ?]{sizes}" if not slices else ""
    inner = f", slice_sizes = {slices}" if slices else ""
    program.operation = (
        f'gather {operand} at({", ".join([at, *fill])}){head} {{{dims}, mode = "{mode}", offset_dims = array<i64: 1>'
        f"{inner}}} : {program.call([operand, at, *fill, *indices])}"
    )
    program.expected = [("f32", (count, max(0, width)))]
    fits = 0 <= width <= columns and (not in_batches or count == rows)
    return program.expected if fits and rows >= 1 else None


@rule("scatter/add", "scatter/set", "scatter/mul")
def _scatter(program: OperationProgram, name: str) -> Results:
    rows, columns, count = program.base(1), program.base(), program.base()
    operand = program.array([rows, columns])
    width = program.near(columns)
    total = program.near(count)
    updates = program.array([total, width])
    at = program.array([count], "i32", program.rng.choice(["fill:0", "fill:1000000", "fill:-5"]))
    mode = program.rng.choice(["clip", "fill", "promise_in_bounds"])
    program.operation = (
        f'scatter {operand}, {updates} at({at}) {{inserted_window_dims = array<i64: 0>, kind = "{name[8:]}", '
        f'mode = "{mode}", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}} '
        f": {program.call([operand, updates, at])}"
    )
    program.expected = [("f32", (rows, columns))]
    return program.expected if total == count and width <= columns else None


def _first(program: OperationProgram, rank: int | None = None, element: str = "f32") -> tuple[str, Shape]:
    shape = tuple(program.base() for _ in range(rank or program.rng.choice([1, 2])))
    return program.array(shape, element), shape


def _others(program: OperationProgram, shape: Shape, count: int, element: str = "f32") -> tuple[list[str], bool]:
    """Arrays that should have the same shape, and whether their shapes are the same."""
    shapes = [tuple(program.near(size) for size in shape) for _ in range(count)]
    return [program.array(one, element) for one in shapes], all(one == shape for one in shapes)


# Elementwise operations: the number of arrays, the element type, and the element type of the result.
ELEMENTWISE = {
    "add": (2, "f32", "f32"),
    "shift_left": (2, "i32", "i32"),
    "complex": (2, "f32", "complex<f32>"),
    "lt": (2, "f32", "i1"),
    "polygamma": (2, "f32", "f32"),
    "owens_t": (2, "f32", "f32"),
    "random_gamma_grad": (2, "f32", "f32"),
    "mulhi": (2, "i32", "i32"),
    "betainc": (3, "f32", "f32"),
    "sph_legendre": (3, "f32", "f32"),
    "hyp1f1": (3, "f32", "f32"),
    "hyp2f1": (4, "f32", "f32"),
}


@rule(*ELEMENTWISE)
def _elementwise(program: OperationProgram, name: str) -> Results:
    count, element, result = ELEMENTWISE[name]
    first, shape = _first(program, element=element)
    others, fits = _others(program, shape, count - 1, element)
    program.operation = f"{name} {', '.join([first, *others])} : {program.call([first, *others])}"
    program.expected = [(result, shape)]
    return program.expected if fits else None


@rule("select")
def _select(program: OperationProgram, name: str) -> Results:
    first, shape = _first(program, element="i1")
    program.inputs[-1] = "fill:true"
    others, fits = _others(program, shape, 2)
    program.operation = f"{name} {first}, {', '.join(others)} : {program.call([first, *others])}"
    program.expected = [("f32", shape)]
    return program.expected if fits else None


@rule("concatenate")
def _concatenate(program: OperationProgram, name: str) -> Results:
    shape = [program.base(), program.base()]
    axis = program.rng.randrange(2)
    parts = [[program.base() if dim == axis else program.near(size) for dim, size in enumerate(shape)] for _ in "abc"]
    names = [program.array(part) for part in parts]
    program.operation = f"{name} {', '.join(names)} dimension = {axis} : {program.call(names)}"
    whole = tuple(sum(part[axis] for part in parts) if dim == axis else parts[0][dim] for dim in range(2))
    program.expected = [("f32", whole)]
    return program.expected if len({part[1 - axis] for part in parts}) == 1 else None


@rule("dot_general")
def _product(program: OperationProgram, name: str) -> Results:
    b, m, k, n = (program.base() for _ in range(4))
    lhs, rhs = [program.near(b), program.near(m), program.near(k)], [program.near(b), program.near(k), program.near(n)]
    names = [program.array(lhs), program.array(rhs)]
    text = f"{', '.join(names)} batch = [0] x [0] contracting = [2] x [1]"
    program.operation = f"{name} {text} : {program.call(names)}"
    program.expected = [("f32", (lhs[0], lhs[1], rhs[2]))]
    return program.expected if lhs[0] == rhs[0] and lhs[2] == rhs[1] else None


@rule("cumsum", "cummax", "cumprod", "cumlogsumexp")
def _cumulative(program: OperationProgram, name: str) -> Results:
    first, shape = _first(program)
    axis = program.rng.randrange(len(shape))
    program.operation = f"{name} {first} axis = {axis} reverse = false : ({program.type(first)}) -> RESULTS"
    return [("f32", shape)]


@rule("argmax", "argmin", "reduce_max", "reduce_prod")
def _reduction(program: OperationProgram, name: str) -> Results:
    first, shape = _first(program, 2)
    is_place = name.startswith("arg")
    text = "axis = 1 index_dtype = i32" if is_place else "axes = [1]"
    program.operation = f"{name} {first} {text} : ({program.type(first)}) -> RESULTS"
    program.fits = True if shape[1] or not is_place else None
    return [("i32" if is_place else "f32", shape[:1])]


@rule("transpose", "reverse")
def _moved(program: OperationProgram, name: str) -> Results:
    first, shape = _first(program, 2)
    text = "permutation = [1, 0]" if name == "transpose" else "dimensions = [1]"
    program.operation = f"{name} {first} {text} : ({program.type(first)}) -> RESULTS"
    return [("f32", shape[::-1] if name == "transpose" else shape)]


@rule("dynamic_slice")
def _dynamic_slice(program: OperationProgram, name: str) -> Results:
    first, shape = _first(program, 2)
    taken = [program.rng.choice([size, 0, 1]) if program.is_plain else program.near(size) for size in shape]
    taken = [min(count, size) for count, size in zip(taken, shape, strict=True)] if program.is_plain else taken
    at = [program.array([], "i32", program.rng.choice(["0", "1000000", "-7"])) for _ in range(2)]
    indices = list[str]()
    written = ", ".join([program.number(count, indices) for count in taken])
    sizes = f" sizes({', '.join(indices)})" if indices else ""
    program.operation = (
        f"{name} {first} at({', '.join(at)}) slice_sizes = [{written}]{sizes} : {program.call([first, *at, *indices])}"
    )
    program.expected = [("f32", tuple(taken))]
    return program.expected if all(count <= size for count, size in zip(taken, shape, strict=True)) else None


@rule("dynamic_update_slice")
def _dynamic_update(program: OperationProgram, name: str) -> Results:
    first, shape = _first(program, 2)
    part = [program.rng.choice([size, 0, 1]) if program.is_plain else program.near(size) for size in shape]
    part = [min(count, size) for count, size in zip(part, shape, strict=True)] if program.is_plain else part
    update = program.array(part)
    at = [program.array([], "i32", program.rng.choice(["0", "1000000", "-7"])) for _ in range(2)]
    program.operation = f"{name} {first}, {update} at({', '.join(at)}) : {program.call([first, update, *at])}"
    program.expected = [("f32", shape)]
    return program.expected if all(count <= size for count, size in zip(part, shape, strict=True)) else None


@rule("slice")
def _slice(program: OperationProgram, name: str) -> Results:
    first, shape = _first(program, 1)
    start, limit = program.rng.choice([0, 1]), program.rng.choice([shape[0], shape[0] + 1, 0, -2])
    if program.is_plain:
        start, limit = 0, shape[0]
    stride = program.rng.choice([1, 2, 3])
    indices = list[str]()
    written = [program.number(value, indices) for value in (start, limit)]
    sizes = f" sizes({', '.join(indices)})" if indices else ""
    program.operation = (
        f"{name} {first} start_indices = [{written[0]}] limit_indices = [{written[1]}] strides = [{stride}]{sizes} "
        f": ({program.type(first)}) -> RESULTS"
    )
    program.expected = [("f32", (max(0, -(-(limit - start) // stride)),))]
    # For an empty slice, both outcomes are right if the start is beyond the end, or the limit within one stride before
    # the start.
    program.fits = None if limit <= start else True
    return program.expected if limit <= shape[0] and limit - start > -stride else None


@rule("pad")
def _pad(program: OperationProgram, name: str) -> Results:
    first, shape = _first(program, 1)
    between = program.rng.choice([0, 0, 1, 2])
    low, high = (program.rng.choice([0, 1, 2] if program.is_plain else [0, 1, -1, -4]) for _ in range(2))
    value = program.array([], "f32")
    indices = list[str]()
    lows, highs = program.number(low, indices), program.number(high, indices)
    sizes = f" sizes({', '.join(indices)})" if indices else ""
    program.operation = (
        f"{name} {first}, {value} low = [{lows}] high = [{highs}] interior = [{between}]{sizes} "
        f": ({', '.join([program.type(first), program.type(value)])}) -> RESULTS"
    )
    size = dilated(shape[0], between + 1) + low + high
    program.expected = [("f32", (max(0, size),))]
    return program.expected if size >= 0 else None


@rule("scan")
def _scan(program: OperationProgram, name: str) -> Results:
    xs, shape = _first(program, 2)
    carry, fits = _others(program, shape[1:], 1)
    length = program.near(shape[0])
    program.numbers += [length]
    # The arguments of the body have the types of the arrays without their first dimension.
    types = [program.type(carry[0]), re.sub(r"<[^x]*x", "<", program.type(xs), count=1)]
    program.operation = (
        f"{name}({carry[0]}) ({xs}) length = ? reverse = false sizes(%n0) : ({types[0]}, {program.type(xs)}, index) "
        f"-> RESULTS {{\n  ^bb0(%c: {types[0]}, %e: {types[1]}):\n    %s = array.add %c, %e : ({', '.join(types)}) -> "
        f"{types[0]}\n    array.yield %s : {types[0]}\n  }}"
    )
    program.types = [types[0]]
    program.expected = [("f32", shape[1:])]
    return program.expected if fits and length == shape[0] else None
