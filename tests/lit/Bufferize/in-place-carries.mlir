// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-in-place-carries))' | FileCheck %s
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-in-place-carries),eliminate-empty-tensors,one-shot-bufferize,canonicalize)' | FileCheck %s --check-prefix=BUFFERS
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-in-place-carries{copy-carries=true}),eliminate-empty-tensors,one-shot-bufferize,canonicalize)' | FileCheck %s --check-prefix=COPIES

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<() -> ()>
#matrix = affine_map<(d0, d1) -> (d0, d1)>

// A counter is carried in a register; a tensor is updated in place, and starts as a copy of the argument.
// CHECK-LABEL: func.func @update(
// BUFFERS-LABEL: func.func @update(
// BUFFERS-SAME: %[[A:.*]]: memref<8xf32>, %[[N:.*]]: memref<i32>, %[[OUT:.*]]: memref<8xf32>)
func.func @update(%a: memref<8xf32>, %n: memref<i32>, %out: memref<8xf32>) {
  %x = bufferization.to_tensor %a restrict : memref<8xf32> to tensor<8xf32>
  %limit = bufferization.to_tensor %n restrict : memref<i32> to tensor<i32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %empty = tensor.empty() : tensor<i32>
  %zero = linalg.fill ins(%c0 : i32) outs(%empty : tensor<i32>) -> tensor<i32>
  // CHECK: %[[COPY:.*]] = bufferization.materialize_in_destination %{{.*}} in %{{.*}} : (tensor<8xf32>, tensor<8xf32>)
  // CHECK: scf.while (%[[I:.*]] = %c0_i32, %{{.*}} = %[[COPY]]) : (i32, tensor<8xf32>) -> (i32, tensor<8xf32>) {
  // CHECK: %[[P:.*]] = arith.cmpi slt, %[[I]], %{{.*}} : i32
  // CHECK: scf.condition(%[[P]])
  // CHECK: ^bb0(%[[I:.*]]: i32, %[[V:.*]]: tensor<8xf32>):
  // CHECK-DAG: %[[J:.*]] = arith.addi %[[I]], %c1_i32 : i32
  // CHECK-DAG: %[[W:.*]] = linalg.generic
  // CHECK: %[[NEXT:.*]] = bufferization.materialize_in_destination %[[W]] in %[[V]]
  // CHECK: scf.yield %[[J]], %[[NEXT]] : i32, tensor<8xf32>

  // BUFFERS-NOT: memref.alloc
  // BUFFERS: memref.copy %[[A]], %[[OUT]]
  // BUFFERS: scf.while (%{{.*}} = %c0_i32) : (i32) -> i32 {
  // BUFFERS-NOT: memref.alloc
  // BUFFERS-NOT: memref.copy
  // BUFFERS: linalg.generic {{.*}} ins(%[[OUT]] : memref<8xf32>) outs(%[[OUT]] : memref<8xf32>)
  // BUFFERS-NOT: memref.copy
  // BUFFERS: return
  %r:2 = scf.while (%i = %zero, %v = %x) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %e = tensor.empty() : tensor<i8>
    %t = linalg.generic {indexing_maps = [#scalar, #scalar, #scalar], iterator_types = []}
        ins(%i, %limit : tensor<i32>, tensor<i32>) outs(%e : tensor<i8>) {
    ^bb0(%p: i32, %q: i32, %o: i8):
      %lt = arith.cmpi slt, %p, %q : i32
      %byte = arith.extui %lt : i1 to i8
      linalg.yield %byte : i8
    } -> tensor<i8>
    %b = tensor.extract %t[] : tensor<i8>
    %holds = arith.trunci %b : i8 to i1
    scf.condition(%holds) %i, %v : tensor<i32>, tensor<8xf32>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<8xf32>):
    %e = tensor.empty() : tensor<i32>
    %j = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []}
        ins(%i : tensor<i32>) outs(%e : tensor<i32>) {
    ^bb0(%p: i32, %o: i32):
      %s = arith.addi %p, %c1 : i32
      linalg.yield %s : i32
    } -> tensor<i32>
    %f = tensor.empty() : tensor<8xf32>
    %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%v : tensor<8xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.negf %p : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    scf.yield %j, %w : tensor<i32>, tensor<8xf32>
  }
  bufferization.materialize_in_destination %r#1 in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// Tensors that the body permutes are copied through one temporary, which belongs to an iteration.
