"""The platforms of this process and their devices.

>>> from pycompiler.extend import backend
>>> backend.get_backend("cpu").platform
'cpu'
"""

import contextlib

from pycompiler._runtime import Device
from pycompiler._runtime import default_device as get_default_device
from pycompiler.core.mesh.processes import processes
from pycompiler.lax.names import nearest_name
from pycompiler.spmd.placement import default_backend, devices
from pycompiler.version import __version__

__all__ = ["Backend", "backends", "get_backend", "get_default_device"]


class Backend:
    """The devices of a platform, "cpu" or "gpu"."""

    def __init__(self, platform: str) -> None:
        self._devices = devices(platform)
        self.platform = self._devices[0].platform

    @property
    def platform_version(self) -> str:
        """The version of the package, which is the compiler of all platforms."""
        return f"pycompiler {__version__}"

    def devices(self) -> list[Device]:
        """The devices."""
        return list(self._devices)

    def local_devices(self) -> list[Device]:
        """The devices of this process."""
        return [device for device in self._devices if processes.is_here(device)]

    def device_count(self) -> int:
        """The number of devices."""
        return len(self._devices)

    def local_device_count(self) -> int:
        """The number of devices of this process."""
        return len(self.local_devices())

    def process_index(self) -> int:
        """The number of this process."""
        return processes.index

    def __repr__(self) -> str:
        return f"<Backend {self.platform}>"


def get_backend(platform: str | None = None) -> Backend:
    """The devices of a platform, by default the default one. Raises RuntimeError for a platform that is not here."""
    return Backend(default_backend() if platform is None else platform)


def backends() -> dict[str, Backend]:
    """The platforms of this process, by name."""
    found: dict[str, Backend] = {}
    for platform in ("cpu", "gpu"):
        with contextlib.suppress(RuntimeError):
            found[platform] = Backend(platform)
    return found


__getattr__ = nearest_name(__name__, __all__)
