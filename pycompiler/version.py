"""The version of the package, by semantic versioning; the wheel reads it here. CHANGELOG.md has its date."""

__version__ = "0.1.0"
# The numbers of the version, for comparisons.
__version_info__ = tuple(map(int, __version__.split(".")))  # noqa: RUF048 (a release)
