"""The version of the package, by semantic versioning; the wheel reads it here. CHANGELOG.md has its date."""

__version__ = "0.1.0"
