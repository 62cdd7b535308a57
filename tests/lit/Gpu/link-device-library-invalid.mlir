// RUN: array-opt %s --array-link-device-library --split-input-file --verify-diagnostics

// expected-error @+1 {{the device library has no function 'special_unknown'}}
llvm.func @special_unknown(f64) -> f64

// -----

llvm.func @sort_copy_4(!llvm.ptr, !llvm.ptr, i64)
func.func @host(%from: !llvm.ptr, %to: !llvm.ptr, %count: i64) {
  // expected-error @+1 {{calls the device function 'sort_copy_4', which is for threads of a kernel, outside of a 'gpu.launch'}}
  llvm.call @sort_copy_4(%from, %to, %count) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  return
}
