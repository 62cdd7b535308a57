"""Programs of several processes: `mpirun -n 4 python train.py` computes on the devices of all of them.

Call `initialize()` before devices are used. It finds the launcher of the process (`launchers`), loads the user's MPI
(`mpi`), and connects the processes (`start`). docs/distributed.md has the launchers, the rules and the errors.
"""

from pycompiler.core.tracing.boundary import protect
from pycompiler.distributed.start import initialize, is_initialized, shutdown
from pycompiler.lax.names import nearest_name

__all__ = ["initialize", "is_initialized", "shutdown"]

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
