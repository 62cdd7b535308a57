// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// Elementwise ops are printed with one type, unless dynamic dimensions make the types differ.

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<4x5xf32>) {
  // CHECK: %{{.*}} = array.neg %{{.*}} : tensor<4x5xf32>
  %0 = array.neg %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.sign %{{.*}} : tensor<4x5xf32>
  %1 = array.sign %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.abs %{{.*}} : tensor<4x5xf32>
  %2 = array.abs %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.floor %{{.*}} : tensor<4x5xf32>
  %3 = array.floor %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.ceil %{{.*}} : tensor<4x5xf32>
  %4 = array.ceil %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.round %{{.*}} : tensor<4x5xf32>
  %5 = array.round %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.exp %{{.*}} : tensor<4x5xf32>
  %6 = array.exp %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.exp2 %{{.*}} : tensor<4x5xf32>
  %7 = array.exp2 %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.expm1 %{{.*}} : tensor<4x5xf32>
  %8 = array.expm1 %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.log %{{.*}} : tensor<4x5xf32>
  %9 = array.log %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.log1p %{{.*}} : tensor<4x5xf32>
  %10 = array.log1p %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.sin %{{.*}} : tensor<4x5xf32>
  %11 = array.sin %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.cos %{{.*}} : tensor<4x5xf32>
  %12 = array.cos %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.tan %{{.*}} : tensor<4x5xf32>
  %13 = array.tan %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.tanh %{{.*}} : tensor<4x5xf32>
  %14 = array.tanh %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.sqrt %{{.*}} : tensor<4x5xf32>
  %15 = array.sqrt %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.rsqrt %{{.*}} : tensor<4x5xf32>
  %16 = array.rsqrt %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.cbrt %{{.*}} : tensor<4x5xf32>
  %17 = array.cbrt %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.logistic %{{.*}} : tensor<4x5xf32>
  %18 = array.logistic %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.erf %{{.*}} : tensor<4x5xf32>
  %19 = array.erf %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.erf_inv %{{.*}} : tensor<4x5xf32>
  %20 = array.erf_inv %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.stop_gradient %{{.*}} : tensor<4x5xf32>
  %21 = array.stop_gradient %x : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.is_finite %{{.*}} : tensor<4x5xf32>
  %22 = array.is_finite %x : tensor<4x5xf32>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<4xbf16>, %y: tensor<4xbf16>) {
  // CHECK: %{{.*}} = array.add %{{.*}}, %{{.*}} : tensor<4xbf16>
  %0 = array.add %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.sub %{{.*}}, %{{.*}} : tensor<4xbf16>
  %1 = array.sub %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.mul %{{.*}}, %{{.*}} : tensor<4xbf16>
  %2 = array.mul %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.div %{{.*}}, %{{.*}} : tensor<4xbf16>
  %3 = array.div %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.rem %{{.*}}, %{{.*}} : tensor<4xbf16>
  %4 = array.rem %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.pow %{{.*}}, %{{.*}} : tensor<4xbf16>
  %5 = array.pow %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.max %{{.*}}, %{{.*}} : tensor<4xbf16>
  %6 = array.max %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.min %{{.*}}, %{{.*}} : tensor<4xbf16>
  %7 = array.min %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.atan2 %{{.*}}, %{{.*}} : tensor<4xbf16>
  %8 = array.atan2 %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.eq %{{.*}}, %{{.*}} : tensor<4xbf16>
  %9 = array.eq %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.ne %{{.*}}, %{{.*}} : tensor<4xbf16>
  %10 = array.ne %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.lt %{{.*}}, %{{.*}} : tensor<4xbf16>
  %11 = array.lt %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.le %{{.*}}, %{{.*}} : tensor<4xbf16>
  %12 = array.le %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.gt %{{.*}}, %{{.*}} : tensor<4xbf16>
  %13 = array.gt %x, %y : tensor<4xbf16>
  // CHECK: %{{.*}} = array.ge %{{.*}}, %{{.*}} : tensor<4xbf16>
  %14 = array.ge %x, %y : tensor<4xbf16>
  return
}

