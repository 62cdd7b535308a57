// Comparison with expected arrays: within a tolerance, or the places that differ, and the status 2.

// RUN: array-run %s --input='[1, nan, inf, 2]' --expect='[2, nan, inf, 4]'
// RUN: array-run %s --input='[1, nan, inf, 2]' --expect='[2.0002, nan, inf, 4]' --rtol=1e-3
// RUN: array-run %s --input='[1, nan, inf, 2]' --expect='[2.0002, nan, inf, 4]' --atol=1e-3 --rtol=0
// RUN: not array-run %s --input='[1, nan, inf, 2]' --expect='[2.0002, nan, inf, 4]' 2>&1 | FileCheck %s --check-prefix=NEAR
// NEAR: array-run: result 0 differs from what is expected in 1 of 4 elements (rtol=1e-05, atol=1e-08):
// NEAR-NEXT: {{^}}  at [0]: 2, expected 2.0002

// RUN: bash -c 'array-run "$0" --input="[1, nan, inf, 2]" --expect="[2, 0, -inf, nan]" 2>&1; test $? = 2' %s \
// RUN:   | FileCheck %s --check-prefix=FAR
// FAR: differs from what is expected in 3 of 4 elements
// FAR-NEXT: {{^}}  at [1]: nan, expected 0
// FAR-NEXT: {{^}}  at [2]: inf, expected -inf
// FAR-NEXT: {{^}}  at [3]: 4, expected nan
// FAR-NOT: {{.}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Integers have to be equal, for any tolerance. Results without an expected array are not compared.
// RUN: array-run %s --entry=integers --input='[[1, -9223372036854775808]]' --expect='1=[[true, false]]'
// RUN: not array-run %s --entry=integers --input='[[1, -9223372036854775808]]' --rtol=1 \
// RUN:   --expect='[[1, -9223372036854775807]]' --expect='[[true, true]]' 2>&1 | FileCheck %s --check-prefix=INTEGERS
// INTEGERS: result 0 differs from what is expected in 1 of 2 elements:
// INTEGERS-NEXT: {{^}}  at [0,1]: -9223372036854775808, expected -9223372036854775807
// INTEGERS: result 1 differs from what is expected in 1 of 2 elements:
// INTEGERS-NEXT: {{^}}  at [0,1]: false, expected true
func.func @integers(%x: tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi1>) {
  %zero = array.constant dense<0> : tensor<1x2xi64>
  %p = array.gt %x, %zero : (tensor<1x2xi64>, tensor<1x2xi64>) -> tensor<1x2xi1>
  return %x, %p : tensor<1x2xi64>, tensor<1x2xi1>
}

// Complex numbers by their distance: 0.03 of 5.
// RUN: array-run %s --entry=numbers --input=3+4j --expect=3.03+4j --rtol=0.007
// RUN: not array-run %s --entry=numbers --input=3+4j --expect=3.03+4j --rtol=0.005 2>&1 | FileCheck %s --check-prefix=COMPLEX
// COMPLEX: {{^}}  at []: 3+4j, expected 3.03+4j
func.func @numbers(%z: tensor<complex<f64>>) -> tensor<complex<f64>> {
  return %z : tensor<complex<f64>>
}

// The first ten places.
// RUN: not array-run %s --entry=many --input=fill:1 --expect=fill:2 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: in 100 of 100 elements
// MANY-COUNT-10: : 1, expected 2
// MANY-NEXT: {{^}}  and 90 more
func.func @many(%x: tensor<100xi32>) -> tensor<100xi32> {
  return %x : tensor<100xi32>
}
