"""Statistics by SciPy's names: a module for each distribution, an estimate of densities, and ranks.

The numbers of a distribution with loc and scale are x * scale + loc, for the numbers x of the standard distribution.
Parameters that SciPy refuses, such as a scale that is not positive, give nan. Outside of the support, the density is 0.
"""

from typing import TYPE_CHECKING

from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.stats.density import gaussian_kde
from pycompiler.scipy.stats.ranks import mode, rankdata, sem

if TYPE_CHECKING:
    from pycompiler.scipy.stats import (
        bernoulli,
        beta,
        betabinom,
        binom,
        cauchy,
        chi2,
        dirichlet,
        expon,
        gamma,
        gennorm,
        geom,
        gumbel_l,
        gumbel_r,
        laplace,
        logistic,
        multinomial,
        multivariate_normal,
        nbinom,
        norm,
        pareto,
        poisson,
        t,
        truncnorm,
        uniform,
        vonmises,
        wrapcauchy,
    )

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "gaussian_kde",
    "gennorm",
    "geom",
    "gumbel_l",
    "gumbel_r",
    "laplace",
    "logistic",
    "mode",
    "multinomial",
    "multivariate_normal",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "rankdata",
    "sem",
    "t",
    "truncnorm",
    "uniform",
    "vonmises",
    "wrapcauchy",
]

_FUNCTIONS = ("gaussian_kde", "mode", "rankdata", "sem")

protect(globals(), _FUNCTIONS, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__, later=set(__all__) - set(_FUNCTIONS))
