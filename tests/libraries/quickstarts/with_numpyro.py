"""NumPyro: Bayesian regression by NUTS, the posterior's predictions, and a variational fit of the same model."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO, autoguide

numpyro.enable_x64()


def model(x, y=None):
    intercept = numpyro.sample("intercept", dist.Normal(0.0, 2.0))
    slopes = numpyro.sample("slopes", dist.Normal(0.0, 2.0).expand([2]).to_event(1))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Normal(intercept + x @ slopes, sigma), obs=y)


x = jax.random.normal(jax.random.key(1), (40, 2))
y = 0.5 + x @ jnp.array([1.5, -2.0]) + 0.3 * jax.random.normal(jax.random.key(2), (40,))
mcmc = MCMC(NUTS(model), num_warmup=30, num_samples=100, progress_bar=False)
mcmc.run(jax.random.key(0), x, y)
samples = mcmc.get_samples()
mcmc.print_summary()
predicted = Predictive(model, samples)(jax.random.key(3), x)["y"]

guide = autoguide.AutoNormal(model)
svi = SVI(model, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
fitted = svi.run(jax.random.key(4), 300, x, y, progress_bar=False)
np.savez(
    sys.argv[1],
    first=samples["slopes"][:5],
    slopes=samples["slopes"].mean(axis=0),
    deviation=samples["slopes"].std(axis=0),
    sigma=samples["sigma"].mean(),
    predicted=predicted.mean(axis=0),
    losses=fitted.losses[::50],
    location=fitted.params["slopes_auto_loc"],
)
