// RUN: array-opt %s --array-shuffle-parts | FileCheck %s

// Both halves of each lane are read by shuffles of the same bits, and put together by one.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME:      %[[X:.*]]: vector<4xi64>
// CHECK-NEXT:    %[[BITS:.*]] = vector.bitcast %[[X]] : vector<4xi64> to vector<8xi32>
// CHECK:         %[[LOWER:.*]] = vector.shuffle %[[BITS]], %[[BITS]] [0, 2, 4, 6]
// CHECK:         %[[UPPER:.*]] = vector.shuffle %[[BITS]], %[[BITS]] [1, 3, 5, 7]
// CHECK:         %[[SUM:.*]] = arith.addi %[[LOWER]], %[[UPPER]]
// CHECK:         %[[BOTH:.*]] = vector.shuffle %[[SUM]], %[[UPPER]] [0, 4, 1, 5, 2, 6, 3, 7]
// CHECK:         %[[RESULT:.*]] = vector.bitcast %[[BOTH]] : vector<8xi32> to vector<4xi64>
// CHECK:         return %[[RESULT]]
func.func @parts(%x: vector<4xi64>) -> vector<4xi64> {
  %half = arith.constant dense<32> : vector<4xi64>
  %lower = arith.trunci %x : vector<4xi64> to vector<4xi32>
  %moved = arith.shrui %x, %half : vector<4xi64>
  %upper = arith.trunci %moved : vector<4xi64> to vector<4xi32>
  %sum = arith.addi %lower, %upper : vector<4xi32>
  %low = arith.extui %sum : vector<4xi32> to vector<4xi64>
  %high = arith.extui %upper : vector<4xi32> to vector<4xi64>
  %shifted = arith.shli %high, %half : vector<4xi64>
  %both = arith.ori %shifted, %low : vector<4xi64>
  return %both : vector<4xi64>
}

// Of 128-bit lanes also one half: LLVM would read the lanes one by one. An upper part alone stands beside zeros.
// CHECK-LABEL: func.func @wide(
// CHECK:         vector.shuffle %{{.*}} [0, 2] : vector<4xi64>, vector<4xi64>
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0> : vector<2xi64>
// CHECK:         vector.shuffle %[[ZERO]], %{{.*}} [0, 2, 1, 3] : vector<2xi64>, vector<2xi64>
func.func @wide(%x: vector<2xi128>) -> vector<2xi128> {
  %half = arith.constant dense<64> : vector<2xi128>
  %lower = arith.trunci %x : vector<2xi128> to vector<2xi64>
  %wide = arith.extui %lower : vector<2xi64> to vector<2xi128>
  %shifted = arith.shli %wide, %half : vector<2xi128>
  return %shifted : vector<2xi128>
}

// Neither scalars, nor one half of 64-bit lanes, nor other shifts are pairs of parts.
// CHECK-LABEL: func.func @integers(
// CHECK-NOT:     vector.
func.func @integers(%x: vector<4xi64>, %y: i64) -> (vector<4xi32>, i32, vector<4xi64>) {
  %places = arith.constant dense<31> : vector<4xi64>
  %half = arith.constant 32 : i64
  %lower = arith.trunci %x : vector<4xi64> to vector<4xi32>
  %moved = arith.shrui %y, %half : i64
  %upper = arith.trunci %moved : i64 to i32
  %wide = arith.extui %lower : vector<4xi32> to vector<4xi64>
  %shifted = arith.shli %wide, %places : vector<4xi64>
  return %lower, %upper, %shifted : vector<4xi32>, i32, vector<4xi64>
}

// The lanes that one operation joins are read by others: as if the parts had never been joined.
// CHECK-LABEL: func.func @joined_and_read(
// CHECK-SAME:      %[[X:.*]]: vector<4xi32>, %[[Y:.*]]: vector<4xi32>)
// CHECK:         %[[BOTH:.*]] = vector.shuffle %[[X]], %[[Y]] [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xi32>, vector<4xi32>
// CHECK:         %[[WHOLE:.*]] = vector.bitcast %[[BOTH]] : vector<8xi32> to vector<4xi64>
// CHECK:         %[[BITS:.*]] = vector.bitcast %[[WHOLE]] : vector<4xi64> to vector<8xi32>
// CHECK-DAG:     %[[LOWER:.*]] = vector.shuffle %[[BITS]], %[[BITS]] [0, 2, 4, 6]
// CHECK-DAG:     %[[UPPER:.*]] = vector.shuffle %[[BITS]], %[[BITS]] [1, 3, 5, 7]
// CHECK:         return %[[LOWER]], %[[UPPER]]
func.func @joined_and_read(%x: vector<4xi32>, %y: vector<4xi32>) -> (vector<4xi32>, vector<4xi32>) {
  %half = arith.constant dense<32> : vector<4xi64>
  %low = arith.extui %x : vector<4xi32> to vector<4xi64>
  %high = arith.extui %y : vector<4xi32> to vector<4xi64>
  %shifted = arith.shli %high, %half : vector<4xi64>
  %both = arith.ori %shifted, %low : vector<4xi64>
  %lower = arith.trunci %both : vector<4xi64> to vector<4xi32>
  %moved = arith.shrui %both, %half : vector<4xi64>
  %upper = arith.trunci %moved : vector<4xi64> to vector<4xi32>
  return %lower, %upper : vector<4xi32>, vector<4xi32>
}
