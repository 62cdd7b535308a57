// A refused module is reduced to the reason of the refusal.
// RUN: array-reduce %s --array-reduction="test=%S/Inputs/is-refused.sh" | FileCheck %s
// CHECK:      module {
// CHECK-NEXT:   func.func @main(%{{.*}}: tensor<?xf32> {array.dims = affine_map<{{.*}}>}) {
// CHECK-NEXT:     return
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n, n)>}, %y: tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>) {
  %0 = array.neg %x : tensor<?xf32>
  %1 = array.exp %y : tensor<4xf32>
  return %0, %1 : tensor<?xf32>, tensor<4xf32>
}
