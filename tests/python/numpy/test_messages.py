"""Errors of eager calls: with the name of the public function and only the user's frames; suggestions of names."""

import subprocess
import sys
import traceback
import warnings

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

X, Y = pnp.ones((2, 3)), pnp.ones((4, 5))

CALLS = {
    "zeros": (lambda: pnp.zeros(-3), "must not be negative"),
    "eye": (lambda: pnp.eye(-1), "must not be negative"),
    "clip": (lambda: pnp.clip(X, "a"), "takes arrays and scalars"),
    "square": (lambda: pnp.square("a"), "takes arrays and scalars, got 'a'"),
    "stack": (lambda: pnp.stack([X, Y]), "shapes differ"),
    "vstack": (lambda: pnp.vstack([X, Y]), "shapes differ"),
    "ptp": (lambda: pnp.ptp(X, 5), "axis 5 is out of range"),
    "nanmean": (lambda: pnp.nanmean(X, 5), "axis 5 is out of range"),
    "add": (lambda: pnp.add(X, Y), "do not broadcast"),
    "sum": (lambda: pnp.sum(X, where=Y > 0), r"a mask of bools that broadcasts to \(2, 3\), got bool\[4,5\]"),
    "prod": (lambda: pnp.prod(X, where=X), "a mask of bools"),
    "max": (lambda: pnp.max(X, initial=X), r"initial= is a scalar, got f32\[2,3\]"),
    "min": (lambda: pnp.min(X, where=X > 0), "needs initial="),
    "mean": (lambda: pnp.mean(X, out=X), "no out="),
    "cumsum": (lambda: pnp.cumsum(X, out=X), "no out="),
    "var": (lambda: pnp.var(X, ddof=1, correction=1), "two names of one number"),
    "std": (lambda: pnp.std(X, dtype=int), "one of floats or complex numbers, got int32"),
    "average": (lambda: pnp.average(X, weights=Y), r"not of the shape of f32\[2,3\]"),
    "median": (lambda: pnp.median(X, overwrite_input=True), "no overwrite_input"),
    "quantile": (lambda: pnp.quantile(X, 0.5, method="hazen"), "method is one of linear"),
    "percentile": (lambda: pnp.percentile(X, Y), "q is a scalar or a vector"),
    "nanquantile": (lambda: pnp.nanquantile(X, 0.5, weights=X), "only method 'inverted_cdf'"),
    "cov": (lambda: pnp.cov(pnp.ones((1, 2, 3))), "takes vectors and matrices"),
    "searchsorted": (lambda: pnp.searchsorted(X, 1.0), "a sorted vector"),
    "sort": (lambda: pnp.sort(X, kind="quicksort"), "takes no kind"),
    "argsort": (lambda: pnp.argsort(X, dtype=float), "one of integers"),
    "pad": (lambda: pnp.pad(X, 1, "edges"), "mode is one of constant"),
    "pad options": (lambda: pnp.pad(X, 1, "edge", stat_length=1), "takes no options, got stat_length"),
    "pad nothing": (lambda: pnp.pad(pnp.zeros((0, 2)), 1, "wrap"), "is empty"),
    "histogram": (lambda: pnp.histogram(X, "auto"), "not a rule by name"),
    "histogramdd": (lambda: pnp.histogramdd(X, [1, 2]), "one entry for each of the 3 dimensions"),
    "gradient": (lambda: pnp.gradient(X, axis=7), "axis 7 is out of range"),
    "gradient of one": (lambda: pnp.gradient(pnp.ones(1)), "less than 2 elements"),
    "interp": (lambda: pnp.interp(1.0, X, X), "vectors of one length"),
    "polyadd": (lambda: pnp.polyadd(X, X), "a vector of coefficients"),
    "polyder": (lambda: pnp.polyder(X[0], -1), "at least 0, got -1"),
    "vander": (lambda: pnp.vander(X), "takes a vector"),
    "block": (lambda: pnp.block([[X], X]), "must have one depth, got the depths 0 and 1"),
    "rollaxis": (lambda: pnp.rollaxis(X, 0, 5), "start 5 is not in -2..2"),
    "vectorize": (lambda: pnp.vectorize(pnp.sin, signature="n->n"), "of the form"),
    "fromstring": (lambda: pnp.fromstring("12", sep=""), "must not be empty"),
}


