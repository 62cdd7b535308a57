// RUN: array-opt %s --array-lower-views | FileCheck %s

// Several symbolic sizes: the strides follow from the inner sizes. One size: upstream's pattern computes it from the
// source.
// CHECK-LABEL: func @several
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x5xf32>, %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %{{.*}}: index)
// CHECK:         %[[INNER:.*]] = arith.muli %{{.*}}, %[[M]]
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[N]], 4, %[[M]], 5], strides: [%{{.*}}, %[[INNER]], 5, 1]
// CHECK-NOT:     memref.expand_shape
// CHECK:         %[[ROWS:.*]] = affine.apply #{{.*}}()[%{{.*}}]
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[ROWS]], 4, 5], strides: [20, 5, 1]
func.func @several(%x: memref<?x5xf32>, %n: index, %m: index, %i: index) -> (f32, f32) {
  %y = memref.expand_shape %x [[0, 1, 2], [3]] output_shape [%n, 4, %m, 5] : memref<?x5xf32> into memref<?x4x?x5xf32>
  %z = memref.expand_shape %x [[0, 1], [2]] output_shape [%n, 4, 5] : memref<?x5xf32> into memref<?x4x5xf32>
  %0 = memref.load %y[%i, %i, %i, %i] : memref<?x4x?x5xf32>
  %1 = memref.load %z[%i, %i, %i] : memref<?x4x5xf32>
  return %0, %1 : f32, f32
}

// A subview of a subview is one view of the buffer.
// CHECK-LABEL: func @nested(
// CHECK-SAME:    memref<42x30xf32>)
// CHECK-NOT:     memref.subview
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [187], sizes: [4, 3], strides: [60, 3]
func.func @nested(%x: memref<42x30xf32>) -> memref<4x3xf32, strided<[60, 3], offset: 187>> {
  %0 = memref.subview %x[2, 4] [20, 20] [2, 1] : memref<42x30xf32> to memref<20x20xf32, strided<[60, 1], offset: 64>>
  %1 = memref.subview %0[2, 3] [4, 3] [1, 3] : memref<20x20xf32, strided<[60, 1], offset: 64>> to memref<4x3xf32, strided<[60, 3], offset: 187>>
  return %1 : memref<4x3xf32, strided<[60, 3], offset: 187>>
}
