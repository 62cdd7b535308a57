// RUN: array-opt %s --array-check-input --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'memref.alloc' op can't be in a module from a file: its memory accesses can't be checked; use operations on tensors}}
  %m = memref.alloc() : memref<4xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @main(%n: index) {
  // expected-error @+1 {{'array.arena' op is made only by passes of the compiler, and}}
  array.arena %n
  return
}

// -----

func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %init = tensor.empty() : tensor<2x2xf32>
  // expected-error @+1 {{calls "cholesky" with 0 params, which can't be checked in a module from a file: use the operation of the array dialect}}
  %y = array.runtime_call "cholesky" params = [] element_types = [f32, f32]
         ins(%x : tensor<2x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// expected-error @+1 {{'func.func' op argument #0 has the attribute "array.role", which only passes of the compiler make}}
func.func @main(%x: tensor<4xf32> {array.role = "arena"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op array.symbols is [{min = 3 : i64, multiple_of = 0 : i64}], expected a dictionary of i64 for each symbol}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> attributes {array.symbols = [{min = 3, multiple_of = 0}]} {
  return %x : tensor<?xf32>
}

// -----

// A symbol that follows from others has a definition alone, by earlier ones.
// expected-error @+1 {{then of those that follow from others: a maximum or a quotient, a map from symbols before it to two sizes, of which a divisor is at least 1}}
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (n)>}) -> tensor<?xf32>
    attributes {array.symbols = [{}, {maximum = affine_map<()[n] -> (n - 3, 0)>, max = 5}]} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{'func.func' op array.symbols is}}
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (n)>}) -> tensor<?xf32>
    attributes {array.symbols = [{}, {maximum = affine_map<()[n, m] -> (m - 3, 0)>}]} {
  return %x : tensor<?xf32>
}

// -----

// A divisor that may be 0.
// expected-error @+1 {{'func.func' op array.symbols is}}
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (n)>}) -> tensor<?xf32>
    attributes {array.symbols = [{}, {quotient = affine_map<()[n] -> (7, n)>}]} {
  return %x : tensor<?xf32>
}

// -----

// One that the caller gives, behind it.
// expected-error @+1 {{'func.func' op array.symbols is}}
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n, m, k] -> (k)>}) -> tensor<?xf32>
    attributes {array.symbols = [{}, {maximum = affine_map<()[n] -> (n - 3, 0)>}, {}]} {
  return %x : tensor<?xf32>
}

// -----

// Only a reduction itself has its partial results.
func.func @main(%x: tensor<4xi64>, %n: tensor<3xf32>) -> tensor<i64> {
  %init = array.constant dense<0> : tensor<i64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%n : tensor<3xf32>) outs(%init : tensor<i64>) {
  ^bb0(%m: f32, %o: i64):
    %k = arith.index_cast %o : i64 to index
    // expected-error @+1 {{'tensor.extract' op can't be checked in the body of an operation on tensors: it depends on partial results of the operation; keep it within bounds by arith.minsi and arith.maxsi with constants, or use array.gather}}
    %v = tensor.extract %x[%k] : tensor<4xi64>
    linalg.yield %v : i64
  } -> tensor<i64>
  return %y : tensor<i64>
}

// -----

// The condition of a branch that reads is of the same kind.
func.func @main(%x: tensor<4xi64>, %n: tensor<3xi64>) -> tensor<i64> {
  %init = array.constant dense<0> : tensor<i64>
  %z = arith.constant 0 : i64
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%n : tensor<3xi64>) outs(%init : tensor<i64>) {
  ^bb0(%m: i64, %o: i64):
    %k = arith.index_cast %m : i64 to index
    %p = arith.cmpi eq, %o, %z : i64
    %v = scf.if %p -> i64 {
      // expected-error @+1 {{it depends on partial results of the operation}}
      %e = tensor.extract %x[%k] : tensor<4xi64>
      scf.yield %e : i64
    } else {
      scf.yield %o : i64
    }
    linalg.yield %v : i64
  } -> tensor<i64>
  return %y : tensor<i64>
}

// -----

func.func @main(%x: tensor<3xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<4xi64>) outs(%init : tensor<4xf32>) {
  ^bb0(%n: i64, %o: f32):
    %k = arith.index_cast %n : i64 to index
    // expected-error @+1 {{'tensor.insert' op can't be checked in the body of an operation on tensors, which holds numbers, branches, loops and tensor.extract: let another operation on tensors compute it}}
    %t = tensor.insert %o into %x[%k] : tensor<3xf32>
    linalg.yield %o : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op array.requires is [{condition = "less", message = "m", sizes = affine_map<(d0) -> (d0, 2)>}], expected dictionaries of `condition` (equal, at_least), `sizes`, a map from the `?` of the arguments, and `message`}}
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>}) attributes {array.requires = [{condition = "less", sizes = affine_map<(n) -> (n, 2)>, message = "m"}]} {
  return
}

// -----

// A map of two sizes, for one `?`.
// expected-error @+1 {{'func.func' op array.requires is}}
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>}) attributes {array.requires = [{condition = "equal", sizes = affine_map<(n, m) -> (n, m)>, message = "m"}]} {
  return
}
