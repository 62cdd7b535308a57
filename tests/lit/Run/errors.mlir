// Errors of array-run: the given and the expected value, the place, and a solution. The status is 1.

// RUN: split-file %s %t

// Arguments that are missing, too many, or given twice.
// RUN: not array-run %t/main.mlir --input='[[1, 2], [3, 4]]' 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: array-run: error: argument #1 of @main, int32[3], is missing: give it by --input, as a file NAME.npy
// RUN: not array-run %t/main.mlir --input=fill:1 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: --input=fill:1 is for argument #2, but @main has 2 arguments
// RUN: not array-run %t/main.mlir --input=0=fill:1 --input=0=fill:2 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: --input gives argument #0 of @main twice

// Literals.
// RUN: not array-run %t/main.mlir --input='[1, 2]' --input=fill:1 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: --input=[1, 2]: has the shape [2] (argument #0 of @main is float32[2,2])
// RUN: not array-run %t/main.mlir --input='[[1, 2], [3]]' --input=fill:1 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: the rows differ: one has 1 elements, one before it 2
// RUN: not array-run %t/main.mlir --input='[[1, 2], 3]' --input=fill:1 2>&1 | FileCheck %s --check-prefix=DEPTH
// DEPTH: an element stands where a row was expected: '3'
// RUN: not array-run %t/main.mlir --input='[1, [2, 3]]' --input=fill:1 2>&1 | FileCheck %s --check-prefix=ROW
// ROW: a row stands where an element was expected, before '2, 3]]'
// RUN: not array-run %t/main.mlir --input='[[1, 2], [3, 4]' --input=fill:1 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: a ']' is missing at the end
// RUN: not array-run %t/main.mlir --input='[[1, 2], [3, 4]]]' --input=fill:1 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: ']' stands behind the literal
// RUN: %python -c "print('--input=' + '[' * 100000)" > %t/deep
// RUN: not array-run %t/main.mlir @%t/deep --input=fill:1 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: it has more than 64 brackets around an element
// RUN: not array-run %t/main.mlir --input='[[1, 2], [3, x]]' --input=fill:1 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: 'x' is no number (argument #0
// RUN: not array-run %t/main.mlir --input=fill:1e40 --input=fill:1 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: 1e40 is beyond the range of float32
// RUN: not array-run %t/main.mlir --input=fill:1 --input='[1, 2, 2147483648]' 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: 2147483648 is beyond the range of int32
// RUN: not array-run %t/main.mlir --input=fill:1 --input='[1, 2, 2.5]' 2>&1 | FileCheck %s --check-prefix=INTEGER
// INTEGER: '2.5' is no integer
// RUN: not array-run %t/main.mlir --input=ones --input=fill:1 2>&1 | FileCheck %s --check-prefix=WORDS
// WORDS: --input=ones: is neither a file NAME.npy, nor a literal such as {{.*}}, nor fill:VALUE, nor random:uniform
// RUN: not array-run %t/small.mlir --input=fill:inf --input=fill:1 2>&1 | FileCheck %s --check-prefix=FINITE
// FINITE: there is no inf of type float4_e2m1fn
// RUN: not array-run %t/small.mlir --input=fill:7 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SATURATED
// SATURATED: 7 is beyond the range of float4_e2m1fn
// RUN: not array-run %t/small.mlir --input=fill:1 --input=fill:0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: 0 is beyond the range of float8_e8m0fnu

// Random numbers.
// RUN: not array-run %t/main.mlir --input=random:gamma --input=fill:1 2>&1 | FileCheck %s --check-prefix=DISTRIBUTION
// DISTRIBUTION: there is no distribution 'gamma': expected uniform or normal
// RUN: not array-run %t/main.mlir --input=random:normal,low=1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SETTING
// SETTING: 'low' is no setting of a normal distribution: expected seed, mean or std
// RUN: not array-run %t/main.mlir --input=fill:1 --input=random:normal 2>&1 | FileCheck %s --check-prefix=NORMAL
// NORMAL: a normal distribution has no elements of type int32
// RUN: not array-run %t/main.mlir --input=fill:1 --input=random:uniform,low=3,high=3 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: low must be less than high

