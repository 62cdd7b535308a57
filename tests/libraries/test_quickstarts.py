"""The quickstarts of libraries and larger programs, unmodified, run by `python -m pycompiler.jax` beside values of JAX.

Values agree within the tolerances of TOLERANCES, of their dtype; integers and booleans are equal. Training multiplies
rounding: after 25 steps, 1e-6 in the first loss is 1e-4 in the last. `make library-values` makes the values anew.
"""

import importlib.metadata
import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from packaging.version import Version
from quickstart_values import NAMES, PROGRAMS, load, module_of, program, run

# (relative, absolute)
TOLERANCES = {"float32": (2e-3, 2e-4), "float64": (1e-6, 1e-8)}


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_jax(name: str):
    module = module_of(name)
    if module is not None and not is_installed(module):
        pytest.skip(f"{module} is not installed: it is in the extra `libraries` (make test-libraries installs it)")
    expected = load(name)
    ours = run(name, [sys.executable, "-m", "pycompiler.jax"])
    assert ours.keys() == expected.keys()
    for key, value in expected.items():
        assert (ours[key].dtype, ours[key].shape) == (value.dtype, value.shape), key
        relative, absolute = TOLERANCES.get(str(value.dtype), (0, 0))
        np.testing.assert_allclose(ours[key], value, rtol=relative, atol=absolute, err_msg=f"{name}: {key}")


def test_each_is_a_plain_jax_program_with_values():
    """None names pycompiler, and each has numbers of real JAX that are not all alike."""
    assert len(NAMES) >= 26
    assert len(PROGRAMS) >= 11
    for name in NAMES:
        assert not re.search(r"pycompiler", program(name).read_text()), name
        values = load(name)
        assert any(value.dtype.kind == "f" and np.unique(value).size > 1 for value in values.values()), name


def test_the_extra_pins_what_is_installed():
    """The versions that the values and the suites are of."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    extra = re.search(r"^libraries = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    assert extra is not None
    pins = dict(re.findall(r'"([\w.-]+)==([\w.]+)"', extra.group(1)))
    assert len(pins) >= 14
    for name, version in pins.items():
        try:
            there = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        assert Version(there) == Version(version), f"{name}: {there} is installed, pyproject.toml says {version}"
