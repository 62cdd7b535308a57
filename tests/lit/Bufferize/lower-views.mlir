// RUN: array-opt %s --array-lower-views | FileCheck %s
// RUN: array-opt %s --array-lower-views --expand-strided-metadata -o /dev/null

// The strides follow from the inner sizes. A view with one non-constant size does not change.
// CHECK-LABEL: func @several
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x5xf32>, %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %{{.*}}: index)
// CHECK:         %[[INNER:.*]] = arith.muli %{{.*}}, %[[M]]
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[N]], 4, %[[M]], 5], strides: [%{{.*}}, %[[INNER]], 5, 1]
// CHECK:         memref.expand_shape %[[X]] {{\[\[}}0, 1], [2]] output_shape [%[[N]], 4, 5]
func.func @several(%x: memref<?x5xf32>, %n: index, %m: index, %i: index) -> (f32, f32) {
  %y = memref.expand_shape %x [[0, 1, 2], [3]] output_shape [%n, 4, %m, 5] : memref<?x5xf32> into memref<?x4x?x5xf32>
  %z = memref.expand_shape %x [[0, 1], [2]] output_shape [%n, 4, 5] : memref<?x5xf32> into memref<?x4x5xf32>
  %0 = memref.load %y[%i, %i, %i, %i] : memref<?x4x?x5xf32>
  %1 = memref.load %z[%i, %i, %i] : memref<?x4x5xf32>
  return %0, %1 : f32, f32
}
