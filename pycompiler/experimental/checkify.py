"""Checks whose failure is a value: `checkify` transforms a function into one that returns its first failure."""

from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.primitives.control.checks import Error, init_error
from pycompiler.primitives.control.failures import JaxRuntimeError
from pycompiler.transforms.checkify import (
    ErrorCategory,
    all_checks,
    automatic_checks,
    check,
    check_error,
    checkify,
    debug_check,
    div_checks,
    float_checks,
    index_checks,
    nan_checks,
    user_checks,
)

__all__ = [
    "Error",
    "ErrorCategory",
    "JaxRuntimeError",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "init_error",
    "nan_checks",
    "user_checks",
]

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
