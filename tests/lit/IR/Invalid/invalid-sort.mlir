// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints C0 to C4 of sort.

func.func @sort() {
  // expected-error @+1 {{'array.sort' op has no inputs, expected at least one (C1)}}
  array.sort dimension = 0 num_keys = 1 is_stable = true : () -> ()
  return
}

// -----

func.func @sort(%x: tensor<4xf32>, %y: tensor<5xi32>) {
  // expected-error @+1 {{'array.sort' op inputs differ in shape: 'tensor<4xf32>', 'tensor<5xi32>' (C2)}}
  %0:2 = array.sort %x, %y dimension = 0 num_keys = 1 is_stable = true : (tensor<4xf32>, tensor<5xi32>) -> (tensor<4xf32>, tensor<5xi32>)
  return
}

// -----

func.func @sort(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.sort' op dimension is 1, expected a dimension of 'tensor<4xf32>' (C3)}}
  %0 = array.sort %x dimension = 1 num_keys = 1 is_stable = true : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.sort' op num_keys is 0, expected 1 to 1 (C4)}}
  %0 = array.sort %x dimension = 0 num_keys = 0 is_stable = true : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.sort' op num_keys is 2, expected 1 to 1 (C4)}}
  %0 = array.sort %x dimension = 0 num_keys = 2 is_stable = true : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'array.sort' op result types are 'tensor<4xf32>', expected types compatible with 'tensor<4xf32>', 'tensor<4xi32>' (C0)}}
  %0 = array.sort %x, %y dimension = 0 num_keys = 1 is_stable = true : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}
