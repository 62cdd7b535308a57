// RUN: array-opt %s --array-in-place-carries --split-input-file | FileCheck %s

// The next value of a stencil is inserted part by part. Each part reads its own elements of the value before, and is
// computed in their place; later parts read from what is inserted so far.
#map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @parts
func.func @parts(%x: tensor<8xf32>, %before: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: scf.for {{.*}} iter_args(%[[Y:.*]] = %{{.*}})
  // CHECK-NOT: alloc_tensor
  // CHECK: %[[HEAD:.*]] = tensor.extract_slice %[[Y]][0] [1] [1]
  // CHECK: %[[A:.*]] = linalg.generic {{.*}} outs(%[[HEAD]] : tensor<1xf32>)
  // CHECK: %[[PART:.*]] = tensor.insert_slice %[[A]] into %[[Y]][0] [1] [1]
  // CHECK: %[[TAIL:.*]] = tensor.extract_slice %[[PART]][1] [7] [1]
  // CHECK: %[[B:.*]] = linalg.generic {{.*}} outs(%[[TAIL]] : tensor<7xf32>)
  // CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[B]] into %[[PART]][1] [7] [1]
  // CHECK-NOT: materialize_in_destination
  // CHECK: scf.yield
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %before) -> (tensor<8xf32>) {
    %empty = tensor.empty() : tensor<8xf32>
    %last = tensor.extract_slice %x[7] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %y0 = tensor.extract_slice %y[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %e0 = tensor.empty() : tensor<1xf32>
    %p0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%last, %y0 : tensor<1xf32>, tensor<1xf32>) outs(%e0 : tensor<1xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<1xf32>
    %n0 = tensor.insert_slice %p0 into %empty[0] [1] [1] : tensor<1xf32> into tensor<8xf32>
    %others = tensor.extract_slice %x[0] [7] [1] : tensor<8xf32> to tensor<7xf32>
    %y1 = tensor.extract_slice %y[1] [7] [1] : tensor<8xf32> to tensor<7xf32>
    %e1 = tensor.empty() : tensor<7xf32>
    %p1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%others, %y1 : tensor<7xf32>, tensor<7xf32>) outs(%e1 : tensor<7xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<7xf32>
    %n1 = tensor.insert_slice %p1 into %n0[1] [7] [1] : tensor<7xf32> into tensor<8xf32>
    scf.yield %n1 : tensor<8xf32>
  } {array.control_flow}
  return %r : tensor<8xf32>
}

// -----

// The second part reads an element that the first one has changed: the next value has a buffer of its own.
#map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @overlapping
func.func @overlapping(%u: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: scf.for
  // CHECK: bufferization.alloc_tensor() : tensor<8xf32>
  // CHECK: materialize_in_destination
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %u) -> (tensor<8xf32>) {
    %empty = tensor.empty() : tensor<8xf32>
    %last = tensor.extract_slice %x[7] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %n0 = tensor.insert_slice %last into %empty[0] [1] [1] : tensor<1xf32> into tensor<8xf32>
    %others = tensor.extract_slice %x[0] [7] [1] : tensor<8xf32> to tensor<7xf32>
    %e1 = tensor.empty() : tensor<7xf32>
    %p1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%others : tensor<7xf32>) outs(%e1 : tensor<7xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<7xf32>
    %n1 = tensor.insert_slice %p1 into %n0[1] [7] [1] : tensor<7xf32> into tensor<8xf32>
    scf.yield %n1 : tensor<8xf32>
  } {array.control_flow}
  return %r : tensor<8xf32>
}
