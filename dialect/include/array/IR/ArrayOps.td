// All ops of the array dialect, one file a family. TableGen reads this file only.
#ifndef ARRAY_IR_ARRAYOPS_TD
#define ARRAY_IR_ARRAYOPS_TD

include "array/IR/ArrayBase.td"
include "array/IR/Elementwise.td"
include "array/IR/Bits.td"
include "array/IR/Special.td"
include "array/IR/Symbol.td"
include "array/IR/Creation.td"
include "array/IR/Movement.td"
include "array/IR/Indexing.td"
include "array/IR/Reduction.td"
include "array/IR/Contraction.td"
include "array/IR/Sort.td"
include "array/IR/Fft.td"
include "array/IR/LinearAlgebra.td"
include "array/IR/Cumulative.td"
include "array/IR/Window.td"
include "array/IR/Convolution.td"
include "array/IR/Call.td"
include "array/IR/Collective.td"
include "array/IR/ControlFlow.td"
include "array/IR/Effects.td"
include "array/IR/Kernel.td"
include "array/IR/Runtime.td"

#endif // ARRAY_IR_ARRAYOPS_TD
