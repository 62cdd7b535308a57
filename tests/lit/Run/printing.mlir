// UNSUPPORTED: gpu

// Printed results can be given as an input again.

// RUN: array-run %s --input='[[1.5, -0], [nan, 1e-30]]' --input='[1+2j, -0.5-1e20j]' --input='[true, false]' | FileCheck %s
// CHECK: {{^}}result 0: tensor<2x2xf32> = {{\[}}[1.5, -0], [nan, 1e-30]]{{$}}
// CHECK-NEXT: {{^}}result 1: tensor<2xcomplex<f32>> = [1+2j, -0.5-1e+20j]{{$}}
// CHECK-NEXT: {{^}}result 2: tensor<2xi1> = [true, false]{{$}}
// CHECK-NEXT: {{^}}result 3: tensor<i8> = -128{{$}}
// CHECK-NOT: {{.}}

// By number, the others in order; from stdin.
// RUN: array-run - --input=1='[1j, 2]' --input=fill:1 --input=fill:true --print=type < %s | FileCheck %s --check-prefix=TYPE
// TYPE: {{^}}result 0: tensor<2x2xf32>{{$}}
// TYPE-NEXT: {{^}}result 1: tensor<2xcomplex<f32>>{{$}}

// RUN: array-run %s --input=fill:1 --input=fill:1 --input=fill:true --print=none | count 0
// RUN: array-run %s --input=fill:1 --input=fill:1 --input=fill:true --expect=fill:1 | count 0
func.func @main(%x: tensor<2x2xf32>, %z: tensor<2xcomplex<f32>>, %p: tensor<2xi1>)
    -> (tensor<2x2xf32>, tensor<2xcomplex<f32>>, tensor<2xi1>, tensor<i8>) {
  %n = array.constant dense<-128> : tensor<i8>
  return %x, %z, %p, %n : tensor<2x2xf32>, tensor<2xcomplex<f32>>, tensor<2xi1>, tensor<i8>
}

// RUN: array-run %s --entry=large | FileCheck %s --check-prefix=SHORT
// SHORT: tensor<1001xi32> = [0, 1, 2, ..., 998, 999, 1000]
// RUN: array-run %s --entry=large --print=full | FileCheck %s --check-prefix=FULL
// FULL: tensor<1001xi32> = [0, 1, 2, 3, {{.*}} 500, {{.*}} 997, 998, 999, 1000]
func.func @large() -> tensor<1001xi32> {
  %i = array.iota dimension = 0 : tensor<1001xi32>
  return %i : tensor<1001xi32>
}

// RUN: array-run %s --entry=large --time --repeat=3 | FileCheck %s --check-prefix=TIME
// TIME: {{^}}time of 3 runs on cpu:0: median {{[0-9.]+}} {{us|ms}}, least {{[0-9.]+}} {{us|ms}}; compiled in {{[0-9.]+}} ms
