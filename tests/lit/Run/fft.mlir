// Fourier transforms of complex and of real arrays, their inverses, and over two dimensions.

// RUN: array-run %s --entry=complex --atol=1e-6 --input='[1+0j, 0+2j, -1+0j, 3+0j]' \
// RUN:   --expect='[3+2j, 4+3j, -3-2j, 0-3j]' --expect='[0.75+0.5j, 0-0.75j, -0.75-0.5j, 1+0.75j]'
func.func @complex(%x: tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) {
  %0 = array.fft %x type = "FFT" fft_lengths = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %1 = array.fft %x type = "IFFT" fft_lengths = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0, %1 : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
}

// RUN: array-run %s --entry=real --rtol=1e-10 --atol=1e-12 --input='[[1, 2, 3, 4, 5], [1, 0, 0, 0, 0]]' \
// RUN:   --input='[10, -2+2j, -2]' \
// RUN:   --expect='[[15+0j, -2.5+3.44095480118j, -2.5+0.812299240582j], [1+0j, 1+0j, 1+0j]]' \
// RUN:   --expect='[1, 2, 3, 4]'
func.func @real(%x: tensor<2x5xf64>, %z: tensor<3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>>, tensor<4xf64>) {
  %0 = array.fft %x type = "RFFT" fft_lengths = [5] : (tensor<2x5xf64>) -> tensor<2x3xcomplex<f64>>
  %1 = array.fft %z type = "IRFFT" fft_lengths = [4] : (tensor<3xcomplex<f64>>) -> tensor<4xf64>
  return %0, %1 : tensor<2x3xcomplex<f64>>, tensor<4xf64>
}

// RUN: array-run %s --entry=plane --atol=1e-6 --input='[[1, 2], [3, 4]]' --expect='[[10, -2], [-4, 0]]'
func.func @plane(%x: tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>> {
  %0 = array.fft %x type = "FFT" fft_lengths = [2, 2] : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  return %0 : tensor<2x2xcomplex<f32>>
}
