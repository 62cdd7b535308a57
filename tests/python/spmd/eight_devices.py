"""The files of this folder whose tests need eight devices. The number is set before a process starts."""

FILES = [
    "test_checks_on_devices.py",
    "test_keys_on_devices.py",
    "test_mesh.py",
    "test_nested_shard_map.py",
    "test_out_sharding.py",
    "test_partitioned.py",
    "test_sharding_rules.py",
    "test_pmap.py",
    "test_references_on_devices.py",
    "test_requested_shardings.py",
    "test_shard_map.py",
    "test_stages_of_meshes.py",
    "test_types_with_shardings.py",
    "test_varying.py",
]
