// RUN: array-opt %s --pass-pipeline='builtin.module(array-to-linalg,func.func(array-fuse-elementwise))' | FileCheck %s

// A sum of many terms becomes one op in its order, which reads x once: bodies move, and equal operands are one.
// CHECK-LABEL: func.func @main
// CHECK:         linalg.generic {{.*}} ins(%{{[^,]*}} : tensor<64xf32>)
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[P0:.*]] = arith.mulf %[[X]], %{{.*}}
// CHECK-NEXT:      %[[S0:.*]] = arith.addf %[[X]], %[[P0]]
// CHECK-NEXT:      %[[P1:.*]] = arith.mulf %[[X]], %{{.*}}
// CHECK-NEXT:      %[[S1:.*]] = arith.addf %[[S0]], %[[P1]]
// CHECK-COUNT-28: arith.mulf %[[X]]
// CHECK:           linalg.yield
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = array.constant dense<2.5> : tensor<64xf32>
  %p0 = array.mul %x, %c0 : tensor<64xf32>
  %s0 = array.add %x, %p0 : tensor<64xf32>
  %c1 = array.constant dense<3.5> : tensor<64xf32>
  %p1 = array.mul %x, %c1 : tensor<64xf32>
  %s1 = array.add %s0, %p1 : tensor<64xf32>
  %c2 = array.constant dense<4.5> : tensor<64xf32>
  %p2 = array.mul %x, %c2 : tensor<64xf32>
  %s2 = array.add %s1, %p2 : tensor<64xf32>
  %c3 = array.constant dense<5.5> : tensor<64xf32>
  %p3 = array.mul %x, %c3 : tensor<64xf32>
  %s3 = array.add %s2, %p3 : tensor<64xf32>
  %c4 = array.constant dense<6.5> : tensor<64xf32>
  %p4 = array.mul %x, %c4 : tensor<64xf32>
  %s4 = array.add %s3, %p4 : tensor<64xf32>
  %c5 = array.constant dense<7.5> : tensor<64xf32>
  %p5 = array.mul %x, %c5 : tensor<64xf32>
  %s5 = array.add %s4, %p5 : tensor<64xf32>
  %c6 = array.constant dense<8.5> : tensor<64xf32>
  %p6 = array.mul %x, %c6 : tensor<64xf32>
  %s6 = array.add %s5, %p6 : tensor<64xf32>
  %c7 = array.constant dense<9.5> : tensor<64xf32>
  %p7 = array.mul %x, %c7 : tensor<64xf32>
  %s7 = array.add %s6, %p7 : tensor<64xf32>
  %c8 = array.constant dense<10.5> : tensor<64xf32>
  %p8 = array.mul %x, %c8 : tensor<64xf32>
  %s8 = array.add %s7, %p8 : tensor<64xf32>
  %c9 = array.constant dense<11.5> : tensor<64xf32>
  %p9 = array.mul %x, %c9 : tensor<64xf32>
  %s9 = array.add %s8, %p9 : tensor<64xf32>
  %c10 = array.constant dense<12.5> : tensor<64xf32>
  %p10 = array.mul %x, %c10 : tensor<64xf32>
  %s10 = array.add %s9, %p10 : tensor<64xf32>
  %c11 = array.constant dense<13.5> : tensor<64xf32>
  %p11 = array.mul %x, %c11 : tensor<64xf32>
  %s11 = array.add %s10, %p11 : tensor<64xf32>
  %c12 = array.constant dense<14.5> : tensor<64xf32>
  %p12 = array.mul %x, %c12 : tensor<64xf32>
  %s12 = array.add %s11, %p12 : tensor<64xf32>
  %c13 = array.constant dense<15.5> : tensor<64xf32>
  %p13 = array.mul %x, %c13 : tensor<64xf32>
  %s13 = array.add %s12, %p13 : tensor<64xf32>
  %c14 = array.constant dense<16.5> : tensor<64xf32>
  %p14 = array.mul %x, %c14 : tensor<64xf32>
  %s14 = array.add %s13, %p14 : tensor<64xf32>
  %c15 = array.constant dense<17.5> : tensor<64xf32>
  %p15 = array.mul %x, %c15 : tensor<64xf32>
  %s15 = array.add %s14, %p15 : tensor<64xf32>
  %c16 = array.constant dense<18.5> : tensor<64xf32>
  %p16 = array.mul %x, %c16 : tensor<64xf32>
  %s16 = array.add %s15, %p16 : tensor<64xf32>
  %c17 = array.constant dense<19.5> : tensor<64xf32>
  %p17 = array.mul %x, %c17 : tensor<64xf32>
  %s17 = array.add %s16, %p17 : tensor<64xf32>
  %c18 = array.constant dense<20.5> : tensor<64xf32>
  %p18 = array.mul %x, %c18 : tensor<64xf32>
  %s18 = array.add %s17, %p18 : tensor<64xf32>
  %c19 = array.constant dense<21.5> : tensor<64xf32>
  %p19 = array.mul %x, %c19 : tensor<64xf32>
  %s19 = array.add %s18, %p19 : tensor<64xf32>
  %c20 = array.constant dense<22.5> : tensor<64xf32>
  %p20 = array.mul %x, %c20 : tensor<64xf32>
  %s20 = array.add %s19, %p20 : tensor<64xf32>
  %c21 = array.constant dense<23.5> : tensor<64xf32>
  %p21 = array.mul %x, %c21 : tensor<64xf32>
  %s21 = array.add %s20, %p21 : tensor<64xf32>
  %c22 = array.constant dense<24.5> : tensor<64xf32>
  %p22 = array.mul %x, %c22 : tensor<64xf32>
  %s22 = array.add %s21, %p22 : tensor<64xf32>
  %c23 = array.constant dense<25.5> : tensor<64xf32>
  %p23 = array.mul %x, %c23 : tensor<64xf32>
  %s23 = array.add %s22, %p23 : tensor<64xf32>
  %c24 = array.constant dense<26.5> : tensor<64xf32>
  %p24 = array.mul %x, %c24 : tensor<64xf32>
  %s24 = array.add %s23, %p24 : tensor<64xf32>
  %c25 = array.constant dense<27.5> : tensor<64xf32>
  %p25 = array.mul %x, %c25 : tensor<64xf32>
  %s25 = array.add %s24, %p25 : tensor<64xf32>
  %c26 = array.constant dense<28.5> : tensor<64xf32>
  %p26 = array.mul %x, %c26 : tensor<64xf32>
  %s26 = array.add %s25, %p26 : tensor<64xf32>
  %c27 = array.constant dense<29.5> : tensor<64xf32>
  %p27 = array.mul %x, %c27 : tensor<64xf32>
  %s27 = array.add %s26, %p27 : tensor<64xf32>
  %c28 = array.constant dense<30.5> : tensor<64xf32>
  %p28 = array.mul %x, %c28 : tensor<64xf32>
  %s28 = array.add %s27, %p28 : tensor<64xf32>
  %c29 = array.constant dense<31.5> : tensor<64xf32>
  %p29 = array.mul %x, %c29 : tensor<64xf32>
  %s29 = array.add %s28, %p29 : tensor<64xf32>
  return %s29 : tensor<64xf32>
}
