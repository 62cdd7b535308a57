// RUN: array-opt %s --convert-array-to-linalg=narrow-factors=true | FileCheck %s --check-prefix=NARROW
// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s --check-prefix=WIDE

// The highest precision widens the factors first, for processors that flush subnormal numbers. A GPU multiplies them as
// they are: the same numbers.
// NARROW-LABEL: func.func @product
// NARROW-NOT:     extf
// NARROW:         linalg.generic {{.*}}"reduction"]} ins(%arg0, %arg1 : tensor<8x8xbf16>, tensor<8x8xbf16>)
// NARROW:         arith.extf %{{.*}} : bf16 to f32
// NARROW:         arith.extf %{{.*}} : bf16 to f32
// WIDE-LABEL:   func.func @product
// WIDE:           linalg.generic {{.*}}"reduction"]} ins(%{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>)
func.func @product(%x: tensor<8x8xbf16>, %y: tensor<8x8xbf16>) -> tensor<8x8xf32> {
  %0 = array.convert %x : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %1 = array.convert %y : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %2 = array.dot_general %0, %1 contracting = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Factors of two types have no product of their own.
// NARROW-LABEL: func.func @mixed
// NARROW:         linalg.generic {{.*}}"reduction"]} ins(%{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>)
func.func @mixed(%x: tensor<8x8xbf16>, %y: tensor<8x8xf16>) -> tensor<8x8xf32> {
  %0 = array.convert %x : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %1 = array.convert %y : (tensor<8x8xf16>) -> tensor<8x8xf32>
  %2 = array.dot_general %0, %1 contracting = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
