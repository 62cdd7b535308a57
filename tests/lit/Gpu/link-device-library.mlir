// RUN: array-opt %s --array-link-device-library | FileCheck %s

// What a function calls, and the constants that it reads, come with it, and no more; the C library's functions are
// operations. All are for no target.
// CHECK:       llvm.mlir.global internal unnamed_addr constant @[[TABLE:.*coefficients]](
// CHECK-NOT:   llvm.func {{.*}}target
// CHECK:       llvm.func internal @[[SPENCE:.*spence.*]](%{{.*}}: f64) -> f64 attributes {sym_visibility = "private"} {
// CHECK:         llvm.mlir.addressof @[[TABLE]]
// CHECK:         math.log
// CHECK:         math.log1p
// CHECK:       llvm.func internal @special_spence(%{{.*}}: f64) -> f64 attributes {sym_visibility = "private"} {
// CHECK:         llvm.call {{.*}}@[[SPENCE]](
// CHECK-NOT:   llvm.func
// CHECK-LABEL: func.func @kernel(
// CHECK:         llvm.call @special_spence
llvm.func @special_spence(f64) -> f64
func.func @kernel(%x: f64) -> f64 {
  %y = llvm.call @special_spence(%x) : (f64) -> f64
  return %y : f64
}
