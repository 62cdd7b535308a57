// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// CHECK-LABEL: func @slice
// CHECK-NEXT: tensor.extract_slice %arg0[1, 0] [2, 3] [1, 2] : tensor<4x5xf32> to tensor<2x3xf32>
func.func @slice(%x: tensor<4x5xf32>) -> tensor<2x3xf32> {
  %0 = array.slice %x start_indices = [1, 0] limit_indices = [3, 5] strides = [1, 2]
      : (tensor<4x5xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func @pad
// CHECK: %[[V:.*]] = tensor.extract %arg1[] : tensor<f32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<7xf32>
// CHECK: %[[F:.*]] = linalg.fill ins(%[[V]] : f32) outs(%[[E]] : tensor<7xf32>)
// CHECK: tensor.insert_slice %arg0 into %[[F]][1] [4] [1]
func.func @pad(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<7xf32> {
  %0 = array.pad %x, %v low = [1] high = [2] interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

// 4 elements with 2 between them are at 0, 3, 6, 9; low = -1 drops the first, high = -3 the last.
// CHECK-LABEL: func @pad_interior_negative
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<6xf32>)
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[1] [2] [1]
// CHECK: tensor.insert_slice %[[S]] into %{{.*}}[2] [2] [3]
func.func @pad_interior_negative(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %0 = array.pad %x, %v low = [-1] high = [-3] interior = [2] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// CHECK-LABEL: func @pad_dynamic
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: %[[SIZE:.*]] = arith.addi %[[N]], %c3
// CHECK: tensor.empty(%[[SIZE]])
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[1] [%[[N]]] [1]
func.func @pad_dynamic(%x: tensor<?xi1>, %v: tensor<i1>) -> tensor<?xi1> {
  %0 = array.pad %x, %v low = [1] high = [2] interior = [0] : (tensor<?xi1>, tensor<i1>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// -----

// CHECK-LABEL: func @concatenate
// CHECK: %[[E:.*]] = tensor.empty() : tensor<9x2xf32>
// CHECK: %[[A:.*]] = tensor.insert_slice %arg0 into %[[E]][0, 0] [4, 2] [1, 1]
// CHECK: tensor.insert_slice %arg1 into %[[A]][4, 0] [5, 2] [1, 1]
func.func @concatenate(%x: tensor<4x2xf32>, %y: tensor<5x2xf32>) -> tensor<9x2xf32> {
  %0 = array.concatenate %x, %y dimension = 0 : (tensor<4x2xf32>, tensor<5x2xf32>) -> tensor<9x2xf32>
  return %0 : tensor<9x2xf32>
}

// -----

// CHECK-LABEL: func @concatenate_dynamic
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0
// CHECK-DAG: %[[TOTAL:.*]] = arith.addi
// CHECK: tensor.empty(%[[TOTAL]])
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[%{{.*}}] [5] [1]
func.func @concatenate_dynamic(%x: tensor<?xf32>, %y: tensor<5xf32>) -> tensor<?xf32> {
  %0 = array.concatenate %x, %y dimension = 0 : (tensor<?xf32>, tensor<5xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Starts are clamped so that the block fits.
// CHECK-LABEL: func @dynamic_slice
// CHECK: %[[S:.*]] = tensor.extract %arg1[] : tensor<i32>
// CHECK: %[[I:.*]] = arith.index_cast %[[S]] : i32 to index
// CHECK: %[[LOW:.*]] = arith.minsi %[[I]], %c6
// CHECK: %[[AT:.*]] = arith.maxsi %[[LOW]], %c0
// CHECK: tensor.extract_slice %arg0[%[[AT]]] [4] [1] : tensor<10xf32> to tensor<4xf32>
func.func @dynamic_slice(%x: tensor<10xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = array.dynamic_slice %x at(%i) slice_sizes = [4] : (tensor<10xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @dynamic_update_slice
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %c4
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
// CHECK: %[[AT:.*]] = arith.maxsi
// CHECK: tensor.insert_slice %arg1 into %arg0[%[[AT]]] [4] [1]
func.func @dynamic_update_slice(%x: tensor<?xf32>, %u: tensor<4xf32>, %i: tensor<i64>) -> tensor<?xf32> {
  %0 = array.dynamic_update_slice %x, %u at(%i) : (tensor<?xf32>, tensor<4xf32>, tensor<i64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// An empty block is not read or inserted: its offset may equal the size.
// CHECK-LABEL: func @empty
// CHECK-NEXT: %[[S:.*]] = tensor.empty() : tensor<0xf32>
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = tensor.insert_slice %arg0 into %[[E]][0] [4] [1]
// CHECK-NEXT: return %[[R]]
func.func @empty(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.slice %x start_indices = [4] limit_indices = [4] strides = [1] : (tensor<4xf32>) -> tensor<0xf32>
  %1 = array.concatenate %x, %0 dimension = 0 : (tensor<4xf32>, tensor<0xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
