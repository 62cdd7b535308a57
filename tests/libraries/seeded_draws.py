"""A plugin of pytest: each test draws the same numbers from the generators of NumPy and Python in each run.

For suites whose own conftest.py does this, and is not in the source distribution.
"""

import random

import numpy as np
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    random.seed(0)
    np.random.seed(0)
