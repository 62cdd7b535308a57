"""`lax`'s reductions, windows, convolutions and products, in plain NumPy (see plain.py)."""

import numpy as np
from slopes import wide


def _together(operands):
    return (operands, True) if isinstance(operands, tuple) else ((operands,), False)


def _folded(f, inits, parts, shape, several):
    """The parts, tuples of arrays of one shape, one after the other, where the last array of a part holds."""
    value = tuple(np.full(shape, init) for init in inits)
    for *part, counts in parts:
        new = f(value, tuple(part)) if several else (f(value[0], part[0]),)
        value = tuple(np.where(counts, a, b) for a, b in zip(new, value, strict=True))
    return value if several else value[0]


def reduce(operands, inits, f, axes):
    (operands, several), (inits, _) = _together(operands), _together(inits)
    kept = [axis for axis in range(operands[0].ndim) if axis not in axes]
    moved = [np.transpose(x, (*axes, *kept)) for x in operands]
    places = np.ndindex(*moved[0].shape[: len(axes)])
    shape = moved[0].shape[len(axes) :]
    return _folded(f, inits, ((*(x[place] for x in moved), True) for place in places), shape, several)


def pads(sizes, window, strides, padding):
    """The elements before and after each axis, for windows of these sizes, whose dilations are counted."""
    if not isinstance(padding, str):
        return list(padding)
    if padding.upper() == "VALID":
        return [(0, 0)] * len(sizes)
    found = []
    for size, width, stride in zip(sizes, window, strides, strict=True):
        whole = max((-(-size // stride) - 1) * stride + width - size, 0)
        less, more = whole // 2, whole - whole // 2
        found.append((less, more) if padding.upper() == "SAME" else (more, less))
    return found


def padded(x, value, config):
    """`lax.pad`: (before, after, between) for each axis; negative numbers cut off."""
    value = np.asarray(value, x.dtype)
    for axis, (low, high, between) in enumerate(config):
        rows = np.moveaxis(x, axis, 0)
        size = max((len(rows) - 1) * (between + 1) + 1, 0)
        whole = np.full((max(low, 0) + size + max(high, 0), *rows.shape[1:]), value)
        whole[max(low, 0) : max(low, 0) + size : between + 1] = rows
        whole = whole[max(-low, 0) : len(whole) - max(-high, 0)]
        x = np.moveaxis(whole, 0, axis)
    return x


def _windows(x, fill, window, strides, padding, base, dilation):
    """For each place in a window, the elements there of all windows."""
    spans = [d * (w - 1) + 1 for w, d in zip(window, dilation, strict=True)]
    sizes = [(n - 1) * b + 1 if n else 0 for n, b in zip(x.shape, base, strict=True)]
    config = [(low, high, b - 1) for (low, high), b in zip(pads(sizes, spans, strides, padding), base, strict=True)]
    x = padded(x, fill, config)
    counts = [max((n - span) // s + 1, 0) for n, span, s in zip(x.shape, spans, strides, strict=True)]
    for place in np.ndindex(*window):
        starts = [p * d for p, d in zip(place, dilation, strict=True)]
        yield place, x[tuple(slice(a, a + s * (c - 1) + 1, s) if c else slice(0, 0)
                             for a, s, c in zip(starts, strides, counts, strict=True))]  # fmt: skip


def reduce_window(operands, inits, f, window, strides=None, padding="VALID", base_dilation=None, window_dilation=None):
    (operands, several), (inits, _) = _together(operands), _together(inits)
    ones = (1,) * len(window)
    options = (window, strides or ones, padding, base_dilation or ones, window_dilation or ones)
    # What lies outside does not count, also where it would change the initial value, as in JAX.
    filled = [*zip(operands, inits, strict=True), (np.ones(operands[0].shape, bool), False)]
    found = [[part for _, part in _windows(x, fill, *options)] for x, fill in filled]
    return _folded(f, inits, zip(*found, strict=True), found[0][0].shape, several)


class _Convolution:
    """A convolution with its axes in one order, in groups: batch, channels, places; outputs, inputs, places."""

    def __init__(
        self, x, w, strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None,
        feature_group_count=1, batch_group_count=1, precision=None, preferred_element_type=None,
    ):  # fmt: skip
        ones, letters = (1,) * (x.ndim - 2), "HWDABC"[: x.ndim - 2]
        left, right, out = dimension_numbers or ("NC" + letters, "OI" + letters, "NC" + letters)
        letters = [letter for letter in right if letter not in "OI"]
        self.dtype = preferred_element_type or x.dtype
        self.left = [left.index(letter) for letter in ("N", "C", *letters)]
        self.right = [right.index(letter) for letter in ("O", "I", *letters)]
        self.out = [out.index(letter) for letter in ("N", "C", *letters)]
        x, w = (y.astype(np.int64) if y.dtype.kind in "iu" else wide(y) for y in (x, w))
        x, w = np.transpose(x, self.left), np.transpose(w, self.right)
        self.count = feature_group_count * batch_group_count
        # The axis of x that is divided among the groups.
        self.axis = 1 if feature_group_count > 1 else 0
        self.xs, self.kernels = np.split(x, self.count, self.axis), np.split(w, self.count, 0)
        options = [w.shape[2:], strides, padding, lhs_dilation or ones, rhs_dilation or ones]
        options = [(1, 1, *options[0]), (1, 1, *options[1]), options[2], (1, 1, *options[3]), (1, 1, *options[4])]
        if not isinstance(padding, str):
            options[2] = [(0, 0), (0, 0), *padding]
        self.options = options

    def value(self):
        """A sum over the places of the kernel."""
        groups = []
        for x, kernel in zip(self.xs, self.kernels, strict=True):
            total = 0
            for place, part in _windows(x, 0, *self.options):
                total = total + np.einsum("nc...,oc->no...", part, kernel[(..., *place[2:])])
            groups.append(total)
        whole = np.transpose(np.concatenate(groups, 1), np.argsort(self.out))
        return whole.astype(self.dtype) if whole.dtype.kind == "i" else whole

    def pullback(self, ct):
        """What each product of an element of x and one of the kernel gives back to the two."""
        of_x, of_w, summed = [], [], [0, *range(2, ct.ndim)]
        cts = np.split(np.transpose(wide(ct), self.out), self.count, 1)
        for x, kernel, ct in zip(self.xs, self.kernels, cts, strict=True):
            # Windows of numbers say which element is where; 0 is none.
            numbers = np.arange(1, x.size + 1).reshape(x.shape)
            flat, of_kernel = np.zeros(x.size + 1), np.zeros(kernel.shape)
            windows = (_windows(y, 0, *self.options) for y in (x, numbers))
            for (place, part), (_, which) in zip(*windows, strict=True):
                of_kernel[(..., *place[2:])] = np.tensordot(ct, part, (summed, summed))
                np.add.at(flat, which, np.einsum("no...,oc->nc...", ct, kernel[(..., *place[2:])]))
            of_x.append(flat[1:].reshape(x.shape))
            of_w.append(of_kernel)
        whole = np.concatenate(of_x, self.axis), np.concatenate(of_w, 0)
        return tuple(
            np.transpose(y, np.argsort(order)) for y, order in zip(whole, (self.left, self.right), strict=True)
        )


def conv_general_dilated(x, w, strides, padding, *args, **options):
    return _Convolution(x, w, strides, padding, *args, **options).value()


def conv_pullback(x, w, ct, strides, padding, **options):
    """The derivatives of the sum of ct times the convolution, by x and by w."""
    return _Convolution(x, w, strides, padding, **options).pullback(ct)


def _cumulative(ufunc):
    def function(x, axis=0, reverse=False):
        x = np.flip(x, axis) if reverse else np.asarray(x)
        found = ufunc.accumulate(x, axis, dtype=x.dtype)
        return np.flip(found, axis) if reverse else found

    return function


# Products.


def dot_general(a, b, numbers, precision=None, preferred_element_type=None):
    (contract, batch), letters = numbers, iter("abcdefghijklmnop")
    left, right = [next(letters) for _ in range(a.ndim)], [next(letters) for _ in range(b.ndim)]
    for pair in (*zip(*contract, strict=True), *zip(*batch, strict=True)):
        right[pair[1]] = left[pair[0]]
    shared = [left[axis] for axis in batch[0]]
    gone = {left[axis] for axis in contract[0]}
    rest = [
        letter for letter in left + [r for r in right if r not in left] if letter not in gone and letter not in shared
    ]
    if preferred_element_type is not None:
        a, b = np.asarray(a, preferred_element_type), np.asarray(b, preferred_element_type)
    return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(shared + rest)}", a, b)


def dot(a, b, dimension_numbers=None, **options):
    return dot_general(a, b, dimension_numbers or (((a.ndim - 1,), (0,)), ((), ())), **options)


def ragged_dot(examples, experts, groups):
    owners = np.repeat(np.arange(len(groups)), groups)
    rows = [x @ experts[owner] for x, owner in zip(examples, owners, strict=False)]
    return np.concatenate([rows, np.zeros((len(examples) - len(rows), experts.shape[2]), examples.dtype)])


def top_k(x, count, axis=-1):
    """Nans come first; of equal elements, the first one."""
    rows = np.moveaxis(x, axis, -1)
    # By the last key first: nans, then from above.
    order = np.lexsort((np.nan_to_num(-rows.astype(np.float64), posinf=np.inf, neginf=-np.inf), ~np.isnan(rows)))
    order = order[..., :count]
    return np.moveaxis(np.take_along_axis(rows, order, -1), -1, axis), np.moveaxis(order, -1, axis)


def conv_general_dilated_patches(x, sizes, strides, padding, dimension_numbers=None):
    """A kernel for each place: the channel first, then the place."""
    left, _, out = dimension_numbers or ("NCHW", "OIHW", "NCHW")
    channels = x.shape[left.index("C")]
    kernel = np.eye(int(np.prod(sizes))).reshape(-1, 1, *sizes)
    return conv_general_dilated(
        x, np.tile(kernel, (channels, 1, *[1] * len(sizes))), strides, padding,
        dimension_numbers=(left, "OIHW", out), feature_group_count=channels,
    )  # fmt: skip