// BUFFERS-LABEL: func.func @swap(
// COPIES-LABEL: func.func @swap(
// COPIES: do {
// COPIES-DAG: %[[T:.*]] = memref.alloc()
// COPIES-DAG: %[[U:.*]] = memref.alloc()
// COPIES: memref.copy %{{.*}}, %[[T]]
// COPIES: memref.copy %{{.*}}, %[[U]]
// COPIES: memref.copy %[[T]],
// COPIES: memref.copy %[[U]],
// COPIES: return
func.func @swap(%a: memref<8xf32>, %p: i1, %out: memref<8xf32>, %more: memref<8xf32>) {
  %x = bufferization.to_tensor %a restrict : memref<8xf32> to tensor<8xf32>
  // BUFFERS: scf.while
  // BUFFERS: do {
  // BUFFERS: %[[T:.*]] = memref.alloc()
  // BUFFERS-COUNT-3: memref.copy
  // BUFFERS-NOT: memref.copy
  // BUFFERS: return
  %r:2 = scf.while (%u = %x, %v = %x) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.condition(%p) %u, %v : tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%u: tensor<8xf32>, %v: tensor<8xf32>):
    scf.yield %v, %u : tensor<8xf32>, tensor<8xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %more : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// A scan reads and writes its slices in place. The slice of the result that is the previous carry is written before the
