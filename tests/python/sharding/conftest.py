"""These tests need eight devices, of which a process is told before it starts: `test_on_eight_devices` runs each file
in a process of its own, where the file is collected and that test is not."""

import os

_FILES = [
    "test_mesh.py",
    "test_shard_map.py",
    "test_varying.py",
    "test_pmap.py",
    "test_partitioned.py",
    "test_rules.py",
    "test_out_sharding.py",
    "test_stages_of_meshes.py",
    "test_keys_on_devices.py",
    "test_checks_on_devices.py",
]
collect_ignore = ["test_on_eight_devices.py"] if os.environ.get("PYCOMPILER_NUM_CPU_DEVICES") == "8" else _FILES
