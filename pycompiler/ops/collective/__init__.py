"""Collectives over named axes: equations of graphs, which the trace of the axis replaces."""
