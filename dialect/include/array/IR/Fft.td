// fft.
#ifndef ARRAY_IR_FFT_TD
#define ARRAY_IR_FFT_TD

include "array/IR/ArrayBase.td"

def Array_FftOp : Array_InferredOp<"fft"> {
  let summary = "the discrete Fourier transform over the last dimensions";
  let description = Array_Doc<[{
    The transform is over as many trailing dimensions as there are `fft_lengths`. `FFT` and `IFFT` (which divides by the
    number of elements) map complex arrays to complex arrays. `RFFT` maps a real array to the first `n / 2 + 1` entries
    of the last dimension of its spectrum, which determine the others; `IRFFT` is its inverse. The lengths are those of
    the real array.

    ```mlir
    %y = array.fft %x type = "RFFT" fft_lengths = [8] : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
    ```
  }], [{
    - C1: `fft_type` is one of `FFT`, `IFFT`, `RFFT`, `IRFFT`.
    - C2: there are 1 to rank `fft_lengths`.
    - C3: the element type is `f32` or `f64` for `RFFT`, complex for the others.
    - C4: the last dimensions of the operand are the lengths; for `IRFFT` the last one is `n / 2 + 1`.
    - C5: `sizes` has one operand for each `?` in `fft_lengths`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, StrAttr:$fft_type, DenseI64ArrayAttr:$fft_lengths, Variadic<Index>:$sizes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `type` `=` $fft_type `fft_lengths` `=` custom<Sizes>($fft_lengths) (`sizes` `(` $sizes^ `)`)? attr-dict
    `:` `(` type($operand) `)` `->` type($result)
  }];
}

#endif // ARRAY_IR_FFT_TD
