// RUN: array-opt %s --array-check-input --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'memref.alloc' op can't be in a module that comes from elsewhere: what it does to memory can't be checked; use operations on tensors}}
  %m = memref.alloc() : memref<4xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @main(%n: index) {
  // expected-error @+1 {{'array.arena' op is made by passes of the compiler alone}}
  array.arena %n
  return
}

// -----

func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %init = tensor.empty() : tensor<2x2xf32>
  // expected-error @+1 {{calls "cholesky" with 0 params, which can't be checked in a module that comes from elsewhere: use the operation of the array dialect}}
  %y = array.runtime_call "cholesky" params = [] element_types = [f32, f32]
         ins(%x : tensor<2x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// expected-error @+1 {{'func.func' op argument #0 has the attribute "array.role", which passes of the compiler make alone}}
func.func @main(%x: tensor<4xf32> {array.role = "arena"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op array.symbols is [{min = 3 : i64, multiple_of = 0 : i64}], expected a dictionary of i64 for each symbol}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> attributes {array.symbols = [{min = 3, multiple_of = 0}]} {
  return %x : tensor<?xf32>
}

// -----

// An index of a body is looked at before the operation, but not one of a region of the body.
func.func @main(%x: tensor<3xf32>, %i: tensor<4xi64>, %p: i1) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<4xi64>) outs(%init : tensor<4xf32>) {
  ^bb0(%n: i64, %o: f32):
    %k = arith.index_cast %n : i64 to index
    %v = scf.if %p -> f32 {
      // expected-error @+1 {{'tensor.extract' op index #0 is computed in a region of the body of an operation on tensors, where it can't be checked against 'tensor<3xf32>'}}
      %e = tensor.extract %x[%k] : tensor<3xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