// carry changes.
// BUFFERS-LABEL: func.func @scan(
// BUFFERS-SAME: %[[C:.*]]: memref<8xf32>, %[[XS:.*]]: memref<5x8xf32>, %[[LAST:.*]]: memref<8xf32>, %[[YS:.*]]: memref<5x8xf32>)
func.func @scan(%c: memref<8xf32>, %xs: memref<5x8xf32>, %last: memref<8xf32>, %ys: memref<5x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %given = bufferization.to_tensor %c restrict : memref<8xf32> to tensor<8xf32>
  %x = bufferization.to_tensor %xs restrict : memref<5x8xf32> to tensor<5x8xf32>
  %y = tensor.empty() : tensor<5x8xf32>
  // BUFFERS-NOT: memref.alloc()
  // BUFFERS: scf.for %[[I:.*]] = %c0 to %c5 step %c1 {
  // BUFFERS-NOT: memref.alloc
  // BUFFERS: %[[SLICE:.*]] = memref.subview %[[XS]][%[[I]], 0]
  // BUFFERS: %[[WRITTEN:.*]] = memref.subview %[[YS]][%[[I]], 0]
  // BUFFERS: memref.copy %[[CARRY:.*]], %[[WRITTEN]]
  // BUFFERS: linalg.generic {{.*}} ins(%[[CARRY]], %[[SLICE]] : {{.*}}) outs(%[[CARRY]] : memref<8xf32>)
  // BUFFERS-NOT: memref.copy
  // BUFFERS: return
  %e = tensor.empty() : tensor<8xf32>
  %start = linalg.copy ins(%given : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%u = %start, %v = %y) -> (tensor<8xf32>, tensor<5x8xf32>) {
    %slice = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<5x8xf32> to tensor<8xf32>
    %f = tensor.empty() : tensor<8xf32>
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%u, %slice : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    %w = tensor.insert_slice %u into %v[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<5x8xf32>
    scf.yield %next, %w : tensor<8xf32>, tensor<5x8xf32>
  } {array.control_flow}
  bufferization.materialize_in_destination %r#0 in restrict writable %last : (tensor<8xf32>, memref<8xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %ys : (tensor<5x8xf32>, memref<5x8xf32>) -> ()
  return
}

// The branches write the result's buffer.
// BUFFERS-LABEL: func.func @branches(
// BUFFERS-SAME: %[[P:.*]]: i1, %[[A:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<8xf32>)
func.func @branches(%p: i1, %a: memref<8xf32>, %out: memref<8xf32>) {
  %x = bufferization.to_tensor %a restrict : memref<8xf32> to tensor<8xf32>
  // BUFFERS-NEXT: scf.if %[[P]] {
  // BUFFERS-NEXT: linalg.generic {{.*}} ins(%[[A]] : memref<8xf32>) outs(%[[OUT]] : memref<8xf32>)
  // BUFFERS: } else {
  // BUFFERS-NEXT: memref.copy %[[A]], %[[OUT]]
  // BUFFERS-NEXT: }
  // BUFFERS-NOT: memref.copy
  // BUFFERS: return
  %r = scf.if %p -> tensor<8xf32> {
    %f = tensor.empty() : tensor<8xf32>
    %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<8xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%u: f32, %o: f32):
      %s = arith.negf %u : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  } {array.control_flow}
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// A number is chosen in a register.
// CHECK-LABEL: func.func @number(
func.func @number(%p: i1, %a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[R:.*]] = scf.if %{{.*}} -> (f32) {
  // CHECK-NEXT: tensor.extract
  // CHECK: } {array.control_flow}
  // CHECK-NEXT: %[[S:.*]] = tensor.from_elements %[[R]]
  // CHECK-NEXT: return %[[S]]
  %r = scf.if %p -> tensor<f32> {
    scf.yield %a : tensor<f32>
  } else {
    scf.yield %b : tensor<f32>
  } {array.control_flow}
  return %r : tensor<f32>
}

// A sum that is added to the carry starts with it, in its buffer.
// BUFFERS-LABEL: func.func @gradient(
// BUFFERS-SAME: %[[XS:.*]]: memref<5x4x8xf32>, %[[OUT:.*]]: memref<8x8xf32>)
func.func @gradient(%xs: memref<5x4x8xf32>, %out: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %x = bufferization.to_tensor %xs restrict : memref<5x4x8xf32> to tensor<5x4x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  // BUFFERS-NOT: memref.alloc
  // BUFFERS: linalg.fill ins(%{{.*}} : f32) outs(%[[OUT]]
  // BUFFERS: scf.for
  // BUFFERS-NOT: linalg.fill
  // BUFFERS: linalg.matmul {{.*}} outs(%[[OUT]] : memref<8x8xf32>)
  // BUFFERS-NOT: linalg.generic
  // BUFFERS: return
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%w = %start) -> (tensor<8x8xf32>) {
    %slice = tensor.extract_slice %x[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<5x4x8xf32> to tensor<4x8xf32>
    %f = tensor.empty() : tensor<8x8xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %product = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%slice, %slice : tensor<4x8xf32>, tensor<4x8xf32>) outs(%zeros : tensor<8x8xf32>) -> tensor<8x8xf32>
    %g = tensor.empty() : tensor<8x8xf32>
    %next = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%w, %product : tensor<8x8xf32>, tensor<8x8xf32>) outs(%g : tensor<8x8xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  } {array.control_flow}
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}

// One value becomes both tensors of the carry, one of them through a choice: it is computed in the buffer that is written
// last, and copied from there before.
// BUFFERS-LABEL: func.func @twice(
// BUFFERS-SAME: %[[P:.*]]: i1, %{{.*}}: memref<8xf32>, %[[OUT:.*]]: memref<8xf32>, %[[MORE:.*]]: memref<8xf32>)
func.func @twice(%p: i1, %a: memref<8xf32>, %out: memref<8xf32>, %more: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %x = bufferization.to_tensor %a restrict : memref<8xf32> to tensor<8xf32>
  %e0 = tensor.empty() : tensor<8xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %u0 = linalg.copy ins(%x : tensor<8xf32>) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %v0 = linalg.copy ins(%x : tensor<8xf32>) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  // BUFFERS: scf.for
  // BUFFERS: linalg.generic {{.*}} ins(%[[OUT]] : memref<8xf32>) outs(%[[MORE]] : memref<8xf32>)
  // BUFFERS: %[[CHOSEN:.*]] = scf.if
  // BUFFERS: memref.copy %[[MORE]], %[[OUT]]
  // BUFFERS-NEXT: memref.copy %[[CHOSEN]], %[[MORE]]
  // BUFFERS: return
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%u = %u0, %v = %v0) -> (tensor<8xf32>, tensor<8xf32>) {
    %f = tensor.empty() : tensor<8xf32>
    %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%u : tensor<8xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%q: f32, %o: f32):
      %s = arith.negf %q : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    %chosen = scf.if %p -> tensor<8xf32> {
      %inserted = tensor.insert %zero into %w[%i] : tensor<8xf32>
      scf.yield %inserted : tensor<8xf32>
    } else {
      scf.yield %w : tensor<8xf32>
    }
    scf.yield %w, %chosen : tensor<8xf32>, tensor<8xf32>
  } {array.control_flow}
  bufferization.materialize_in_destination %r#0 in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %more : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// So does the carry of a loop of known length: it starts as a copy of the argument in the result's buffer.
