// RUN: array-opt %s --pass-pipeline='builtin.module(array-to-linalg,func.func(array-fuse-elementwise))' | FileCheck %s

// A long chain is fused two by two, and is one op in its order all the same.
// CHECK-LABEL: func.func @main
// CHECK:         linalg.generic
// CHECK-COUNT-6: math.exp
// CHECK:         math.sin
// CHECK-COUNT-6: math.exp
// CHECK:         math.sin
// CHECK-COUNT-6: math.exp
// CHECK:         math.sin
// CHECK-COUNT-6: math.exp
// CHECK:         math.sin
// CHECK-COUNT-6: math.exp
// CHECK:         math.sin
// CHECK-COUNT-6: math.exp
// CHECK:         math.sin
// CHECK-COUNT-6: math.exp
// CHECK:         math.sin
// CHECK-COUNT-6: math.exp
// CHECK:         math.sin
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = array.exp %x : tensor<64xf32>
  %1 = array.exp %0 : tensor<64xf32>
  %2 = array.exp %1 : tensor<64xf32>
  %3 = array.exp %2 : tensor<64xf32>
  %4 = array.exp %3 : tensor<64xf32>
  %5 = array.exp %4 : tensor<64xf32>
  %6 = array.sin %5 : tensor<64xf32>
  %7 = array.exp %6 : tensor<64xf32>
  %8 = array.exp %7 : tensor<64xf32>
  %9 = array.exp %8 : tensor<64xf32>
  %10 = array.exp %9 : tensor<64xf32>
  %11 = array.exp %10 : tensor<64xf32>
  %12 = array.exp %11 : tensor<64xf32>
  %13 = array.sin %12 : tensor<64xf32>
  %14 = array.exp %13 : tensor<64xf32>
  %15 = array.exp %14 : tensor<64xf32>
  %16 = array.exp %15 : tensor<64xf32>
  %17 = array.exp %16 : tensor<64xf32>
  %18 = array.exp %17 : tensor<64xf32>
  %19 = array.exp %18 : tensor<64xf32>
  %20 = array.sin %19 : tensor<64xf32>
  %21 = array.exp %20 : tensor<64xf32>
  %22 = array.exp %21 : tensor<64xf32>
  %23 = array.exp %22 : tensor<64xf32>
  %24 = array.exp %23 : tensor<64xf32>
  %25 = array.exp %24 : tensor<64xf32>
  %26 = array.exp %25 : tensor<64xf32>
  %27 = array.sin %26 : tensor<64xf32>
  %28 = array.exp %27 : tensor<64xf32>
  %29 = array.exp %28 : tensor<64xf32>
  %30 = array.exp %29 : tensor<64xf32>
  %31 = array.exp %30 : tensor<64xf32>
  %32 = array.exp %31 : tensor<64xf32>
  %33 = array.exp %32 : tensor<64xf32>
  %34 = array.sin %33 : tensor<64xf32>
  %35 = array.exp %34 : tensor<64xf32>
  %36 = array.exp %35 : tensor<64xf32>
  %37 = array.exp %36 : tensor<64xf32>
  %38 = array.exp %37 : tensor<64xf32>
  %39 = array.exp %38 : tensor<64xf32>
  %40 = array.exp %39 : tensor<64xf32>
  %41 = array.sin %40 : tensor<64xf32>
  %42 = array.exp %41 : tensor<64xf32>
  %43 = array.exp %42 : tensor<64xf32>
  %44 = array.exp %43 : tensor<64xf32>
  %45 = array.exp %44 : tensor<64xf32>
  %46 = array.exp %45 : tensor<64xf32>
  %47 = array.exp %46 : tensor<64xf32>
  %48 = array.sin %47 : tensor<64xf32>
  %49 = array.exp %48 : tensor<64xf32>
  %50 = array.exp %49 : tensor<64xf32>
  %51 = array.exp %50 : tensor<64xf32>
  %52 = array.exp %51 : tensor<64xf32>
  %53 = array.exp %52 : tensor<64xf32>
  %54 = array.exp %53 : tensor<64xf32>
  %55 = array.sin %54 : tensor<64xf32>
  return %55 : tensor<64xf32>
}
