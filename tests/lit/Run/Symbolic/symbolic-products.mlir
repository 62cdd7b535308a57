// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes. Matmuls of symbolic sizes, against those of integers, which are
// plain loops. All numbers are small integers, so that every order of summation gives the same
// sums.

// DEFINE: %{matrices} = --input=random:uniform,low=-8,high=8,seed=1 --input=random:uniform,low=-8,high=8,seed=2 \
// DEFINE:   --input=random:uniform,low=-8,high=8,seed=3 --input=random:uniform,low=-8,high=8,seed=4 --expect='0'

// Rows, columns and terms, in every order in memory.
// RUN: array-run %s --entry=matrices --sizes=1,1,1 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=2,17,3 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=3,100,100 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=7,8,15 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=16,2,7 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=50,33,2 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=17,50,1100 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=300,64,16 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=0,5,6 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=5,0,6 %{matrices}
// RUN: array-run %s --entry=matrices --sizes=6,5,0 %{matrices}
func.func @matrices(%a: tensor<?x?xi32> {array.dims = affine_map<()[m, n, k] -> (m, k)>},
                    %b: tensor<?x?xi32> {array.dims = affine_map<()[m, n, k] -> (k, n)>},
                    %at: tensor<?x?xi32> {array.dims = affine_map<()[m, n, k] -> (k, m)>},
                    %bt: tensor<?x?xi32> {array.dims = affine_map<()[m, n, k] -> (n, k)>}) -> tensor<f32> {
  %0 = array.convert %a : (tensor<?x?xi32>) -> tensor<?x?xf32>
  %1 = array.convert %b : (tensor<?x?xi32>) -> tensor<?x?xf32>
  %2 = array.convert %at : (tensor<?x?xi32>) -> tensor<?x?xf32>
  %3 = array.convert %bt : (tensor<?x?xi32>) -> tensor<?x?xf32>
  %f:4 = array.optimization_barrier(%0, %1, %2, %3)
      : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
  %p = array.dot_general %f#0, %f#1 contracting = [1] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = array.dot_general %f#0, %f#3 contracting = [1] x [1] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = array.dot_general %f#2, %f#1 contracting = [0] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = array.dot_general %f#3, %f#2 contracting = [1] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %ip = array.dot_general %a, %b contracting = [1] x [0] : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  %iq = array.dot_general %a, %bt contracting = [1] x [1] : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  %ir = array.dot_general %at, %b contracting = [0] x [0] : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  %is = array.dot_general %bt, %at contracting = [1] x [0] : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  %dp = func.call @distance(%p, %ip) : (tensor<?x?xf32>, tensor<?x?xi32>) -> tensor<f32>
  %dq = func.call @distance(%q, %iq) : (tensor<?x?xf32>, tensor<?x?xi32>) -> tensor<f32>
  %dr = func.call @distance(%r, %ir) : (tensor<?x?xf32>, tensor<?x?xi32>) -> tensor<f32>
  %ds = func.call @distance(%s, %is) : (tensor<?x?xf32>, tensor<?x?xi32>) -> tensor<f32>
  %4 = array.add %dp, %dq : tensor<f32>
  %5 = array.add %dr, %ds : tensor<f32>
  %6 = array.add %4, %5 : tensor<f32>
  return %6 : tensor<f32>
}

