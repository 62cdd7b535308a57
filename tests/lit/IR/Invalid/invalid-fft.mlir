// RUN: array-opt %s --split-input-file --verify-diagnostics

func.func @type(%x: tensor<8xcomplex<f32>>) {
  // expected-error @+1 {{'array.fft' op fft_type is "DCT", expected FFT, IFFT, RFFT or IRFFT (C1)}}
  %0 = array.fft %x type = "DCT" fft_lengths = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @count(%x: tensor<8xcomplex<f32>>) {
  // expected-error @+1 {{'array.fft' op has 2 fft_lengths, expected 1 to 1 (C2)}}
  %0 = array.fft %x type = "FFT" fft_lengths = [1, 8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @element(%x: tensor<8xcomplex<f32>>) {
  // expected-error @+1 {{'array.fft' op element type is 'complex<f32>', expected f32 or f64 (C3)}}
  %0 = array.fft %x type = "RFFT" fft_lengths = [8] : (tensor<8xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return
}

// -----

func.func @lengths(%x: tensor<3x8xcomplex<f32>>) {
  // expected-error @+1 {{'array.fft' op dimension 1 of 'tensor<3x8xcomplex<f32>>' is not 5 (C4)}}
  %0 = array.fft %x type = "IRFFT" fft_lengths = [8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xf32>
  return
}
