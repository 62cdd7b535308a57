// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// CHECK-LABEL: @fft
func.func @fft(%z: tensor<3x8xcomplex<f32>>, %x: tensor<3x8xf64>, %h: tensor<?x5xcomplex<f32>>) {
  // CHECK: array.fft %{{.*}} type = "FFT" fft_lengths = [3, 8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>
  %0 = array.fft %z type = "FFT" fft_lengths = [3, 8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>
  // CHECK: array.fft %{{.*}} type = "IFFT" fft_lengths = [8]
  %1 = array.fft %z type = "IFFT" fft_lengths = [8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>
  // CHECK: array.fft %{{.*}} type = "RFFT" fft_lengths = [8] : (tensor<3x8xf64>) -> tensor<3x5xcomplex<f64>>
  %2 = array.fft %x type = "RFFT" fft_lengths = [8] : (tensor<3x8xf64>) -> tensor<3x5xcomplex<f64>>
  // CHECK: array.fft %{{.*}} type = "IRFFT" fft_lengths = [9] : (tensor<?x5xcomplex<f32>>) -> tensor<?x9xf32>
  %3 = array.fft %h type = "IRFFT" fft_lengths = [9] : (tensor<?x5xcomplex<f32>>) -> tensor<?x9xf32>
  return
}
