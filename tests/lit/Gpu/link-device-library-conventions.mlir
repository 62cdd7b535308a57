// RUN: array-opt %s --array-link-device-library | FileCheck %s --implicit-check-not=fastcc

// Clang gives functions of a file calling conventions of their own. The copies have C's, and so have their calls: one by
// another convention would be undefined.
// CHECK: llvm.func internal @special_betaln(
llvm.func @special_betaln(f64, f64) -> f64
func.func @kernel(%x: f64) -> f64 {
  %y = llvm.call @special_betaln(%x, %x) : (f64, f64) -> f64
  return %y : f64
}
