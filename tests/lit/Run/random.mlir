// The hash threefry2x32, against the known answers of its authors (Random123 1.14, kat_vectors).

// RUN: array-run %s --entry=threefry --input='[0, 0xffffffff, 0x13198a2e]' --input='[0, 0xffffffff, 0x03707344]' \
// RUN:   --input='[0, 0xffffffff, 0x243f6a88]' --input='[0, 0xffffffff, 0x85a308d3]' \
// RUN:   --expect='[0x6b200159, 0x1cb996fc, 0xc4923a9c]' --expect='[0x99ba4efe, 0xbb002be7, 0x483df7a0]'
func.func @threefry(%k0: tensor<3xui32>, %k1: tensor<3xui32>, %x0: tensor<3xui32>, %x1: tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>) {
  %y0, %y1 = array.threefry2x32 %k0, %k1, %x0, %x1 : tensor<3xui32>
  return %y0, %y1 : tensor<3xui32>, tensor<3xui32>
}
