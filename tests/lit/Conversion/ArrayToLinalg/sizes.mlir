// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// Sizes that are operands: the static numbers above are computed here.

// CHECK-LABEL: func @dim_as_value
// CHECK: %[[N:.*]] = arith.index_cast %arg0 : index to i32
// CHECK: tensor.from_elements %[[N]] : tensor<i32>
func.func @dim_as_value(%n: index) -> tensor<i32> {
  %0 = array.dim_as_value sizes(%n) : tensor<i32>
  return %0 : tensor<i32>
}

// -----

// CHECK-LABEL: func @slice
// CHECK: %[[D:.*]] = arith.subi %arg2, %arg1
// CHECK: %[[U:.*]] = arith.addi %[[D]], %c1
// CHECK: %[[S:.*]] = arith.divsi %[[U]], %c2
// CHECK: tensor.extract_slice %arg0[%arg1, 0] [%[[S]], 4] [2, 1] : tensor<?x5xf32> to tensor<?x4xf32>
func.func @slice(%x: tensor<?x5xf32>, %n: index, %m: index) -> tensor<?x4xf32> {
  %0 = array.slice %x start_indices = [?, 0] limit_indices = [?, 4] strides = [2, 1] sizes(%n, %m)
      : (tensor<?x5xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// From 0 on with a step of 1 the limit is the size, and a static size is not computed.
// CHECK-LABEL: func @slice_known
// CHECK-NOT: arith
// CHECK: tensor.extract_slice %arg0[0, %arg1] [%arg2, 3] [1, 1] : tensor<?x5xf32> to tensor<?x3xf32>
func.func @slice_known(%x: tensor<?x5xf32>, %n: index, %m: index, %k: index) -> tensor<?x3xf32> {
  %0 = array.slice %x start_indices = [0, ?] limit_indices = [?, ?] strides = [1, 1] sizes(%n, %m, %k)
      : (tensor<?x5xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// The elements before the first kept one, the number of kept ones, and their positions.
// CHECK-LABEL: func @pad
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %{{.*}}: tensor<f32>, %[[LOW:.*]]: index
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[NEG:.*]] = arith.subi %c0{{.*}}, %[[LOW]]
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[NEG]], %c0
// CHECK: %[[LESS:.*]] = arith.subi %[[N]], %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[LESS]], %c0
// CHECK: %[[BOTH:.*]] = arith.addi %[[LOW]], %c2
// CHECK: %[[SIZE:.*]] = arith.addi %[[N]], %[[BOTH]]
// CHECK: %[[AT:.*]] = arith.addi %[[LOW]], %[[FIRST]]
// CHECK: tensor.empty(%[[SIZE]]) : tensor<?xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][%[[FIRST]]] [%[[COUNT]]] [1]
// CHECK: tensor.insert_slice %[[S]] into %{{.*}}[%[[AT]]] [%[[COUNT]]] [1]
func.func @pad(%x: tensor<?xf32>, %v: tensor<f32>, %low: index) -> tensor<?xf32> {
  %0 = array.pad %x, %v low = [?] high = [2] interior = [0] sizes(%low) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @dynamic_slice
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %arg2
// CHECK: %[[MIN:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: %[[AT:.*]] = arith.maxsi %[[MIN]], %c0
// CHECK: tensor.extract_slice %arg0[%[[AT]]] [%arg2] [1]
func.func @dynamic_slice(%x: tensor<?xf32>, %i: tensor<i32>, %n: index) -> tensor<?xf32> {
  %0 = array.dynamic_slice %x at(%i) slice_sizes = [?] sizes(%n) : (tensor<?xf32>, tensor<i32>, index) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @gather
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[LAST:.*]] = arith.subi %[[N]], %arg2
// CHECK: tensor.empty(%arg2) : tensor<4x?xf32>
// CHECK: linalg.generic
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
func.func @gather(%x: tensor<?xf32>, %i: tensor<4xi32>, %n: index) -> tensor<4x?xf32> {
  %0 = array.gather %x at(%i) slice_sizes = [?] sizes(%n)
      {mode = "clip", offset_dims = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<?xf32>, tensor<4xi32>, index) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// -----

// The routine gets the window and the padding; the number of windows is computed: (n + low - w + 2) / 2.
// CHECK-LABEL: func @reduce_window
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[P:.*]] = arith.addi %[[N]], %arg2
// CHECK: %[[D:.*]] = arith.subi %[[P]], %arg1
// CHECK: %[[C:.*]] = arith.addi %[[D]], %c2
// CHECK: %[[M:.*]] = arith.maxsi %[[C]], %c0
// CHECK: %[[SIZE:.*]] = arith.divsi %[[M]], %c2
// CHECK: %[[E:.*]] = tensor.empty(%[[SIZE]])
// CHECK: array.runtime_call "reduce_window" params = [2, ?, 2, ?, 1, 1] {{.*}} outs(%[[E]] : tensor<?xf32>) sizes(%arg1, %arg2)
func.func @reduce_window(%x: tensor<?xf32>, %w: index, %low: index) -> tensor<?xf32> {
  %0 = array.reduce_window_max %x window_dimensions = [?] window_strides = [2] low = [?] high = [0] base_dilation = [1]
      window_dilation = [1] sizes(%w, %low) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @select
// CHECK: array.runtime_call "select_and_gather" params = [1, 2, 2, 0, 1, 1] element_types = [f32, f32, f32] ins(%arg0, %arg0
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: %[[E:.*]] = tensor.empty(%[[N]])
// CHECK: array.runtime_call "select_and_scatter" params = [0, 2, 2, ?, 1, 1] {{.*}} outs(%[[E]] : tensor<?xf32>) sizes(%arg2)
func.func @select(%x: tensor<?xf32>, %s: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = array.select_and_gather %x, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [?]
      base_dilation = [1] window_dilation = [1] sizes(%n) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = array.select_and_scatter %s, %x greatest = false window_dimensions = [2] window_strides = [2] low = [?] high = [0]
      base_dilation = [1] window_dilation = [1] sizes(%n) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func @convolution
// CHECK: linalg.fill {{.*}} -> tensor<2x3x?xf32>
// CHECK: %[[P:.*]] = tensor.insert_slice
// CHECK: %[[N:.*]] = tensor.dim %[[P]], %c2
// CHECK: %[[D:.*]] = arith.subi %[[N]], %c3
// CHECK: %[[C:.*]] = arith.addi %[[D]], %c1
// CHECK: %[[SIZE:.*]] = arith.maxsi %[[C]], %c0
// CHECK: tensor.empty(%[[SIZE]]) : tensor<2x?x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[P]], %arg1 : tensor<2x3x?xf32>, tensor<4x3x3xf32>) outs(%{{.*}} : tensor<2x?x4xf32>)
func.func @convolution(%x: tensor<2x3x?xf32>, %w: tensor<4x3x3xf32>, %n: index) -> tensor<2x4x?xf32> {
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [1] high = [?] lhs_dilation = [1] rhs_dilation = [1]
      lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1 batch_group_count = 1
      sizes(%n) : (tensor<2x3x?xf32>, tensor<4x3x3xf32>) -> tensor<2x4x?xf32>
  return %0 : tensor<2x4x?xf32>
}

// -----

// Groups of dynamic sizes are cut as static ones are.
// CHECK-LABEL: func @grouped_convolution
// CHECK: tensor.expand_shape %arg0 {{.*}} : tensor<?x4x?xf32> into tensor<?x2x2x?xf32>
// CHECK: tensor.collapse_shape %{{.*}} : tensor<?x2x3x?xf32> into tensor<?x6x?xf32>
func.func @grouped_convolution(%x: tensor<?x4x?xf32>, %w: tensor<6x2x3xf32>) -> tensor<?x6x?xf32> {
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1] rhs_dilation = [1]
      lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 2 batch_group_count = 1
      : (tensor<?x4x?xf32>, tensor<6x2x3xf32>) -> tensor<?x6x?xf32>
  return %0 : tensor<?x6x?xf32>
}

// -----

// CHECK-LABEL: func @fft
// CHECK: %[[H:.*]] = arith.divsi %arg1, %c2
// CHECK: %[[L:.*]] = arith.addi %[[H]], %c1
// CHECK: %[[R:.*]] = tensor.empty(%[[L]]) : tensor<3x?xi64>
// CHECK: array.runtime_call "fft" params = [2, 1] {{.*}} outs(%[[R]]
// CHECK: %[[I:.*]] = tensor.empty(%arg1) : tensor<3x?xf32>
// CHECK: array.runtime_call "fft" params = [3, 1] {{.*}} outs(%[[I]]
func.func @fft(%x: tensor<3x?xf32>, %n: index) -> tensor<3x?xf32> {
  %0 = array.fft %x type = "RFFT" fft_lengths = [?] sizes(%n) : (tensor<3x?xf32>) -> tensor<3x?xcomplex<f32>>
  %1 = array.fft %0 type = "IRFFT" fft_lengths = [?] sizes(%n) : (tensor<3x?xcomplex<f32>>) -> tensor<3x?xf32>
  return %1 : tensor<3x?xf32>
}

// -----

// CHECK-LABEL: func @top_k
// CHECK: tensor.empty(%{{.*}}, %arg1) : tensor<?x?xf32>
// CHECK: tensor.empty(%{{.*}}, %arg1) : tensor<?x?xi32>
func.func @top_k(%x: tensor<?x?xf32>, %k: index) -> (tensor<?x?xf32>, tensor<?x?xi32>) {
  %0:2 = array.top_k %x k = ? axis = 1 sizes(%k) : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
  return %0#0, %0#1 : tensor<?x?xf32>, tensor<?x?xi32>
}

// -----

// The lesser of both sizes, and one less.
// CHECK-LABEL: func @decompositions
// CHECK-DAG: %[[M:.*]] = tensor.dim %arg0, %c1
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0, %c2
// CHECK: %[[R:.*]] = arith.minsi %[[M]], %[[N]]
// CHECK: tensor.empty(%{{.*}}, %[[R]]) : tensor<?x?xf32>
// CHECK: array.runtime_call "svd"
// CHECK: tensor.empty(%arg2) : tensor<?xi32>
// CHECK: array.runtime_call "lu_pivots_to_permutation" params = [?] {{.*}} sizes(%arg2)
// CHECK: %[[K:.*]] = tensor.dim %arg3
// CHECK: %[[L:.*]] = arith.addi %[[K]], %c-1
// CHECK: arith.maxsi %[[L]], %c0
// CHECK: array.runtime_call "hessenberg"
func.func @decompositions(%x: tensor<?x?x?xf32>, %p: tensor<?xi32>, %n: index, %h: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?xi32>, tensor<?xf32>) {
  %s = array.svd %x {full_matrices = false, compute_vectors = false, by_qr = false} : (tensor<?x?x?xf32>) -> tensor<?x?xf32>
  %1 = array.lu_pivots_to_permutation %p sizes(%n) {permutation_size = -9223372036854775808 : i64}
      : (tensor<?xi32>) -> tensor<?xi32>
  %2:2 = array.hessenberg %h : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %s, %1, %2#1 : tensor<?x?xf32>, tensor<?xi32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func @scan
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[N:.*]]: index, %[[M:.*]]: index
// CHECK: %[[E:.*]] = tensor.empty(%[[N]], %[[M]]) : tensor<?x?xf32>
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %[[N]] step %c1{{.*}} iter_args(%[[J:.*]] = %[[E]])
// CHECK: %[[LAST:.*]] = arith.addi %[[N]], %c-1
// CHECK: %[[AT:.*]] = arith.subi %[[LAST]], %[[I]]
// CHECK: tensor.extract_slice %[[X]][%[[AT]], 0] [1, %{{.*}}] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[J]][%{{.*}}, 0] [1, %{{.*}}] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
func.func @scan(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %0 = array.scan() (%x) length = ? reverse = true sizes(%n) output_dims(%n, %m)
      : (tensor<?x?xf32>, index, index, index) -> tensor<?x?xf32> {
  ^bb0(%row: tensor<?xf32>):
    %y = array.neg %row : tensor<?xf32>
    array.yield %y : tensor<?xf32>
  }
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @host_call
// CHECK: %[[A:.*]] = tensor.empty(%arg1) : tensor<?xf32>
// CHECK: %[[B:.*]] = tensor.empty(%arg2) : tensor<4x?xi8>
// CHECK: array.runtime_call "host_call" params = [3] element_types = [f32, f32, i1] ins(%arg0 : tensor<?xf32>) outs(%[[A]], %[[B]]
func.func @host_call(%x: tensor<?xf32>, %n: index, %m: index) -> (tensor<?xf32>, tensor<4x?xi1>) {
  %0:2 = array.host_call slot = 3 (%x) output_dims(%n, %m) : (tensor<?xf32>, index, index) -> (tensor<?xf32>, tensor<4x?xi1>)
  return %0#0, %0#1 : tensor<?xf32>, tensor<4x?xi1>
}

// -----

// CHECK-LABEL: func @collectives
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[T:.*]] = arith.muli %[[N]], %c2
// CHECK: tensor.empty(%[[T]]) : tensor<?x5xf32>
// CHECK: %[[H:.*]] = arith.divsi %{{.*}}, %c2
// CHECK: tensor.empty(%[[H]]) : tensor<?x5xf32>
func.func @collectives(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %0 = array.all_gather %x dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %1 = array.reduce_scatter %0 kind = "sum" dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64>
      : (tensor<?x5xf32>) -> tensor<?x5xf32>
  return %1 : tensor<?x5xf32>
}
