// UNSUPPORTED: gpu
// Indices and steps that depend on data, in modules of tensor, arith and scf: errors of the run.

// RUN: array-run %s --entry=extract --input='[1, 2, 3]' --input=2 --expect=3
// RUN: not array-run %s --entry=extract --input='[1, 2, 3]' --input=1000000000 2>&1 | FileCheck %s --check-prefix=EXTRACT
// RUN: not array-run %s --entry=extract --input='[1, 2, 3]' --input=-1 2>&1 | FileCheck %s --check-prefix=BELOW
// EXTRACT: array-run: error: {{.*}}tensor.extract: the index in dimension 0 of operand #0 is 1000000000, expected 0 <= index < 3, its size
// BELOW: tensor.extract: the index in dimension 0 of operand #0 is -1
func.func @extract(%x: tensor<3xf32>, %i: tensor<i64>) -> tensor<f32> {
  %n = tensor.extract %i[] : tensor<i64>
  %k = arith.index_cast %n : i64 to index
  %e = tensor.extract %x[%k] : tensor<3xf32>
  %y = tensor.from_elements %e : tensor<f32>
  return %y : tensor<f32>
}

// RUN: array-run %s --entry=insert --input='[1, 2, 3]' --input=2 --expect='[1, 2, 7]'
// RUN: not array-run %s --entry=insert --input='[1, 2, 3]' --input=3 2>&1 | FileCheck %s --check-prefix=INSERT
// INSERT: tensor.insert: the index in dimension 0 of operand #1 is 3, expected 0 <= index < 3, its size
func.func @insert(%x: tensor<3xf32>, %i: tensor<i64>) -> tensor<3xf32> {
  %seven = arith.constant 7.0 : f32
  %n = tensor.extract %i[] : tensor<i64>
  %k = arith.index_cast %n : i64 to index
  %y = tensor.insert %seven into %x[%k] : tensor<3xf32>
  return %y : tensor<3xf32>
}

// RUN: array-run %s --entry=slice --input='[1, 2, 3]' --input=1 --expect='[2, 3]'
// RUN: not array-run %s --entry=slice --input='[1, 2, 3]' --input=2 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: tensor.extract_slice: takes 2 elements of dimension 0 of operand #0 from 2 on with the stride 1
func.func @slice(%x: tensor<3xf32>, %i: tensor<i64>) -> tensor<2xf32> {
  %n = tensor.extract %i[] : tensor<i64>
  %k = arith.index_cast %n : i64 to index
  %y = tensor.extract_slice %x[%k] [2] [1] : tensor<3xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}

// RUN: not array-run %s --entry=step --input=0 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: scf.for: the step is 0, expected at least 1
func.func @step(%i: tensor<i64>) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %ten = arith.constant 10 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.extract %i[] : tensor<i64>
  %k = arith.index_cast %n : i64 to index
  %s = scf.for %j = %zero to %ten step %k iter_args(%a = %one) -> (f32) {
    %b = arith.addf %a, %one : f32
    scf.yield %b : f32
  }
  %y = tensor.from_elements %s : tensor<f32>
  return %y : tensor<f32>
}

// Division by 0 is defined.
// RUN: array-run %s --entry=divide --input=7 --input=0 --expect=-1 --expect=7
// RUN: array-run %s --entry=divide --input=-2147483648 --input=-1 --expect=-2147483648 --expect=0
// RUN: array-run %s --entry=divide --input=7 --input=-2 --expect=-3 --expect=1
func.func @divide(%x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %a = tensor.extract %x[] : tensor<i32>
  %b = tensor.extract %y[] : tensor<i32>
  %q = arith.divsi %a, %b : i32
  %r = arith.remsi %a, %b : i32
  %p = tensor.from_elements %q : tensor<i32>
  %s = tensor.from_elements %r : tensor<i32>
  return %p, %s : tensor<i32>, tensor<i32>
}

// In a body an index that can't leave its tensor is taken.
// RUN: array-run %s --entry=body --input='[1, 2, 3]' --input='[-5, 1, 9, 2]' --expect='[1, 2, 3, 3]'
func.func @body(%x: tensor<3xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %init = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<4xi64>) outs(%init : tensor<4xf32>) {
  ^bb0(%n: i64, %o: f32):
    %k = arith.index_cast %n : i64 to index
    %low = arith.maxsi %k, %zero : index
    %at = arith.minsi %low, %two : index
    %e = tensor.extract %x[%at] : tensor<3xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Another index is checked before the operation: the run reports the wrong one.
// RUN: array-run %s --entry=loose --input='[1, 2, 3]' --input='[2, 1, 0, 2]' --expect='[3, 2, 1, 3]'
// RUN: not array-run %s --entry=loose --input='[1, 2, 3]' --input='[2, 1, 3, 2]' 2>&1 | FileCheck %s --check-prefix=LOOSE
// RUN: not array-run %s --entry=loose --input='[1, 2, 3]' --input='[2, -5, 0, 2]' 2>&1 | FileCheck %s --check-prefix=UNDER
// RUN: not array-run %s --entry=loose --input='[1, 2, 3]' --input='[2, 0, 0, 9000000000000000000]' 2>&1 | FileCheck %s --check-prefix=OVER
// LOOSE: tensor.extract: the index in dimension 0 of operand #0 is 3, expected 0 <= index < 3, its size
// UNDER: tensor.extract: the index in dimension 0 of operand #0 is -5, expected
// OVER: tensor.extract: the index in dimension 0 of operand #0 is 9000000000000000000, expected
func.func @loose(%x: tensor<3xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<4xi64>) outs(%init : tensor<4xf32>) {
  ^bb0(%n: i64, %o: f32):
    %k = arith.index_cast %n : i64 to index
    %e = tensor.extract %x[%k] : tensor<3xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Rows of a table by indices of a table, one of which indexes the other: each is checked.
// RUN: array-run %s --entry=nested --sizes=3,2 --input='[1, 2, 3]' --input='[2, 1]' --input='[[1, 0], [0, 1]]' --expect='[[2, 3], [3, 2]]'
// RUN: not array-run %s --entry=nested --sizes=3,2 --input='[1, 2, 3]' --input='[2, 7]' --input='[[1, 0], [0, 1]]' 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: not array-run %s --entry=nested --sizes=3,2 --input='[1, 2, 3]' --input='[2, 1]' --input='[[1, 0], [0, 2]]' 2>&1 | FileCheck %s --check-prefix=OUTER
// INNER: tensor.extract: the index in dimension 0 of operand #0 is 7, expected 0 <= index < 3, its size
// OUTER: tensor.extract: the index in dimension 0 of operand #0 is 2, expected 0 <= index < 2, its size
func.func @nested(%x: tensor<?xf32>, %j: tensor<?xi64>, %i: tensor<2x2xi64>) -> tensor<2x2xf32> {
  %init = tensor.empty() : tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<2x2xi64>) outs(%init : tensor<2x2xf32>) {
  ^bb0(%n: i64, %o: f32):
    %k = arith.index_cast %n : i64 to index
    %m = tensor.extract %j[%k] : tensor<?xi64>
    %l = arith.index_cast %m : i64 to index
    %e = tensor.extract %x[%l] : tensor<?xf32>
    linalg.yield %e : f32
  } -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
