"""Special functions by SciPy's names.

Most functions are compiled to vectors and fused with other operations (`primitives.formulas`). Results of float32 are
computed in float64, unless float32 suffices for errors of about 2 ulp. The runtime computes gammainc, exp1 and expi of
float64, bessel_jn of orders from 48 on, expn, hyp1f1, hyp2f1 and sph_harm_y, one element at a time on one thread.
Results for 0, the infinities and nan are those of SciPy.
"""

from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.bessel import bessel_jn, hyp1f1, hyp2f1, i0, i0e, i1, i1e
from pycompiler.scipy.special.entropy import boxcox, boxcox1p, entr, expit, kl_div, logit, rel_entr, xlog1py, xlogy
from pycompiler.scipy.special.error import dawsn, erf, erfc, erfcx, erfinv, log_ndtr, ndtr, ndtri
from pycompiler.scipy.special.exponentials import log_softmax, logsumexp, softmax
from pycompiler.scipy.special.gamma import (
    bernoulli,
    beta,
    betainc,
    betaln,
    comb,
    digamma,
    factorial,
    gamma,
    gammainc,
    gammaincc,
    gammaln,
    gammasgn,
    loggamma,
    multigammaln,
    poch,
    polygamma,
    zeta,
)
from pycompiler.scipy.special.integrals import exp1, expi, expn, fresnel, owens_t, sici, spence
from pycompiler.scipy.special.plane import sph_harm_y, wofz

__all__ = [
    "bernoulli",
    "bessel_jn",
    "beta",
    "betainc",
    "betaln",
    "boxcox",
    "boxcox1p",
    "comb",
    "dawsn",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "expn",
    "factorial",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "hyp1f1",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "owens_t",
    "poch",
    "polygamma",
    "rel_entr",
    "sici",
    "softmax",
    "spence",
    "sph_harm_y",
    "wofz",
    "xlog1py",
    "xlogy",
    "zeta",
]

protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
