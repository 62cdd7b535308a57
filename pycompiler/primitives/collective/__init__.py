"""Collectives over named axes: equations of graphs. The trace of the axis replaces them."""
