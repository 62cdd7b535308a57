"""The version of the package, in semantic versioning; CMake and the wheel read it from here."""

__version__ = "0.1.0"
