// The number of threads decides no result, but there is at least one.
// RUN: array-run %s | FileCheck %s
// CHECK: 1
func.func @main() -> tensor<i32> {
  %threads = array.threads : index
  %one = arith.constant 1 : index
  %some = arith.minui %threads, %one : index
  %number = arith.index_cast %some : index to i32
  %result = tensor.from_elements %number : tensor<i32>
  return %result : tensor<i32>
}
