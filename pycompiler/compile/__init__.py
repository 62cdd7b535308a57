"""From a graph to code: the module, the plan of memory, the passes, the target. Above `cache`, below `spmd`."""