// The function and the module.
// RUN: not array-run %t/main.mlir --entry=other 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: array-run: error: the module has no function @other; it has @main, @index, @dynamic, @host, @declared: name one by --entry
// RUN: not array-run %t/main.mlir --entry=declared 2>&1 | FileCheck %s --check-prefix=DECLARED
// DECLARED: @declared is only declared: there is nothing to run
// RUN: not array-run %t/main.mlir --entry=index 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: argument #0 of @index has the type index, expected a tensor of a static shape
// RUN: not array-run %t/main.mlir --entry=dynamic 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: @dynamic has 1 sizes that a call decides: give all by --sizes, in the order of their symbols
// RUN: not array-run %t/main.mlir --entry=host --input=fill:1 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: main.mlir:{{.*}}: error: 'array.host_call' op calls a function of the Python program that this module comes from
// RUN: not array-run %t/malformed.mlir 2>&1 | FileCheck %s --check-prefix=MALFORMED
// MALFORMED: malformed.mlir:2:{{.*}}: error:
// RUN: not array-run %t/wrong.mlir 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: wrong.mlir:2:{{.*}}: error: 'array.dot_general' op contracting dimensions differ: lhs dimension 1 is 3, rhs dimension 0 is 2 (C3)
// RUN: not array-run %t/nowhere.mlir 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: array-run: error: cannot open input file '{{.*}}nowhere.mlir': No such file or directory
// RUN: not array-run %t/stuck.mlir 2>&1 | FileCheck %s --check-prefix=STUCK
// STUCK: stuck.mlir:2:{{.*}}: error: 'array.participant' op takes several participants, each on a device of its own: say how many by --participants
// RUN: array-run %t/stuck.mlir --participants=2 | FileCheck %s --check-prefix=TOGETHER
// TOGETHER: participant 1: result 0: tensor<i32> = 1

// The command line.
// RUN: not array-run %t/main.mlir --device=tpu 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: there is no device 'tpu': expected cpu, gpu or gpu:NUMBER
// RUN: env PYCOMPILER_CUDA_DRIVER=/nowhere/libcuda.so not array-run %t/main.mlir --device=gpu 2>&1 | FileCheck %s --check-prefix=NOGPU
// NOGPU: there is no GPU: {{.*}}/nowhere/libcuda.so
// RUN: not array-run %t/main.mlir --repeat=3 2>&1 | FileCheck %s --check-prefix=REPEAT
// REPEAT: array-run: error: --repeat is for --time
// RUN: not array-run %t/main.mlir --input=fill:1 --input=fill:1 --expect=fill:1 --expect=fill:1 --expect=fill:1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RESULTS
// RESULTS: --expect=fill:1 is for result #2, but @main has 2 results
// RUN: not array-run %t/main.mlir --input=fill:1 --input=fill:1 --output=%t/nowhere/x 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: nowhere/x.0.npy: can't be written: No such file or directory
// RUN: not array-run %t/main.mlir --input=fill:1 --input=fill:1 --gpu-libraries=cublaslt 2>&1 | FileCheck %s --check-prefix=LIBRARIES
// LIBRARIES: --gpu-libraries is for --device=gpu

// Only decompositions need LAPACK.
// RUN: env PYCOMPILER_LAPACK=/nowhere/liblapack.so not array-run %t/factor.mlir --input=fill:1 2>&1 | FileCheck %s --check-prefix=LAPACK
// LAPACK: decompositions need LAPACK: looked for /nowhere/liblapack.so {{.*}}; install liblapack3 or libopenblas0, or name the file by PYCOMPILER_LAPACK
// RUN: env PYCOMPILER_LAPACK=/nowhere/liblapack.so array-run %t/factor.mlir --entry=pivots --input='[1]' --expect='[1, 0]'

//--- main.mlir
func.func @main(%x: tensor<2x2xf32>, %n: tensor<3xi32>) -> (tensor<2x2xf32>, tensor<3xi32>) {
  return %x, %n : tensor<2x2xf32>, tensor<3xi32>
}
func.func @index(%i: index) {
  return
}
func.func @dynamic(%x: tensor<?xf32>) {
  return
}
func.func @host(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = array.host_call slot = 0 (%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func private @declared()
//--- small.mlir
func.func @main(%x: tensor<2xf4E2M1FN>, %y: tensor<2xf8E8M0FNU>) {
  return
}
//--- malformed.mlir
func.func @main() {
  array.nothing
}
//--- wrong.mlir
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = array.dot_general %x, %x contracting = [1] x [0] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
//--- stuck.mlir
func.func @main() -> tensor<i32> {
  %p = array.participant : () -> tensor<i32>
  return %p : tensor<i32>
}
//--- factor.mlir
func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %l = array.cholesky %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %l : tensor<2x2xf32>
}
func.func @pivots(%s: tensor<1xi32>) -> tensor<2xi32> {
  %p = array.lu_pivots_to_permutation %s {permutation_size = 2} : (tensor<1xi32>) -> tensor<2xi32>
  return %p : tensor<2xi32>
}