// CHECK-LABEL: @integers
func.func @integers(%x: tensor<ui8>, %y: tensor<ui8>, %s: tensor<3xi64>, %b: tensor<2xi1>) {
  // CHECK: %{{.*}} = array.add %{{.*}}, %{{.*}} : tensor<ui8>
  %0 = array.add %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.sub %{{.*}}, %{{.*}} : tensor<ui8>
  %1 = array.sub %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.mul %{{.*}}, %{{.*}} : tensor<ui8>
  %2 = array.mul %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.div %{{.*}}, %{{.*}} : tensor<ui8>
  %3 = array.div %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.rem %{{.*}}, %{{.*}} : tensor<ui8>
  %4 = array.rem %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.pow %{{.*}}, %{{.*}} : tensor<ui8>
  %5 = array.pow %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.max %{{.*}}, %{{.*}} : tensor<ui8>
  %6 = array.max %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.min %{{.*}}, %{{.*}} : tensor<ui8>
  %7 = array.min %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.and %{{.*}}, %{{.*}} : tensor<ui8>
  %8 = array.and %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.or %{{.*}}, %{{.*}} : tensor<ui8>
  %9 = array.or %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.xor %{{.*}}, %{{.*}} : tensor<ui8>
  %10 = array.xor %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.shift_left %{{.*}}, %{{.*}} : tensor<ui8>
  %11 = array.shift_left %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.shift_right_arithmetic %{{.*}}, %{{.*}} : tensor<ui8>
  %12 = array.shift_right_arithmetic %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.shift_right_logical %{{.*}}, %{{.*}} : tensor<ui8>
  %13 = array.shift_right_logical %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.eq %{{.*}}, %{{.*}} : tensor<ui8>
  %14 = array.eq %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.lt %{{.*}}, %{{.*}} : tensor<ui8>
  %15 = array.lt %x, %y : tensor<ui8>
  // CHECK: %{{.*}} = array.abs %{{.*}} : tensor<3xi64>
  %16 = array.abs %s : tensor<3xi64>
  // CHECK: %{{.*}} = array.neg %{{.*}} : tensor<3xi64>
  %17 = array.neg %s : tensor<3xi64>
  // CHECK: %{{.*}} = array.sign %{{.*}} : tensor<3xi64>
  %18 = array.sign %s : tensor<3xi64>
  // CHECK: %{{.*}} = array.not %{{.*}} : tensor<3xi64>
  %19 = array.not %s : tensor<3xi64>
  // CHECK: %{{.*}} = array.and %{{.*}}, %{{.*}} : tensor<2xi1>
  %20 = array.and %b, %b : tensor<2xi1>
  // CHECK: %{{.*}} = array.or %{{.*}}, %{{.*}} : tensor<2xi1>
  %21 = array.or %b, %b : tensor<2xi1>
  // CHECK: %{{.*}} = array.xor %{{.*}}, %{{.*}} : tensor<2xi1>
  %22 = array.xor %b, %b : tensor<2xi1>
  // CHECK: %{{.*}} = array.max %{{.*}}, %{{.*}} : tensor<2xi1>
  %23 = array.max %b, %b : tensor<2xi1>
  // CHECK: %{{.*}} = array.min %{{.*}}, %{{.*}} : tensor<2xi1>
  %24 = array.min %b, %b : tensor<2xi1>
  // CHECK: %{{.*}} = array.eq %{{.*}}, %{{.*}} : tensor<2xi1>
  %25 = array.eq %b, %b : tensor<2xi1>
  // CHECK: %{{.*}} = array.not %{{.*}} : tensor<2xi1>
  %26 = array.not %b : tensor<2xi1>
  return
}

// CHECK-LABEL: @others
func.func @others(%p: tensor<4xi1>, %x: tensor<4xf16>, %k: tensor<4xui32>) {
  // CHECK: %{{.*}} = array.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf16>
  %0 = array.select %p, %x, %x : tensor<4xf16>
  // CHECK: %{{.*}} = array.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>
  %1 = array.select %p, %p, %p : tensor<4xi1>
  // CHECK: %{{.*}} = array.convert %{{.*}} : (tensor<4xf16>) -> tensor<4xi32>
  %2 = array.convert %x : (tensor<4xf16>) -> tensor<4xi32>
  // CHECK: %{{.*}} = array.convert %{{.*}} : (tensor<4xi1>) -> tensor<4xf64>
  %3 = array.convert %p : (tensor<4xi1>) -> tensor<4xf64>
  // CHECK: %{{.*}} = array.bitcast %{{.*}} : (tensor<4xui32>) -> tensor<4xf32>
  %4 = array.bitcast %k : (tensor<4xui32>) -> tensor<4xf32>
  // CHECK: %{{.*}}, %{{.*}} = array.threefry2x32 %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xui32>
  %y0, %y1 = array.threefry2x32 %k, %k, %k, %k : tensor<4xui32>
  return
}

// CHECK-LABEL: @dynamic
func.func @dynamic(%x: tensor<?x5xf32>, %y: tensor<4x?xf32>, %p: tensor<?x?xi1>, %k: tensor<?xui32>, %m: tensor<4xui32>) {
  // CHECK: %{{.*}} = array.exp %{{.*}} : tensor<?x5xf32>
  %0 = array.exp %x : tensor<?x5xf32>
  // CHECK: %{{.*}} = array.exp %{{.*}} : (tensor<?x5xf32>) -> tensor<4x5xf32>
  %1 = array.exp %x : (tensor<?x5xf32>) -> tensor<4x5xf32>
  // CHECK: %{{.*}} = array.add %{{.*}}, %{{.*}} : tensor<?x5xf32>
  %2 = array.add %x, %x : tensor<?x5xf32>
  // CHECK: %{{.*}} = array.add %{{.*}}, %{{.*}} : (tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<4x5xf32>
  %3 = array.add %x, %y : (tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<4x5xf32>
  // CHECK: %{{.*}} = array.add %{{.*}}, %{{.*}} : (tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  %4 = array.add %x, %y : (tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  // CHECK: %{{.*}} = array.lt %{{.*}}, %{{.*}} : tensor<?x5xf32>
  %5 = array.lt %x, %x : tensor<?x5xf32>
  // CHECK: %{{.*}} = array.lt %{{.*}}, %{{.*}} : (tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<4x5xi1>
  %6 = array.lt %x, %y : (tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<4x5xi1>
  // CHECK: %{{.*}} = array.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x?xi1>, tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<4x5xf32>
  %7 = array.select %p, %x, %y : (tensor<?x?xi1>, tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<4x5xf32>
  // CHECK: %{{.*}} = array.convert %{{.*}} : (tensor<?x5xf32>) -> tensor<4x?xi32>
  %8 = array.convert %x : (tensor<?x5xf32>) -> tensor<4x?xi32>
  // CHECK: %{{.*}} = array.bitcast %{{.*}} : (tensor<?x5xf32>) -> tensor<?x5xi32>
  %9 = array.bitcast %x : (tensor<?x5xf32>) -> tensor<?x5xi32>
  // CHECK: %{{.*}}, %{{.*}} = array.threefry2x32 %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?xui32>, tensor<?xui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
  %y0, %y1 = array.threefry2x32 %k, %k, %m, %m : (tensor<?xui32>, tensor<?xui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
  return
}
