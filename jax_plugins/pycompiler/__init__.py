"""Makes the platform `pycompiler` known to JAX: `JAX_PLATFORMS=pycompiler python train.py` (pycompiler.pjrt).

JAX imports each package in the namespace `jax_plugins` at the first use of a backend, and calls its `initialize`, for
whichever platform. So this module imports nothing of pycompiler: that is loaded when JAX makes the client.
"""

from __future__ import annotations

import importlib
from typing import Any

PLATFORM = "pycompiler"
# The versions of JAX that the tests run. pycompiler.pjrt uses internal names of JAX, which change.
VERSIONS = ("0.10",)
# What jax.ffi registered: (name, handlers, platform, version of the interface) of targets, and (name, registration,
# platform) of types. pycompiler.pjrt.foreign reads it.
TARGETS: list[tuple[str, Any, str, int]] = []
TYPES: list[tuple[str, Any, str]] = []
# Below XLA's CPU: without JAX_PLATFORMS, arrays are on that.
_PRIORITY = -100


def initialize() -> None:
    """Registers the platform, unless JAX_PLATFORMS leaves it out. JAX calls this."""
    jax: Any = importlib.import_module("jax")
    asked = jax.config.jax_platforms
    if asked and PLATFORM not in asked.split(","):
        return
    problem = _problem(jax.__version__)

    def client() -> Any:
        if problem:
            raise RuntimeError(problem)
        return importlib.import_module("pycompiler.pjrt").client()

    _see_registrations()
    xla_bridge: Any = importlib.import_module("jax._src.xla_bridge")
    if asked and "cpu" not in asked.split(","):
        # XLA's CPU is left out, and our devices are CPUs: JAX's callbacks, among others, ask for one by this name.
        xla_bridge._alias_to_platforms.setdefault("cpu", []).append(PLATFORM)
    # A platform that JAX_PLATFORMS names fails loudly in any case.
    xla_bridge.register_backend_factory(PLATFORM, client, priority=_PRIORITY, fail_quietly=True)


def _see_registrations() -> None:
    """Keep what is registered for XLA's FFI, before now and from now on. JAX calls `initialize` before it makes any
    client, so XLA has taken nothing yet."""
    xla_client: Any = importlib.import_module("jax._src.lib").xla_client
    for platform, targets in xla_client._custom_callback.items():
        TARGETS.extend([(name, fn, platform, version) for name, fn, version, _ in targets])
    for platform, types in xla_client._custom_type_id.items():
        TYPES.extend([(name, registration, platform) for name, registration in types])
    register_target, register_type = xla_client.register_custom_call_target, xla_client.register_custom_type

    def register_custom_call_target(
        name: str, fn: Any, platform: str = "cpu", api_version: int = 0, *args: Any, **kwargs: Any
    ) -> None:
        register_target(name, fn, platform, api_version, *args, **kwargs)
        TARGETS.append((name, fn, platform, api_version))

    def register_custom_type(type_name: str, type_id: Any, platform: str = "cpu") -> None:
        register_type(type_name, type_id, platform)
        TYPES.append((type_name, type_id, platform))

    xla_client.register_custom_call_target = register_custom_call_target
    xla_client.register_custom_type = register_custom_type


def _problem(version: str) -> str | None:
    """Why this version of JAX is not taken; None if it is."""
    if any(version.startswith(f"{taken}.") for taken in VERSIONS):
        return None
    wanted = " or ".join(f"{taken}.x" for taken in VERSIONS)
    return (
        f"pycompiler's backend for JAX is made for JAX {wanted}, and this is JAX {version}.\nWhat to do: pip install "
        "'pycompiler[jax]', or run the program without JAX: python -m pycompiler.jax program.py"
    )
