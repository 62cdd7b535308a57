// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes. Indices in branches and loops of bodies, and in the bodies of
// tensor.generate, tensor.pad and linalg.map: each is checked before the operation, and the run reports the wrong
// one.

// DEFINE: %{x} = --input='[1, 2, 3]'
// DEFINE: %{at} = --input='[2, 7, 0, -1]'

// A branch that is not taken reads nothing.
// RUN: array-run %s --entry=chosen %{x} %{at} --input='[1, 0, 1, 0]' --expect='[3, 0, 1, 0]'
// RUN: not array-run %s --entry=chosen %{x} %{at} --input='[1, 0, 1, 1]' 2>&1 | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: tensor.extract: the index in dimension 0 of operand #0 is -1, expected 0 <= index < 3, its size
func.func @chosen(%x: tensor<3xf32>, %i: tensor<4xi64>, %p: tensor<4xi32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %init = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i, %p : tensor<4xi64>, tensor<4xi32>) outs(%init : tensor<4xf32>) {
  ^bb0(%n: i64, %q: i32, %o: f32):
    %k = arith.index_cast %n : i64 to index
    %is = arith.cmpi ne, %q, %c0 : i32
    %v = scf.if %is -> f32 {
      %e = tensor.extract %x[%k] : tensor<3xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// RUN: array-run %s --entry=summed --sizes=3,2 %{x} --input='[3, 1]' --expect='[6, 1]'
// RUN: not array-run %s --entry=summed --sizes=3,2 %{x} --input='[3, 4]' 2>&1 | FileCheck %s --check-prefix=SUMMED
// SUMMED: tensor.extract: the index in dimension 0 of operand #0 is 3, expected 0 <= index < 3, its size
func.func @summed(%x: tensor<?xf32>, %n: tensor<?xi64>) -> tensor<?xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %n, %c0 : tensor<?xi64>
  %init = tensor.empty(%m) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%n : tensor<?xi64>) outs(%init : tensor<?xf32>) {
  ^bb0(%k: i64, %o: f32):
    %end = arith.index_cast %k : i64 to index
    %s = scf.for %j = %c0 to %end step %c1 iter_args(%a = %z) -> (f32) {
      %e = tensor.extract %x[%j] : tensor<?xf32>
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// RUN: array-run %s --entry=stepped --input='[1, 4]' --expect='[9, 3]'
// RUN: not array-run %s --entry=stepped --input='[1, 0]' 2>&1 | FileCheck %s --check-prefix=STEPPED
// STEPPED: scf.for: the step is 0, expected at least 1
func.func @stepped(%n: tensor<2xi64>) -> tensor<2xi64> {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1 : i64
  %z = arith.constant 0 : i64
  %init = tensor.empty() : tensor<2xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%n : tensor<2xi64>) outs(%init : tensor<2xi64>) {
  ^bb0(%k: i64, %o: i64):
    %by = arith.index_cast %k : i64 to index
    %s = scf.for %j = %c0 to %c9 step %by iter_args(%a = %z) -> (i64) {
      %b = arith.addi %a, %one : i64
      scf.yield %b : i64
    }
    linalg.yield %s : i64
  } -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// RUN: array-run %s --entry=mapped %{x} --input='[1, 2]' --expect='[2, 3]'
// RUN: not array-run %s --entry=mapped %{x} --input='[1, 3]' 2>&1 | FileCheck %s --check-prefix=MAPPED
// MAPPED: tensor.extract: the index in dimension 0 of operand #0 is 3, expected 0 <= index < 3, its size
func.func @mapped(%x: tensor<3xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %init = tensor.empty() : tensor<2xf32>
  %y = linalg.map ins(%i : tensor<2xi64>) outs(%init : tensor<2xf32>)
    (%n: i64, %o: f32) {
      %k = arith.index_cast %n : i64 to index
      %e = tensor.extract %x[%k] : tensor<3xf32>
      linalg.yield %e : f32
    }
  return %y : tensor<2xf32>
}

// RUN: array-run %s --entry=generated --sizes=3,2 %{x} --expect='[1, 2]'
// RUN: not array-run %s --entry=generated --sizes=3,4 %{x} 2>&1 | FileCheck %s --check-prefix=GENERATED
// GENERATED: tensor.extract: the index in dimension 0 of operand #0 is 3, expected 0 <= index < 3, its size
func.func @generated(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = array.symbol 1 : index
  %y = tensor.generate %n {
  ^bb0(%k: index):
    %e = tensor.extract %x[%k] : tensor<?xf32>
    tensor.yield %e : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// RUN: array-run %s --entry=below --sizes=1,2 --expect=10
// RUN: not array-run %s --entry=below --sizes=4,2 2>&1 | FileCheck %s --check-prefix=BELOW
// BELOW: tensor.generate: makes an array of the shape [-1], expected sizes of at least 0
func.func @below() -> tensor<f32> {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %less = arith.subi %m, %n : index
  %c1 = arith.constant 1 : index
  %k = arith.addi %less, %c1 : index
  %y = tensor.generate %k {
  ^bb0(%i: index):
    %e = arith.constant 5.0 : f32
    tensor.yield %e : f32
  } : tensor<?xf32>
  %s = array.reduce_sum %y axes = [0] : (tensor<?xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

// RUN: array-run %s --entry=padded --sizes=3,1 %{x} --expect='[2, 1, 2, 3, 2, 2]'
// RUN: array-run %s --entry=padded --sizes=0,0 --input='[]' --expect='[2, 2]'
func.func @padded(%x: tensor<?xf32>) -> tensor<?xf32> {
  %m = array.symbol 1 : index
  %y = tensor.pad %x low[%m] high[2] {
  ^bb0(%k: index):
    %e = arith.constant 2.0 : f32
    tensor.yield %e : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

// RUN: array-run %s --entry=placed %{x} --input=1 --input=2 --expect='[0, 1, 2, 3, 4, 5]'
// RUN: not array-run %s --entry=placed %{x} --input=-1000000000 --input=1000000003 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: not array-run %s --entry=placed %{x} --input=4 --input=-1 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not array-run %s --entry=placed %{x} --input=1 --input=3 2>&1 | FileCheck %s --check-prefix=OTHER
// BEFORE: tensor.pad: takes 3 elements of dimension 0 of operand #1 from -1000000000 on with the stride 1, which do not lie within its size, 6
// BEHIND: tensor.pad: takes 3 elements of dimension 0 of operand #1 from 4 on with the stride 1, which do not lie within its size, 6
// OTHER: tensor.pad: dimension 0 of the result has the size 7, expected 6
func.func @placed(%x: tensor<3xf32>, %l: tensor<i64>, %h: tensor<i64>) -> tensor<6xf32> {
  %a = tensor.extract %l[] : tensor<i64>
  %low = arith.index_cast %a : i64 to index
  %b = tensor.extract %h[] : tensor<i64>
  %high = arith.index_cast %b : i64 to index
  %y = tensor.pad %x low[%low] high[%high] {
  ^bb0(%k: index):
    %n = arith.index_cast %k : index to i64
    %e = arith.sitofp %n : i64 to f32
    tensor.yield %e : f32
  } : tensor<3xf32> to tensor<6xf32>
  return %y : tensor<6xf32>
}

// Sizes of results follow from known sizes: there are none to give.
// RUN: array-run %s --entry=turned --input='[[1, 2, 3]]' --expect='[[1], [2], [3]]'
func.func @turned(%x: tensor<1x3xf32>) -> tensor<?x1xf32> {
  %y = array.transpose %x permutation = [1, 0] : (tensor<1x3xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