@pytest.mark.parametrize("case", CALLS)
def test_the_function_that_was_called_is_named(case):
    call, message = CALLS[case]
    with pytest.raises((TypeError, ValueError), match=f"^{case.split()[0]}: .*{message}") as caught:
        call()
    files = {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}
    assert files == {__file__}


METHODS = {
    "add.reduce: ": lambda: pnp.add.reduce(X, axis=4),
    "add.at: arrays never change; with inplace=False": lambda: pnp.add.at(X, 0, 1),
    "negative.reduce: needs a function of two": lambda: pnp.negative.reduce(X),
    "add: arrays never change, so there is no out=": lambda: pnp.add(X, X, out=X),
    "add: takes no where=": lambda: pnp.add(X, X, where=X > 0),
    "add: takes 2 arguments, got 1": lambda: pnp.add(X),
    "add: shapes do not broadcast": lambda: X + Y,
    "matmul: contracting dimensions differ": lambda: X @ Y,
}


@pytest.mark.parametrize("message", METHODS)
def test_operators_and_methods_show_the_users_line_only(message):
    with pytest.raises((TypeError, ValueError)) as caught:
        METHODS[message]()
    assert str(caught.value).startswith(message) or message == "add.reduce: "
    files = {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}
    assert files == {__file__}


def test_what_the_user_raises_keeps_its_words():
    def mine(x):
        raise ValueError("size: mine")

    def calls(x):
        return pnp.sum(x, 9)

    with pytest.raises(ValueError, match=r"^size: mine$"):
        pnp.apply_along_axis(mine, 0, X)
    with pytest.raises(ValueError, match=r"^sum: axis 9"):
        pnp.apply_along_axis(calls, 0, X)


NAMES = {"sinn": "sin", "concatenat": "concatenate", "arccosine": "arccos", "zzz": None, "while": None, "summ": "sum"}


@pytest.mark.parametrize("name", NAMES)
def test_only_a_near_name_is_offered(name):
    with pytest.raises(AttributeError) as caught:
        getattr(pnp, name)
    assert str(caught.value).partition("nearest name is ")[2] == (NAMES[name] or "")
    with pytest.raises(AttributeError, match=r"no attribute conditional$"):
        lax.conditional  # noqa: B018


def test_a_number_beyond_the_range_is_an_infinity_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(float(pc.jit(lambda x: x)(1e300)))
        assert np.isinf(float(pnp.float16(1) * 1e6))


def test_reading_from_files_and_iterables(tmp_path):
    path = tmp_path / "numbers"
    np.arange(6, dtype=np.int16).tofile(path)
    assert pnp.fromfile(path, np.int16, count=2, offset=4).tolist() == [2, 3]
    path.write_text("1 2.5 3")
    assert pnp.fromfile(path, sep=" ").tolist() == [1, 2.5, 3]
    assert pnp.fromiter((i * i for i in range(4)), int).tolist() == [0, 1, 4, 9]
    assert pnp.fromiter(iter([1, 2, 3]), pnp.float32, 2).dtype == np.float32


def test_the_whole_traceback_is_there_on_request():
    program = "import pycompiler.numpy as p; p.sum(p.ones(2), 4)"
    for setting, shown in (("1", False), ("0", True)):
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={**__import__("os").environ, "PYCOMPILER_TRACEBACK_FILTERING": setting},
            capture_output=True,
            text=True,
        )
        assert ("reductions.py" in run.stderr) is shown
