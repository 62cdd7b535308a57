// RUN: array-opt %s --array-expand-bfloat16 | FileCheck %s

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: vector<16xbf16>, %[[Y:.*]]: vector<16xbf16>)
func.func @product(%x: vector<16xbf16>, %y: vector<16xbf16>) -> vector<16xbf16> {
  // CHECK: %[[XBITS:.*]] = arith.bitcast %[[X]] : vector<16xbf16> to vector<16xi16>
  // CHECK: %[[XWIDE:.*]] = arith.extui %[[XBITS]] : vector<16xi16> to vector<16xi32>
  // CHECK: %[[XUPPER:.*]] = arith.shli %[[XWIDE]]
  // CHECK: %[[A:.*]] = arith.bitcast %[[XUPPER]] : vector<16xi32> to vector<16xf32>
  // CHECK: %[[B:.*]] = arith.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>
  // CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[B]] fastmath<contract> : vector<16xf32>
  // CHECK-NOT: arith.truncf
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[P]] : vector<16xf32> to vector<16xi32>
  // CHECK: %[[UPPER:.*]] = arith.shrui %[[BITS]], %{{.*}}
  // CHECK: %[[ODD:.*]] = arith.andi %[[UPPER]], %{{.*}}
  // CHECK: arith.addi %{{.*}}, %[[ODD]]
  // CHECK: arith.cmpf uno, %[[P]], %[[P]]
  // CHECK: %[[R:.*]] = arith.bitcast %{{.*}} : vector<16xi16> to vector<16xbf16>
  // CHECK: return %[[R]]
  %p = arith.mulf %x, %y fastmath<contract> : vector<16xbf16>
  return %p : vector<16xbf16>
}

// Moves stay; comparisons are of f32, for which code generators have vectors.
// CHECK-LABEL: func.func @choice(
// CHECK-COUNT-2: arith.shli
// CHECK: arith.bitcast
// CHECK-NEXT: arith.cmpf olt, {{.*}} : f32
// CHECK-NEXT: arith.select {{.*}} : bf16
// CHECK-NEXT: return
func.func @choice(%x: bf16, %y: bf16) -> bf16 {
  %p = arith.cmpf olt, %x, %y : bf16
  %r = arith.select %p, %x, %y : bf16
  return %r : bf16
}

// CHECK-LABEL: func.func @other_roundings(
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @other_roundings(%x: f32, %y: f64) -> (f16, f32) {
  %a = arith.truncf %x : f32 to f16
  %b = arith.truncf %y : f64 to f32
  return %a, %b : f16, f32
}

// Masked moves are moves of integers.
// CHECK-LABEL: func.func @masked(
// CHECK-SAME: %[[FROM:.*]]: memref<64xbf16>, %[[TO:.*]]: memref<64xbf16>, %[[MASK:.*]]: vector<16xi1>
// CHECK: %[[BITS:.*]] = builtin.unrealized_conversion_cast %[[FROM]] : memref<64xbf16> to memref<64xi16>
// CHECK: %[[X:.*]] = vector.maskedload %[[BITS]][%{{.*}}], %[[MASK]], %{{.*}} : memref<64xi16>, vector<16xi1>, vector<16xi16> into vector<16xi16>
// CHECK: %[[Y:.*]] = builtin.unrealized_conversion_cast %[[TO]] : memref<64xbf16> to memref<64xi16>
// CHECK: vector.maskedstore %[[Y]][%{{.*}}], %[[MASK]], %{{.*}} : memref<64xi16>, vector<16xi1>, vector<16xi16>
func.func @masked(%from: memref<64xbf16>, %to: memref<64xbf16>, %mask: vector<16xi1>, %at: index) {
  %zeros = arith.constant dense<0.0> : vector<16xbf16>
  %x = vector.maskedload %from[%at], %mask, %zeros : memref<64xbf16>, vector<16xi1>, vector<16xbf16> into vector<16xbf16>
  vector.maskedstore %to[%at], %mask, %x : memref<64xbf16>, vector<16xi1>, vector<16xbf16>
  return
}

// So are moves between lanes, and selections lane by lane.
// CHECK-LABEL: func.func @lanes(
// CHECK-SAME: %[[X:.*]]: vector<16xbf16>, %[[Y:.*]]: vector<16xbf16>, %[[MASK:.*]]: vector<16xi1>)
// CHECK-DAG: %[[A:.*]] = arith.bitcast %[[X]] : vector<16xbf16> to vector<16xi16>
// CHECK-DAG: %[[B:.*]] = arith.bitcast %[[Y]] : vector<16xbf16> to vector<16xi16>
// CHECK: %[[S:.*]] = vector.shuffle %[[A]], %[[B]] [0, 16] : vector<16xi16>, vector<16xi16>
// CHECK: arith.bitcast %[[S]] : vector<2xi16> to vector<2xbf16>
// CHECK: %[[C:.*]] = arith.select %[[MASK]], %{{.*}}, %{{.*}} : vector<16xi1>, vector<16xi16>
// CHECK: arith.bitcast %[[C]] : vector<16xi16> to vector<16xbf16>
func.func @lanes(%x: vector<16xbf16>, %y: vector<16xbf16>, %mask: vector<16xi1>) -> (vector<2xbf16>, vector<16xbf16>) {
  %s = vector.shuffle %x, %y [0, 16] : vector<16xbf16>, vector<16xbf16>
  %c = arith.select %mask, %x, %y : vector<16xi1>, vector<16xbf16>
  return %s, %c : vector<2xbf16>, vector<16xbf16>
}
