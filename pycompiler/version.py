"""The version of the package, in semantic versioning: its one place, from which the wheel has it. CHANGELOG.md has its date."""

__version__ = "0.1.0"
