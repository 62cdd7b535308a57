"""Transformations of programs of `plain`'s `lax` and `numpy`: by differences, and `vmap` by a loop. An oracle.

A program that is written as `program(lax, numpy, transforms)` takes a `Transforms` as the last of them.
"""

import numpy as np
import plain_loops
import slopes
from slopes import wide

FLOAT0 = np.dtype([("float0", np.void)])


def _value(f, args):
    """f of arrays that have `at`."""
    return f(*(x.view(plain_loops.Array) if isinstance(x, np.ndarray) else x for x in args))


def _leaves(f, args):
    """The results that have derivatives; None for others, as integers."""
    found = [np.asarray(x) for x in plain_loops.leaves(_value(f, args))]
    return [x if x.dtype.kind in "fcV" else None for x in found]


def _each(derivative, f, args):
    """The derivatives of each result of f. Those of integers are of JAX's dtype of no elements."""
    return [
        np.zeros((), FLOAT0) if leaf is None else derivative(lambda *xs, i=i: _leaves(f, xs)[i])
        for i, leaf in enumerate(_leaves(f, args))
    ]


class Transforms:
    def __init__(self):
        # The functions with rules of their own.
        self._ruled = []

    def jit(self, f):
        return f

    checkpoint = jit

    def grad(self, f, argnums=0):
        def gradient(*args):
            for one in self._ruled:
                one.calls, one.count = [], None
            _value(f, args)
            for one in self._ruled:
                one.count = 0
            numbers = (argnums,) if isinstance(argnums, int) else argnums
            found = slopes.gradients(lambda *xs: _value(f, xs), args, numbers)
            return found[0] if isinstance(argnums, int) else found

        return gradient

    def hessian(self, f):
        return lambda x: slopes.hessian(lambda x: _value(f, (x,)), x)

    def jacfwd(self, f):
        return lambda x: _each(lambda g: slopes.jacobian(g, x), f, (x,))

    jacrev = jacfwd

    def jvp(self, f, primals, tangents):
        return _value(f, primals), _each(lambda g: slopes.along(g, primals, tangents), f, primals)

    def linearize(self, f, *primals):
        return _value(f, primals), lambda *tangents: slopes.along(lambda *xs: _value(f, xs), primals, tangents)

    def vjp(self, f, *primals):
        """Of a function whose result is one array."""
        pull = lambda ct: slopes.gradients(lambda *xs: np.sum(ct * _value(f, xs)), primals)  # noqa: E731
        return _value(f, primals), pull

    def vmap(self, f, in_axes=0):
        def mapped(*args):
            axes = (in_axes,) * len(args) if isinstance(in_axes, int) else in_axes
            return plain_loops.mapped(lambda *xs: _value(f, xs), axes, args)

        return mapped

    def custom_jvp(self, f):
        self._ruled.append(_Ruled(f))
        return self._ruled[-1]

    custom_vjp = custom_jvp


class _Ruled:
    """A function of vectors with a rule for its derivative, of which differences see the rule: near the arguments of a
    call, its value is on the rule's line. A program must make the same calls each time.
    """

    def __init__(self, f):
        self.f = f
        # The arguments of the calls, and how many of them were made again; None at first and while they are written.
        self.calls, self.count = [], None

    def __call__(self, *args):
        if self.count is None:
            self.calls.append([wide(x) for x in args])
            return self.f(*args)
        base, count = self.calls[self.count % len(self.calls)], self.count + 1
        # The rule may call this function: such calls are not those of the program.
        kept, self.calls, self.count = self.calls, [], None
        value = self.f(*base) + self.tangent(base, [wide(x) - y for x, y in zip(args, base, strict=True)])
        self.calls, self.count = kept, count
        return value

    def defjvp(self, rule):
        self.tangent = lambda base, moves: rule(tuple(base), tuple(moves))[1]

    def defvjp(self, forward, backward):
        def tangent(base, moves):
            value, kept = forward(*base)
            # What a unit gives back is a row of the Jacobian.
            rows = [backward(kept, unit) for unit in np.eye(len(value))]
            return np.array([sum(np.sum(a * b) for a, b in zip(row, moves, strict=True)) for row in rows])

        self.tangent = tangent