func.func private @distance(%x: tensor<?x?xf32>, %y: tensor<?x?xi32>) -> tensor<f32> {
  %0 = array.convert %y : (tensor<?x?xi32>) -> tensor<?x?xf32>
  %1 = array.sub %x, %0 : tensor<?x?xf32>
  %2 = array.abs %1 : tensor<?x?xf32>
  %3 = array.reduce_sum %2 axes = [0, 1] : (tensor<?x?xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// A layer and its gradients at few and many rows, with the bias and the activation.
// DEFINE: %{layer} = --input=random:uniform,low=-8,high=8,seed=1 --input=random:uniform,low=-8,high=8,seed=2 \
// DEFINE:   --input=random:uniform,low=-8,high=8,seed=3 --expect='0'
// RUN: array-run %s --entry=layer --sizes=1 %{layer}
// RUN: array-run %s --entry=layer --sizes=2 %{layer}
// RUN: array-run %s --entry=layer --sizes=3 %{layer}
// RUN: array-run %s --entry=layer --sizes=8 %{layer}
// RUN: array-run %s --entry=layer --sizes=9 %{layer}
// RUN: array-run %s --entry=layer --sizes=50 %{layer}
func.func @layer(%x: tensor<?x520xi32> {array.dims = affine_map<()[n] -> (n, 520)>}, %w: tensor<520x544xi32>,
                 %b: tensor<544xi32>) -> tensor<f32> attributes {array.symbols = [{min = 1, max = 50, expected = 25}]} {
  %0 = array.convert %x : (tensor<?x520xi32>) -> tensor<?x520xf32>
  %1 = array.convert %w : (tensor<520x544xi32>) -> tensor<520x544xf32>
  %2 = array.convert %b : (tensor<544xi32>) -> tensor<544xf32>
  %f:3 = array.optimization_barrier(%0, %1, %2)
      : (tensor<?x520xf32>, tensor<520x544xf32>, tensor<544xf32>) -> (tensor<?x520xf32>, tensor<520x544xf32>, tensor<544xf32>)
  %n = array.symbol 0 : index
  %p = array.dot_general %f#0, %f#1 contracting = [1] x [0] : (tensor<?x520xf32>, tensor<520x544xf32>) -> tensor<?x544xf32>
  %bias = array.broadcast_in_dim %f#2 broadcast_dimensions = [1] output_dims(%n) : (tensor<544xf32>) -> tensor<?x544xf32>
  %zero = array.constant dense<0.0> : tensor<f32>
  %zeros = array.broadcast_in_dim %zero broadcast_dimensions = [] output_dims(%n) : (tensor<f32>) -> tensor<?x544xf32>
  %s = array.add %p, %bias : tensor<?x544xf32>
  %y = array.max %s, %zeros : tensor<?x544xf32>
  %dw = array.dot_general %f#0, %y contracting = [0] x [0] : (tensor<?x520xf32>, tensor<?x544xf32>) -> tensor<520x544xf32>
  %dx = array.dot_general %y, %f#1 contracting = [1] x [1] : (tensor<?x544xf32>, tensor<520x544xf32>) -> tensor<?x520xf32>
  %ip = array.dot_general %x, %w contracting = [1] x [0] : (tensor<?x520xi32>, tensor<520x544xi32>) -> tensor<?x544xi32>
  %ibias = array.broadcast_in_dim %b broadcast_dimensions = [1] output_dims(%n) : (tensor<544xi32>) -> tensor<?x544xi32>
  %izero = array.constant dense<0> : tensor<i32>
  %izeros = array.broadcast_in_dim %izero broadcast_dimensions = [] output_dims(%n) : (tensor<i32>) -> tensor<?x544xi32>
  %is = array.add %ip, %ibias : tensor<?x544xi32>
  %iy = array.max %is, %izeros : tensor<?x544xi32>
  %idw = array.dot_general %x, %iy contracting = [0] x [0] : (tensor<?x520xi32>, tensor<?x544xi32>) -> tensor<520x544xi32>
  %idx = array.dot_general %iy, %w contracting = [1] x [1] : (tensor<?x544xi32>, tensor<520x544xi32>) -> tensor<?x520xi32>
  %3 = array.convert %idw : (tensor<520x544xi32>) -> tensor<520x544xf32>
  %4 = array.sub %dw, %3 : tensor<520x544xf32>
  %5 = array.abs %4 : tensor<520x544xf32>
  %6 = array.reduce_sum %5 axes = [0, 1] : (tensor<520x544xf32>) -> tensor<f32>
  %7 = array.convert %idx : (tensor<?x520xi32>) -> tensor<?x520xf32>
  %8 = array.sub %dx, %7 : tensor<?x520xf32>
  %9 = array.abs %8 : tensor<?x520xf32>
  %10 = array.reduce_sum %9 axes = [0, 1] : (tensor<?x520xf32>) -> tensor<f32>
  %11 = array.add %6, %10 : tensor<f32>
  return %11 : tensor<f32>
}

// Heads of attention: matmuls for each of a batch, with rows, columns and terms of one size.
// DEFINE: %{heads} = --input=random:uniform,low=-8,high=8,seed=1 --input=random:uniform,low=-8,high=8,seed=2 \
// DEFINE:   --input=random:uniform,low=-8,high=8,seed=3 --expect='0'
// RUN: array-run %s --entry=heads --sizes=1,16 %{heads}
// RUN: array-run %s --entry=heads --sizes=2,17 %{heads}
// RUN: array-run %s --entry=heads --sizes=40,50 %{heads}
// RUN: array-run %s --entry=heads --sizes=0,20 %{heads}
func.func @heads(%q: tensor<?x?x4x32xi32> {array.dims = affine_map<()[b, t] -> (b, t, 4, 32)>},
                 %k: tensor<?x?x4x32xi32> {array.dims = affine_map<()[b, t] -> (b, t, 4, 32)>},
                 %v: tensor<?x?x4x32xi32> {array.dims = affine_map<()[b, t] -> (b, t, 4, 32)>}) -> tensor<f32>
    attributes {array.symbols = [{}, {min = 16, max = 512}]} {
  %0 = array.convert %q : (tensor<?x?x4x32xi32>) -> tensor<?x?x4x32xf32>
  %1 = array.convert %k : (tensor<?x?x4x32xi32>) -> tensor<?x?x4x32xf32>
  %2 = array.convert %v : (tensor<?x?x4x32xi32>) -> tensor<?x?x4x32xf32>
  %f:3 = array.optimization_barrier(%0, %1, %2)
      : (tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32>) -> (tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32>)
  %p = array.dot_general %f#0, %f#1 batch = [0, 2] x [0, 2] contracting = [3] x [3]
      : (tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32>) -> tensor<?x4x?x?xf32>
  %r = array.dot_general %p, %f#2 batch = [0, 1] x [0, 2] contracting = [3] x [1]
      : (tensor<?x4x?x?xf32>, tensor<?x?x4x32xf32>) -> tensor<?x4x?x32xf32>
  %ip = array.dot_general %q, %k batch = [0, 2] x [0, 2] contracting = [3] x [3]
      : (tensor<?x?x4x32xi32>, tensor<?x?x4x32xi32>) -> tensor<?x4x?x?xi32>
  %ir = array.dot_general %ip, %v batch = [0, 1] x [0, 2] contracting = [3] x [1]
      : (tensor<?x4x?x?xi32>, tensor<?x?x4x32xi32>) -> tensor<?x4x?x32xi32>
  %3 = array.convert %ir : (tensor<?x4x?x32xi32>) -> tensor<?x4x?x32xf32>
  %4 = array.sub %r, %3 : tensor<?x4x?x32xf32>
  %5 = array.abs %4 : tensor<?x4x?x32xf32>
  %6 = array.reduce_sum %5 axes = [0, 1, 2, 3] : (tensor<?x4x?x32xf32>) -> tensor<f32>
  return %6 : tensor<f32>
}

// Bytes and bf16, by pairs if the machine supports them, or widened.
// DEFINE: %{narrow} = --input=random:uniform,low=-8,high=8,seed=1 --input=random:uniform,low=-8,high=8,seed=2 \
// DEFINE:   --expect='0' --expect='0'
// RUN: array-run %s --entry=narrow --sizes=1,1,1 %{narrow}
// RUN: array-run %s --entry=narrow --sizes=16,17,33 %{narrow}
// RUN: array-run %s --entry=narrow --sizes=100,50,300 %{narrow}
// RUN: array-run %s --entry=narrow --sizes=0,50,300 %{narrow}
// RUN: array-run %s --entry=narrow --sizes=50,30,0 %{narrow}
func.func @narrow(%a: tensor<?x?xi8> {array.dims = affine_map<()[m, n, k] -> (m, k)>},
                  %b: tensor<?x?xi8> {array.dims = affine_map<()[m, n, k] -> (k, n)>}) -> (tensor<f32>, tensor<f32>) {
  %0 = array.convert %a : (tensor<?x?xi8>) -> tensor<?x?xi32>
  %1 = array.convert %b : (tensor<?x?xi8>) -> tensor<?x?xi32>
  %2 = array.convert %a : (tensor<?x?xi8>) -> tensor<?x?xbf16>
  %3 = array.convert %b : (tensor<?x?xi8>) -> tensor<?x?xbf16>
  %f:4 = array.optimization_barrier(%0, %1, %2, %3)
      : (tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xbf16>, tensor<?x?xbf16>) -> (tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xbf16>, tensor<?x?xbf16>)
  %r = array.dot_general %f#0, %f#1 contracting = [1] x [0] : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  %p = array.dot_general %a, %b contracting = [1] x [0] : (tensor<?x?xi8>, tensor<?x?xi8>) -> tensor<?x?xi32>
  %q = array.dot_general %f#2, %f#3 contracting = [1] x [0] : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xf32>
  %4 = array.convert %p : (tensor<?x?xi32>) -> tensor<?x?xf32>
  %d = func.call @distance(%4, %r) : (tensor<?x?xf32>, tensor<?x?xi32>) -> tensor<f32>
  %e = func.call @distance(%q, %r) : (tensor<?x?xf32>, tensor<?x?xi32>) -> tensor<f32>
  return %d, %e : tensor<f32>, tensor<f32>
}
