// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints C0 to C4 of the collectives.

func.func @all_reduce(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.all_reduce' op groups are dense<[0, 1]> : tensor<2xi64>, expected rows of at least one participant, each once (C1)}}
  %0 = array.all_reduce %x kind = "sum" groups = dense<[0, 1]> : tensor<2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_gather(%x: tensor<4xf32>) {
  // expected-error @+1 {{each once (C1)}}
  %0 = array.all_gather %x dimension = 0 groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @all_to_all(%x: tensor<4xf32>) {
  // expected-error @+1 {{each once (C1)}}
  %0 = array.all_to_all %x split_axis = 0 concat_axis = 0 groups = dense<[[0, -1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_reduce(%x: tensor<4xi1>) {
  // expected-error @+1 {{'array.all_reduce' op kind is "sum" of 'tensor<4xi1>', expected sum or prod of numbers, max or min of bools or real numbers, and or or of bools or integers (C2)}}
  %0 = array.all_reduce %x kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @reduce_scatter(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.reduce_scatter' op kind is "mean" of 'tensor<4xf32>'}}
  %0 = array.reduce_scatter %x kind = "mean" dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @all_reduce(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.all_reduce' op result types are 'tensor<5xf32>', expected types compatible with 'tensor<4xf32>' (C0)}}
  %0 = array.all_reduce %x kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @all_gather(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.all_gather' op dimension is 1, expected a dimension of 'tensor<4xf32>' (C2)}}
  %0 = array.all_gather %x dimension = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_scatter(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.reduce_scatter' op dimension is 1, expected a dimension of 'tensor<4xf32>' (C3)}}
  %0 = array.reduce_scatter %x kind = "sum" dimension = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_scatter(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.reduce_scatter' op dimension 0 of 'tensor<4xf32>' can't be divided among 3 members (C4)}}
  %0 = array.reduce_scatter %x kind = "sum" dimension = 0 groups = dense<[[0, 1, 2]]> : tensor<1x3xi64> : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @all_to_all(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.all_to_all' op split_axis is 0, concat_axis is 1, expected dimensions of 'tensor<4xf32>' (C2)}}
  %0 = array.all_to_all %x split_axis = 0 concat_axis = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_to_all(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'array.all_to_all' op dimension 1 of 'tensor<4x3xf32>' can't be divided among 2 members (C3)}}
  %0 = array.all_to_all %x split_axis = 1 concat_axis = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @collective_permute(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.collective_permute' op pairs are [0, 2], expected pairs of places below 2 (C2)}}
  %0 = array.collective_permute %x pairs = [0, 2] groups = dense<[[2, 3]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @collective_permute(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.collective_permute' op pairs are [0, 1, 1, 1], in which 1 receives twice (C3)}}
  %0 = array.collective_permute %x pairs = [0, 1, 1, 1] groups = dense<[[2, 3]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
