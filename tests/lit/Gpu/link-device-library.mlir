// RUN: array-opt %s --array-link-device-library | FileCheck %s

// The callees of a function, and the constants that it reads, are linked with it, and no more; the C library's
// functions are operations. All are without a target.
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

// A function that uses the thread's numbers becomes a part of the kernel.
// CHECK-LABEL: func.func @copy(
// CHECK:         gpu.launch
// CHECK-NOT:       llvm.call
// CHECK-DAG:       gpu.block_id
// CHECK-DAG:       gpu.block_dim
// CHECK-DAG:       gpu.thread_id
// CHECK:           llvm.cond_br
// CHECK:           llvm.load
// CHECK:           llvm.store
// CHECK:           gpu.terminator
llvm.func @sort_copy_4(!llvm.ptr, !llvm.ptr, i64)
func.func @copy(%from: !llvm.ptr, %to: !llvm.ptr) {
  %one = arith.constant 1 : index
  %threads = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
    %count = llvm.mlir.constant(20 : i64) : i64
    llvm.call @sort_copy_4(%from, %to, %count) : (!llvm.ptr, !llvm.ptr, i64) -> ()
    gpu.terminator
  }
  return
}
