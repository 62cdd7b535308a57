"""Operands of the calls in cases_*.py, and the way to write calls down."""

import numpy as np

rng = np.random.default_rng(1)
F = rng.normal(size=(3, 5)).astype(np.float32)
G = rng.normal(size=(3, 5)).astype(np.float32)
P = rng.uniform(0.1, 0.9, (3, 5)).astype(np.float32)
INT = rng.integers(-9, 9, (3, 5)).astype(np.int32)
U8 = rng.integers(0, 255, (3, 5)).astype(np.uint8)
I8 = rng.integers(-128, 127, (3, 5)).astype(np.int8)
POS_INT = rng.integers(1, 7, (3, 5)).astype(np.int32)
BOOL = rng.integers(0, 2, (3, 5)).astype(bool)
V = rng.normal(size=7).astype(np.float32)
CUBE = rng.normal(size=(2, 3, 4)).astype(np.float32)
NAN = np.array([[1, np.nan, -3, 0, np.inf], [2, 2, -np.inf, -0.0, 5], [np.nan] * 5], np.float32)
SORTED = np.sort(V)
POSITIVE = np.float32([4, 9])
INDICES = np.array([0, 2, 2, 4])


def reductions(name, *calls):
    return [lambda m, c=c: getattr(m, name)(*c[0], **c[1]) for c in calls]


def call(*args, **kwargs):
    return args, kwargs


def scaled(x, y=2.0, *, z=1.0):
    return x * y + z
