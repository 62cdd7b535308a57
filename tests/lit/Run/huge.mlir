// UNSUPPORTED: gpu
// Arrays of more bytes than can be counted, and of more than there are. 4611686018427387905 floats are 4 bytes modulo
// 2**64.

// RUN: not array-run %s --entry=result --input=1 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: huge.mlir:[[#@LINE+2]]:{{.*}}: error: 'array.broadcast_in_dim' op result #0 is 'tensor<4611686018427387905xf32>', which takes more bytes than 2**63 - 1
func.func @result(%a: tensor<f32>) -> tensor<4611686018427387905xf32> {
  %b = array.broadcast_in_dim %a broadcast_dimensions = [] : (tensor<f32>) -> tensor<4611686018427387905xf32>
  return %b : tensor<4611686018427387905xf32>
}

// RUN: not array-run %s --entry=square --input=1 2>&1 | FileCheck %s --check-prefix=SQUARE
// SQUARE: error: 'array.broadcast_in_dim' op result #0 is 'tensor<4294967296x4294967296xf32>', which takes more bytes than 2**63 - 1
func.func @square(%a: tensor<f32>) -> tensor<4294967296x4294967296xf32> {
  %b = array.broadcast_in_dim %a broadcast_dimensions = [] : (tensor<f32>) -> tensor<4294967296x4294967296xf32>
  return %b : tensor<4294967296x4294967296xf32>
}

// RUN: not array-run %s --entry=temporary --input=1 2>&1 | FileCheck %s --check-prefix=TEMPORARY
// TEMPORARY: huge.mlir:[[#@LINE+2]]:{{.*}}: error: 'array.broadcast_in_dim' op result #0 is 'tensor<4611686018427387905xf32>', which takes more bytes than 2**63 - 1
func.func @temporary(%a: tensor<f32>) -> tensor<1xf32> {
  %b = array.broadcast_in_dim %a broadcast_dimensions = [] : (tensor<f32>) -> tensor<4611686018427387905xf32>
  %c = array.cumsum %b axis = 0 reverse = false : (tensor<4611686018427387905xf32>) -> tensor<4611686018427387905xf32>
  %d = array.slice %c start_indices = [0] limit_indices = [1] strides = [1] : (tensor<4611686018427387905xf32>) -> tensor<1xf32>
  return %d : tensor<1xf32>
}

// RUN: not array-run %s --entry=argument --input=fill:1 2>&1 | FileCheck %s --check-prefix=FILL
// FILL: argument #0 of @argument has the type tensor<1152921504606846976xf32>, which takes 4611686018427387904 bytes, and this machine has
func.func @argument(%a: tensor<1152921504606846976xf32>) {
  return
}

// RUN: not array-run %s --entry=wraps --input=fill:1 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: error: argument #0 is 'tensor<0x4294967296x4294967296xf32>', which takes more bytes than 2**63 - 1
func.func @wraps(%a: tensor<0x4294967296x4294967296xf32>) {
  return
}

// Rows without elements are not all printed.
// RUN: array-run %s --entry=rows --input=fill:1 | FileCheck %s --check-prefix=ROWS
// ROWS: result 0: tensor<1000000000000x0xf32> = {{\[\[\], \[\], \[\], ..., \[\], \[\], \[\]\]}}
func.func @rows(%a: tensor<1000000000000x0xf32>) -> tensor<1000000000000x0xf32> {
  return %a : tensor<1000000000000x0xf32>
}

// Symbolic sizes: code relies on their bounds, and a dimension of a known size has that size.
// RUN: not array-run %s --entry=facts --sizes=3 --input=fill:1 2>&1 | FileCheck %s --check-prefix=FACTS
// FACTS: --sizes: the size of symbol 0 is 3, but the module is for multiples of 2 from 2 to 8
func.func @facts(%x: tensor<?xf32>) -> tensor<?xf32> attributes {array.symbols = [{max = 8, min = 2, multiple_of = 2}]} {
  return %x : tensor<?xf32>
}

// RUN: not array-run %s --entry=dims --sizes=2,5 --input=fill:1 2>&1 | FileCheck %s --check-prefix=DIMS
// DIMS: --sizes give dimension 1 of tensor<?x4xf32> the size 5
func.func @dims(%x: tensor<?x4xf32> {array.dims = affine_map<()[n, m] -> (n, m)>}) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// RUN: not array-run %s --entry=many --sizes=4294967296,4294967296 --input=fill:1 --input=fill:1 --input=1 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: its temporaries would take more bytes than can be counted
func.func @many(%k: tensor<?x0xf32>, %l: tensor<?x0xf32>, %a: tensor<f32>) -> tensor<f32> {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %x = array.broadcast_in_dim %a broadcast_dimensions = [] output_dims(%n, %m) : (tensor<f32>) -> tensor<?x?xf32>
  %c = array.cumsum %x axis = 1 reverse = false : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = array.reduce_sum %c axes = [0, 1] : (tensor<?x?xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

// A routine's parameter outside of the valid numbers stands for a symbolic size.
// RUN: not array-run %s --entry=number --input=fill:1 --input=fill:1 --input='[0, 1]' 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: a number that the routine takes is -9223372036854775808, which stands for a size
func.func @number(%a: tensor<2x2xf64>, %b: tensor<2x1xf64>, %p: tensor<2xi32>) -> tensor<2x1xf64> {
  %x = array.linear_solve %a, %a, %p, %b {transpose_a = -9223372036854775808}
         : (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xi32>, tensor<2x1xf64>) -> tensor<2x1xf64>
  return %x : tensor<2x1xf64>
}

// More memory than the process may have.
// RUN: not bash -c "ulimit -v 3000000; exec array-run %s --entry=limited --sizes=1000000000 --input=fill:1" 2>&1 | FileCheck %s --check-prefix=LIMITED
// LIMITED: --input=fill:1: out of memory: cannot allocate 4000000000 bytes for float32[1000000000] (argument #0 of @limited
func.func @limited(%a: tensor<?xf32>) -> tensor<f32> {
  %s = array.reduce_sum %a axes = [0] : (tensor<?xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
