// RUN: array-opt %s --array-link-device-library --verify-diagnostics

// expected-error @+1 {{the device library has no function 'special_unknown'}}
llvm.func @special_unknown(f64) -> f64
