// RUN: array-opt %s --array-expand-math --verify-diagnostics

func.func @matrix(%x: vector<4x8xf32>) -> vector<4x8xf32> {
  // expected-error@+1 {{array-expand-math: expected a scalar or a 1-D vector of f16, bf16, f32 or f64, found 'vector<4x8xf32>'}}
  %0 = math.exp %x : vector<4x8xf32>
  return %0 : vector<4x8xf32>
}
