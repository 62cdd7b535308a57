"""`test_on_eight_devices` runs each file that needs eight devices in a separate process that has them. In that process,
the file is collected, and that test is not."""

import os

from eight_devices import FILES

collect_ignore = ["test_on_eight_devices.py"] if os.environ.get("PYCOMPILER_NUM_CPU_DEVICES") == "8" else FILES