// BUFFERS-LABEL: func.func @counted(
// BUFFERS-SAME: %[[A:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<8xf32>)
// BUFFERS-NOT: memref.alloc
// BUFFERS: memref.copy %[[A]], %[[OUT]]
// BUFFERS: scf.for
// BUFFERS-NEXT: linalg.generic {{.*}} ins(%[[OUT]] : memref<8xf32>) outs(%[[OUT]] : memref<8xf32>)
// BUFFERS-NOT: memref.copy
// BUFFERS: return
func.func @counted(%a: memref<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %x = bufferization.to_tensor %a restrict : memref<8xf32> to tensor<8xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> (tensor<8xf32>) {
    %f = tensor.empty() : tensor<8xf32>
    %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%v : tensor<8xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %p, %p : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  } {array.control_flow}
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// An element of the carry is read in place, not through a separate tensor.
// CHECK-LABEL: func.func @element(
func.func @element(%a: tensor<8xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %start = tensor.from_elements %zero : tensor<f32>
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (f32)
  // CHECK: %[[SLICE:.*]] = tensor.extract_slice
  // CHECK: %[[E:.*]] = tensor.extract %[[SLICE]][%{{.*}}] : tensor<1xf32>
  // CHECK: %[[T:.*]] = arith.addf %[[E]], %[[S]]
  // CHECK: scf.yield %[[T]] : f32
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %start) -> (tensor<f32>) {
    %slice = tensor.extract_slice %a[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %e = tensor.empty() : tensor<f32>
    %t = linalg.generic {indexing_maps = [affine_map<() -> (0)>, #scalar, #scalar], iterator_types = []}
        ins(%slice, %s : tensor<1xf32>, tensor<f32>) outs(%e : tensor<f32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %sum = arith.addf %p, %q : f32
      linalg.yield %sum : f32
    } -> tensor<f32>
    scf.yield %t : tensor<f32>
  } {array.control_flow}
  return %r : tensor<f32>
}

// A tensor without elements is yielded as it was made: nothing is written to the carry.
// CHECK-LABEL: func.func @nothing(
// CHECK: scf.for %{{.*}} iter_args(%[[V:.*]] = %{{.*}}) -> (tensor<0x2xf32>)
// CHECK-NOT: tensor.empty
// CHECK: scf.yield %[[V]] : tensor<0x2xf32>
func.func @nothing(%x: tensor<0x2xf32>) -> tensor<0x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> (tensor<0x2xf32>) {
    %f = tensor.empty() : tensor<0x2xf32>
    scf.yield %f : tensor<0x2xf32>
  } {array.control_flow}
  return %r : tensor<0x2xf32>
}

// The carry is read after a part of the next one was computed: the parts are in a buffer of their own.
// CHECK-LABEL: func.func @parts(
// CHECK: scf.for %{{.*}} iter_args(%[[V:.*]] = %{{.*}}) -> (tensor<8xf32>)
// CHECK: %[[NEXT:.*]] = bufferization.alloc_tensor() : tensor<8xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[NEXT]][0] [4] [1]
// CHECK: %[[DONE:.*]] = tensor.insert_slice
// CHECK: bufferization.materialize_in_destination %[[DONE]] in %[[V]]
func.func @parts(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> (tensor<8xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    %low = tensor.extract_slice %v[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %high = tensor.extract_slice %v[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %f = tensor.empty() : tensor<4xf32>
    %p = linalg.exp ins(%high : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    %0 = tensor.insert_slice %p into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
    %q = linalg.exp ins(%low : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    %1 = tensor.insert_slice %q into %0[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  } {array.control_flow}
  return %r : tensor<8xf32>
}
