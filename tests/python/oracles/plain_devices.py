"""Programs of several devices in plain Python: each device is a thread, and collectives meet at a barrier. An oracle.

A program is written as `program(devices.module, devices.lax, *arrays)`, and runs on NumPy's arrays in double precision.
"""

import math
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import plain
import plain_loops
from plain_transforms import Transforms

from pycompiler.sharding import PartitionSpec


def _tree(f, specs, tree):
    """A tree of f(spec, leaf), where a spec stands for all leaves below it."""
    if isinstance(specs, PartitionSpec):
        return plain_loops.tree_map(lambda leaf: f(specs, leaf), tree)
    if isinstance(specs, dict):
        return {key: _tree(f, specs[key], tree[key]) for key in tree}
    return type(tree)(_tree(f, spec, part) for spec, part in zip(specs, tree, strict=True))


class _Block:
    """A leaf of a tree."""

    def __init__(self, slices):
        self.slices = slices


class Devices:
    """A mesh: the sizes of its axes by their names."""

    def __init__(self, **axes):
        self.axes = axes
        self.places = list(np.ndindex(*axes.values()))
        self._barrier = threading.Barrier(len(self.places))
        self._slots = [None] * len(self.places)
        self._here = threading.local()
        own = "psum pmean pmax pmin all_gather psum_scatter all_to_all ppermute axis_index"
        self.lax = types.SimpleNamespace(**{**vars(plain.lax), **{name: getattr(self, name) for name in own.split()}})
        self.module = types.SimpleNamespace(lax=self.lax, numpy=plain.numpy, vmap=Transforms().vmap)

    # Programs

    def run(self, f, arguments):
        """The results of f on each device, of which each has a tuple of arguments."""

        def on(number):
            self._here.number = number
            try:
                return f(*arguments[number])
            except BaseException:
                # The others do not wait for this one.
                self._barrier.abort()
                raise

        with ThreadPoolExecutor(len(self.places)) as pool:
            return list(pool.map(on, range(len(self.places))))

    def shard_map(self, f, in_specs, out_specs):
        def call(*args):
            specs = (in_specs,) * len(args) if isinstance(in_specs, PartitionSpec) else in_specs
            args = plain_loops.tree_map(plain.array, args)
            results = self.run(f, [
                _tree(lambda spec, x, place=place: x[self._block(spec, x.shape, place)], specs, args)
                for place in self.places
            ])  # fmt: skip
            whole = _tree(lambda spec, x: self._empty(spec, np.shape(x)), out_specs, results[0])
            for place, result in zip(self.places, results, strict=True):
                blocks = _tree(lambda spec, x, place=place: _Block(self._block(spec, x.shape, place)), out_specs, whole)
                for target, block, part in zip(*map(plain_loops.leaves, (whole, blocks, result)), strict=True):
                    target[block.slices] = part
            return whole

        return call

    def pmap(self, f, in_axes=0, out_axes=0):
        """Each device has one element along the mapped axes."""

        def call(*args):
            axes = (in_axes,) * len(args) if isinstance(in_axes, int) else in_axes
            args = [plain.array(x) for x in args]
            results = self.run(f, [
                tuple(x if axis is None else np.take(x, number, axis) for x, axis in zip(args, axes, strict=True))
                for number in range(len(self.places))
            ])  # fmt: skip
            return plain_loops.tree_map(lambda x: np.moveaxis(x, 0, out_axes), plain_loops.stacked(results))

        return call

    def _count(self, names):
        return math.prod(self.axes[name] for name in names)

    def _number(self, names, place):
        """Which of the parts along these axes is that of a device."""
        at, number = dict(zip(self.axes, place, strict=True)), 0
        for name in names:
            number = number * self.axes[name] + at[name]
        return number

    def _names(self, spec, axis):
        entry = tuple(spec)[axis] if axis < len(tuple(spec)) else ()
        return () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)

    def _block(self, spec, shape, place):
        block = []
        for axis, size in enumerate(shape):
            names = self._names(spec, axis)
            part = size // self._count(names)
            block.append(slice(self._number(names, place) * part, (self._number(names, place) + 1) * part))
        return tuple(block)

    def _empty(self, spec, shape):
        return np.full([size * self._count(self._names(spec, axis)) for axis, size in enumerate(shape)], np.nan)

    # Collectives

    def _group(self, x, names):
        """The values of the devices that differ along these axes alone, and which is this device's."""
        names = (names,) if isinstance(names, str) else tuple(names)
        here = self.places[self._here.number]
        self._slots[self._here.number] = x
        self._barrier.wait()
        others = [name for name in self.axes if name not in names]
        members = [p for p in self.places if self._number(others, p) == self._number(others, here)]
        members.sort(key=lambda place: self._number(names, place))
        values = [self._slots[self.places.index(place)] for place in members]
        self._barrier.wait()
        return values, self._number(names, here)

    def _reduced(self, reduce, tree, names):
        return plain_loops.tree_map(lambda x: reduce(np.stack(self._group(x, names)[0]), axis=0), tree)

    def psum(self, x, axis_name):
        return self._reduced(np.sum, x, axis_name)

    def pmean(self, x, axis_name):
        return self._reduced(np.mean, x, axis_name)

    def pmax(self, x, axis_name):
        return self._reduced(np.max, x, axis_name)

    def pmin(self, x, axis_name):
        return self._reduced(np.min, x, axis_name)

    def all_gather(self, x, axis_name, *, axis=0, tiled=False):
        return (np.concatenate if tiled else np.stack)(self._group(x, axis_name)[0], axis)

    def psum_scatter(self, x, axis_name, *, scatter_dimension=0, tiled):
        values, number = self._group(x, axis_name)
        assert tiled
        return np.split(sum(values), len(values), scatter_dimension)[number]

    def all_to_all(self, x, axis_name, split_axis, concat_axis, *, tiled):
        values, number = self._group(x, axis_name)
        assert tiled
        return np.concatenate([np.split(value, len(values), split_axis)[number] for value in values], concat_axis)

    def ppermute(self, x, axis_name, perm):
        values, number = self._group(x, axis_name)
        sources = [source for source, target in perm if target == number]
        return values[sources[0]] if sources else np.zeros_like(x)

    def axis_index(self, axis_name):
        return np.int32(self._group(None, axis_name)[1])
