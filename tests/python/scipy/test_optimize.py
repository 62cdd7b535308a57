"""scipy.optimize.minimize against known minima and SciPy's."""

import inspect

import jax.scipy.optimize
import numpy as np
import pytest
import scipy.optimize

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64
from pycompiler.scipy import optimize

LIMITED = "l-bfgs-experimental-do-not-rely-on-this"


def rosenbrock(x):
    return pnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def himmelblau(p):
    return (p[0] ** 2 + p[1] - 11) ** 2 + (p[0] + p[1] ** 2 - 7) ** 2


def matyas(p):
    return 0.26 * (p[0] ** 2 + p[1] ** 2) - 0.48 * p[0] * p[1]


def eggholder(p):
    x, y = p
    first = (y + 47) * pnp.sin(pnp.sqrt(pnp.abs(x / 2 + y + 47)))
    return -first - x * pnp.sin(pnp.sqrt(pnp.abs(x - y - 47)))


PROBLEMS = {
    "rosenbrock": (rosenbrock, [0, 0], [1, 1]),
    "rosenbrock of five": (rosenbrock, [0.5, 0.5, 2, 1, 0], [1, 1, 1, 1, 1]),
    "himmelblau": (himmelblau, [1, 1], [3, 2]),
    "matyas": (matyas, [1, -2], [0, 0]),
    "eggholder": (eggholder, [100, 100], None),
    "steep": (lambda x: pnp.sum(1e3 * (x - 0.5) ** 2), [3, 4], [0.5, 0.5]),
}


@pytest.mark.parametrize("method", ["BFGS", LIMITED])
@pytest.mark.parametrize("name", PROBLEMS)
def test_minima(name, method):
    function, start, minimum = PROBLEMS[name]
    with enable_x64(True):
        x0 = np.float64(start)
        # A small decrease of the function does not end the search.
        options = {"ftol": 0} if method == LIMITED else {}
        result = pc.jit(lambda x0: optimize.minimize(function, x0, method=method, options=options))(x0)
        if minimum is None:
            minimum = scipy.optimize.minimize(lambda x: float(function(x)), x0, method="BFGS").x
        np.testing.assert_allclose(result.x, minimum, atol=1e-4)
        assert result.success
        assert result.status == 0
        np.testing.assert_allclose(result.fun, function(result.x), atol=1e-12)
        np.testing.assert_allclose(result.jac, pc.grad(function)(result.x), atol=1e-9)
        assert np.abs(result.jac).max() < 1e-5
        assert 0 < result.nit <= result.nfev == result.njev < 150
        assert (result.hess_inv is None) == (method == LIMITED)
    single = optimize.minimize(function, np.float32(start), method=method)
    assert single.x.dtype == np.float32
    np.testing.assert_allclose(single.x, minimum, rtol=1e-3, atol=3e-3)


def test_the_inverse_hessian():
    matrix = np.float64([[3, 1], [1, 2]])
    with enable_x64(True):
        result = optimize.minimize(lambda x, a: x @ a @ x / 2, np.float64([1, -2]), (matrix,), method="bfgs")
        np.testing.assert_allclose(result.hess_inv, np.linalg.inv(matrix), atol=1e-3)


def test_vmap_and_early_ends():
    starts = np.float32([[0, 0], [2, 2], [1, 1]])
    many = pc.vmap(lambda x: optimize.minimize(rosenbrock, x, method="BFGS").x)(starts)
    np.testing.assert_allclose(many, np.ones((3, 2)), atol=5e-3)
    at_once = optimize.minimize(rosenbrock, pnp.ones(2), method="BFGS")
    assert (bool(at_once.success), int(at_once.nit), int(at_once.nfev)) == (True, 0, 1)
    short = optimize.minimize(rosenbrock, pnp.zeros(2), method="BFGS", options={"maxiter": 2})
    assert (bool(short.success), int(short.status), int(short.nit)) == (False, 1, 2)
    limited = optimize.minimize(rosenbrock, pnp.zeros(2), method=LIMITED, options={"maxfun": 5})
    assert (bool(limited.success), int(limited.status)) == (False, 2)
    # There is no minimum, and no step with a smaller slope.
    endless = optimize.minimize(lambda x: -x.sum(), pnp.zeros(2), method="BFGS")
    assert (bool(endless.success), int(endless.status)) == (False, 5)
    # The slope has the wrong sign, so no step descends; the start stays.
    wrong = pc.custom_jvp(lambda x: pnp.sum(x * x))
    wrong.defjvp(lambda x, t: (pnp.sum(x[0] * x[0]), -pnp.sum(2 * x[0] * t[0])))
    kept = optimize.minimize(wrong, pnp.ones(2), method="BFGS")
    assert (bool(kept.success), int(kept.status)) == (False, 3)
    np.testing.assert_allclose(kept.x, 1, rtol=1e-6)


def test_complex_numbers():
    def function(z):
        return pnp.sum(pnp.abs(z - (1 + 2j)) ** 2)

    result = optimize.minimize(function, np.zeros(2, np.complex64), method=LIMITED)
    np.testing.assert_allclose(result.x, 1 + 2j, atol=1e-4)


def test_arguments():
    ours, theirs = (
        [(p.name, p.kind, p.default) for p in inspect.signature(module.minimize).parameters.values()]
        for module in (optimize, jax.scipy.optimize)
    )
    assert ours == theirs
    assert optimize.OptimizeResults._fields == jax.scipy.optimize.OptimizeResults._fields
    x0 = pnp.zeros(2)
    with pytest.raises(ValueError, match="minimize: there is no method 'Newton'; use 'BFGS'"):
        optimize.minimize(rosenbrock, x0, method="Newton")
    with pytest.raises(TypeError, match="minimize: args must be a tuple, got float"):
        optimize.minimize(rosenbrock, x0, 1.0, method="BFGS")
    with pytest.raises(TypeError, match="minimize: BFGS has no option 'disp'; it has maxiter, norm, gtol"):
        optimize.minimize(rosenbrock, x0, method="BFGS", options={"disp": True})
    with pytest.raises(ValueError, match=r"minimize: x0 must be a vector, got f32\[2,2\]"):
        optimize.minimize(rosenbrock, pnp.zeros((2, 2)), method="BFGS")
