"""The cases of the benchmarks, by family; `tables` has their sizes and bars, `gpu` those of a GPU."""
