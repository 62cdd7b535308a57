// Complex numbers: their parts, arithmetic and functions.

// RUN: array-run %s --entry=parts --input='[3+4j, -1-2j]' --input='[1, 2]' --expect='[3, -1]' --expect='[4, -2]' \
// RUN:   --expect='[5, 2.236068]' --expect='[1+1j, 2+2j]'
func.func @parts(%z: tensor<2xcomplex<f32>>, %x: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xcomplex<f32>>) {
  %0 = array.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %1 = array.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = array.abs %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %3 = array.complex %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xcomplex<f32>>
}

// RUN: array-run %s --entry=arithmetic --input='[3+4j, -1-2j]' --input='[1-1j, 2+0.5j]' --expect='[4+3j, 1-1.5j]' \
// RUN:   --expect='[2+5j, -3-2.5j]' --expect='[7+1j, -1-4.5j]' --expect='[-0.5+3.5j, -0.7058824-0.8235294j]' \
// RUN:   --expect='[-3-4j, 1+2j]' --expect='[0.6+0.8j, -0.4472136-0.8944272j]'
func.func @arithmetic(%z: tensor<2xcomplex<f32>>, %w: tensor<2xcomplex<f32>>)
    -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>,
       tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) {
  %0 = array.add %z, %w : tensor<2xcomplex<f32>>
  %1 = array.sub %z, %w : tensor<2xcomplex<f32>>
  %2 = array.mul %z, %w : tensor<2xcomplex<f32>>
  %3 = array.div %z, %w : tensor<2xcomplex<f32>>
  %4 = array.neg %z : tensor<2xcomplex<f32>>
  %5 = array.sign %z : tensor<2xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5
      : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>,
        tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
}

// RUN: array-run %s --entry=functions --input='[3+4j, -1-2j]' \
// RUN:   --expect='[-13.12878-15.20078j, -0.1530919-0.3345118j]' \
// RUN:   --expect='[1.609438+0.9272952j, 0.804719-2.034444j]' --expect='[2+1j, 0.7861513-1.27202j]' \
// RUN:   --expect='[3.853738-27.01681j, -3.165778-1.959601j]' --expect='[-27.03495-3.851153j, 2.032723-3.051898j]' \
// RUN:   --expect='[1.00071+0.004908258j, -1.166736+0.2434582j]'
func.func @functions(%z: tensor<2xcomplex<f32>>)
    -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>,
       tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) {
  %0 = array.exp %z : tensor<2xcomplex<f32>>
  %1 = array.log %z : tensor<2xcomplex<f32>>
  %2 = array.sqrt %z : tensor<2xcomplex<f32>>
  %3 = array.sin %z : tensor<2xcomplex<f32>>
  %4 = array.cos %z : tensor<2xcomplex<f32>>
  %5 = array.tanh %z : tensor<2xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5
      : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>,
        tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
}

// Ordered by the real part, then by the imaginary one.
// RUN: array-run %s --entry=compared --input='[1+2j, 1+1j]' --input='[1+2j, 1+3j]' --expect='[true, false]' \
// RUN:   --expect='[1+2j, 1+3j]'
func.func @compared(%z: tensor<2xcomplex<f32>>, %w: tensor<2xcomplex<f32>>)
    -> (tensor<2xi1>, tensor<2xcomplex<f32>>) {
  %0 = array.eq %z, %w : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  %1 = array.max %z, %w : tensor<2xcomplex<f32>>
  return %0, %1 : tensor<2xi1>, tensor<2xcomplex<f32>>
}

// RUN: array-run %s --entry=double --input='[[1j, 1], [0, 2-1j]]' --expect='[[-1, 2], [0, 3-4j]]' --expect='3'
func.func @double(%z: tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<complex<f64>>) {
  %0 = array.dot_general %z, %z contracting = [1] x [0] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %1 = array.reduce_sum %z axes = [0, 1] : (tensor<2x2xcomplex<f64>>) -> tensor<complex<f64>>
  return %0, %1 : tensor<2x2xcomplex<f64>>, tensor<complex<f64>>
}

// Updates that meet in one element are multiplied into it one after the other; the greater is the later in the order.
// RUN: array-run %s --entry=scattered --input='[1+1j, 2, 3]' --input='[0+1j, 2, 1-1j]' --input='[0, 2, 0]' \
// RUN:   --expect='[0+2j, 2, 6]' --expect='[1+1j, 2, 3]'
func.func @scattered(%x: tensor<3xcomplex<f32>>, %u: tensor<3xcomplex<f32>>, %i: tensor<3xi32>)
    -> (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "mul", mode = "fill",
         scatter_dims_to_operand_dims = array<i64: 0>}
         : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xi32>) -> tensor<3xcomplex<f32>>
  %1 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "max", mode = "fill",
         scatter_dims_to_operand_dims = array<i64: 0>}
         : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xi32>) -> tensor<3xcomplex<f32>>
  return %0, %1 : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>
}
