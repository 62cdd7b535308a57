// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints C1 to C7 of dot_general.

func.func @dot(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>) {
  // expected-error @+1 {{'array.dot_general' op has 1 and 2 contracting dimensions, 0 and 0 batch dimensions, expected as many of lhs as of rhs (C1)}}
  %0 = array.dot_general %x, %y contracting = [1] x [0, 1] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dot(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>) {
  // expected-error @+1 {{'array.dot_general' op has 1 and 1 contracting dimensions, 1 and 0 batch dimensions, expected as many of lhs as of rhs (C1)}}
  %0 = array.dot_general %x, %y batch = [0] x [] contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @dot(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>) {
  // expected-error @+1 {{'array.dot_general' op lhs_batch [] and lhs_contracting [2] are not distinct dimensions of 'tensor<4x5xf32>' (C2)}}
  %0 = array.dot_general %x, %y contracting = [2] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @dot(%x: tensor<4x5xf32>, %y: tensor<5x4xf32>) {
  // expected-error @+1 {{'array.dot_general' op rhs_batch [0] and rhs_contracting [0] are not distinct dimensions of 'tensor<5x4xf32>' (C2)}}
  %0 = array.dot_general %x, %y batch = [0] x [0] contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dot(%x: tensor<3x4xf32>, %y: tensor<5x6xf32>) {
  // expected-error @+1 {{'array.dot_general' op contracting dimensions differ: lhs dimension 1 is 4, rhs dimension 0 is 5 (C3)}}
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<3x4xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @dot(%x: tensor<2x3x4xf32>, %y: tensor<3x4x5xf32>) {
  // expected-error @+1 {{'array.dot_general' op batch dimensions differ: lhs dimension 0 is 2, rhs dimension 0 is 3 (C4)}}
  %0 = array.dot_general %x, %y batch = [0] x [0] contracting = [2] x [1] : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot(%x: tensor<4x5xf32>, %y: tensor<5x6xf64>) {
  // expected-error @+1 {{'array.dot_general' op element types of lhs and rhs differ: 'tensor<4x5xf32>' and 'tensor<5x6xf64>' (C5)}}
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf64>) -> tensor<4x6xf64>
  return
}

// -----

func.func @dot(%x: tensor<?x5xf32>, %y: tensor<5x6xf32>) {
  // expected-error @+1 {{'array.dot_general' op result is 'tensor<4x7xf32>', expected 'tensor<?x6xf32>' (C6)}}
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<?x5xf32>, tensor<5x6xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @dot(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>) {
  // expected-error @+1 {{'array.dot_general' op result is 'tensor<4x6xbf16>', expected the element type of 'tensor<4x5xf32>' or a wider one of its kind (C7)}}
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xbf16>
  return
}

// -----

func.func @dot(%x: tensor<4x5xi8>, %y: tensor<5x6xi8>) {
  // expected-error @+1 {{'array.dot_general' op result is 'tensor<4x6xui32>', expected the element type of 'tensor<4x5xi8>' or a wider one of its kind (C7)}}
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<4x5xi8>, tensor<5x6xi8>) -> tensor<4x6xui32>
  return
}
