// RUN: array-opt %s --split-input-file --verify-diagnostics --array-lower-convolutions --array-lower-matmuls

func.func @kind(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{'array.dot_general' op 'array.plan' must be a dictionary, got "fast"}}
  %0 = array.dot_general %x, %x contracting = [1] x [0] {array.plan = "fast"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @key(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{'array.dot_general' op array.plan: there is no 'row'; a plan has columns, depth, rows, slab, tile_rows, tile_vectors, packing, strategy}}
  %0 = array.dot_general %x, %x contracting = [1] x [0] {array.plan = {row = 8}} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @range(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{'array.dot_general' op array.plan: 'depth' must be an i64 from 16 to 65536, got -3 : i64}}
  %0 = array.dot_general %x, %x contracting = [1] x [0] {array.plan = {depth = -3}} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @word(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{'array.dot_general' op array.plan: 'strategy' must be "dot2" or "loops" or "stream" or "tiles", got "fastest"}}
  %0 = array.dot_general %x, %x contracting = [1] x [0] {array.plan = {strategy = "fastest"}} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @registers(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{'array.dot_general' op array.plan: a tile of 64 vectors has no place in registers; 'tile_rows' times 'tile_vectors' is at most 30}}
  %0 = array.dot_general %x, %x contracting = [1] x [0] {array.plan = {tile_rows = 16, tile_vectors = 4}} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @convolution(%x: tensor<2x8x16x8xf32>, %w: tensor<3x3x8x16xf32>) -> tensor<2x6x14x16xf32> {
  // expected-error @+1 {{'array.conv_general_dilated' op array.plan: 'slab' must be an i64 from 1024 to 67108864, got "large"}}
  %0 = array.conv_general_dilated %x, %w window_strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 3, 1, 2]
         feature_group_count = 1 batch_group_count = 1 {array.plan = {slab = "large"}}
         : (tensor<2x8x16x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x6x14x16xf32>
  return %0 : tensor<2x6x14x16xf32>
}

// -----

// The passes verify plans of other writers.
func.func @buffers(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{'linalg.matmul' op array.plan: 'tile_rows' must be an i64 from 1 to 16, got 0 : i64}}
  linalg.matmul {array.plan = {tile_rows = 0}} ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return
}
