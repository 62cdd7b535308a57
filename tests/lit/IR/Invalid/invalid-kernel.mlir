// RUN: array-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{the grid is [0], expected sizes from 1, and at most 2**31 - 1 programs (C1)}}
  %r = array.kernel_call(%x) outs(%y) grid = [0] parallel = [0] overwritten = [] blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{the grid is [2147483648], expected sizes from 1, and at most 2**31 - 1 programs (C1)}}
  %r = array.kernel_call(%x) outs(%y) grid = [2147483648] parallel = [0] overwritten = [] blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{parallel is [1], expected increasing dimensions of a grid of 1 dimensions (C2)}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [1] overwritten = [] blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{has 1 blocks, expected 2: one for each input and output (C4)}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [0] overwritten = [] blocks = [array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{block 0 is [7] of 'tensor<6xf32>', expected a size from 0 to that of each dimension, none of which is 0 (C4)}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [0] overwritten = [] blocks = [array<i64: 7>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{block 0 is [2, 2] of 'tensor<6xf32>'}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [0] overwritten = [] blocks = [array<i64: 2, 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{the arguments of maps are 'tensor<i64>', expected the index in the grid: 'tensor<i32>' (C5)}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [0] overwritten = [] blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i64>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{maps yields 'tensor<i32>', expected an offset for each dimension of the operands: 'tensor<i32>', 'tensor<i32>' (C5)}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [0] overwritten = [] blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero : tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{expected the index, the blocks, and scratch memory of static shapes: 'tensor<i32>', 'tensor<2xf32>', 'tensor<2xf32>' (C6)}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [0] overwritten = [] blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{expected the index, the blocks, and scratch memory of static shapes}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [0] overwritten = [] blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>, %s: tensor<?xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{body yields 'tensor<i32>', expected the blocks of the outputs and the scratch memory: 'tensor<2xf32>' (C7)}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [0] overwritten = [] blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %j : tensor<i32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{overwritten is [1], expected increasing numbers of 1 outputs (C8)}}
  %r = array.kernel_call(%x) outs(%y) grid = [3] parallel = [0] overwritten = [1] blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32> maps {
  ^bb0(%i: tensor<i32>):
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero, %zero : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%j: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    array.kernel_yield %a : tensor<2xf32>
  }
  return %r : tensor<6xf32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{takes 'tensor<?xf32>', expected a static shape (C3)}}
  %r = array.kernel_call() outs(%x) grid = [] parallel = [] overwritten = [] blocks = [array<i64: 2>] : (tensor<?xf32>) -> tensor<?xf32> maps {
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero : tensor<i32>
  } body {
  ^bb0(%b: tensor<2xf32>):
    array.kernel_yield %b : tensor<2xf32>
  }
  return %r : tensor<?xf32>
}
