// RUN: array-opt %s --convert-array-to-linalg --split-input-file --verify-diagnostics

// An op of another dialect on types that change.
func.func @foreign(%x: tensor<4xui32>, %c: index) -> tensor<4xui32> {
  // expected-error @below {{failed to legalize operation 'scf.for'}}
  %0 = scf.for %i = %c to %c step %c iter_args(%y = %x) -> tensor<4xui32> {
    scf.yield %y : tensor<4xui32>
  }
  return %0 : tensor<4xui32>
}
