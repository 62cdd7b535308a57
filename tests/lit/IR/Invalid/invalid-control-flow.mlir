// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints of while, cond, scan and optimization_barrier, and the place of yield.

func.func @c1(%x: tensor<i1>) {
  // expected-error @+1 {{'array.while' op the arguments of cond are , expected the types of the operands: 'tensor<i1>' (C1)}}
  %0 = array.while(%x) : (tensor<i1>) -> tensor<i1> cond {
    array.yield %x : tensor<i1>
  } body {
  ^bb0(%q: tensor<i1>):
    array.yield %q : tensor<i1>
  }
  return
}

// -----

func.func @c2(%x: tensor<2xi1>) {
  // expected-error @+1 {{'array.while' op cond yields 'tensor<2xi1>', expected one tensor<i1> (C2)}}
  %0 = array.while(%x) : (tensor<2xi1>) -> tensor<2xi1> cond {
  ^bb0(%q: tensor<2xi1>):
    array.yield %q : tensor<2xi1>
  } body {
  ^bb0(%q: tensor<2xi1>):
    array.yield %q : tensor<2xi1>
  }
  return
}

// -----

func.func @c3(%x: tensor<i1>) {
  // expected-error @+1 {{'array.while' op the arguments of body are 'tensor<i1>', 'tensor<i1>', expected the types of the operands: 'tensor<i1>' (C3)}}
  %0 = array.while(%x) : (tensor<i1>) -> tensor<i1> cond {
  ^bb0(%q: tensor<i1>):
    array.yield %q : tensor<i1>
  } body {
  ^bb0(%q: tensor<i1>, %r: tensor<i1>):
    array.yield %q : tensor<i1>
  }
  return
}

// -----

func.func @c4(%x: tensor<i1>, %y: tensor<3xi1>) {
  // expected-error @+1 {{'array.while' op body yields 'tensor<3xi1>', expected the types of the operands: 'tensor<i1>' (C4)}}
  %0 = array.while(%x) : (tensor<i1>) -> tensor<i1> cond {
  ^bb0(%q: tensor<i1>):
    array.yield %q : tensor<i1>
  } body {
  ^bb0(%q: tensor<i1>):
    array.yield %y : tensor<3xi1>
  }
  return
}

// -----

func.func @c5(%x: tensor<i1>) {
  // expected-error @+1 {{'array.while' op the results are 'tensor<f32>', expected the types of the operands: 'tensor<i1>' (C5)}}
  %0 = array.while(%x) : (tensor<i1>) -> tensor<f32> cond {
  ^bb0(%q: tensor<i1>):
    array.yield %q : tensor<i1>
  } body {
  ^bb0(%q: tensor<i1>):
    array.yield %q : tensor<i1>
  }
  return
}

// -----

func.func @yield(%x: tensor<i1>) {
  // expected-error @+1 {{'array.yield' op expects parent op to be one of 'array.while, array.cond, array.scan'}}
  array.yield %x : tensor<i1>
}

// -----

func.func @cond_c1(%i: tensor<i32>) {
  // expected-error @+1 {{'array.cond' op has no branch, expected at least one (C1)}}
  "array.cond"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @cond_c2(%i: tensor<i32>) {
  // expected-error @+1 {{'array.cond' op branch 1 has the arguments 'tensor<i1>', expected none: branches read values from outside (C2)}}
  array.cond %i : (tensor<i32>) -> () {
    array.yield
  }, {
  ^bb0(%q: tensor<i1>):
    array.yield
  }
  return
}

// -----

func.func @cond_c3(%i: tensor<i32>, %x: tensor<i1>) {
  // expected-error @+1 {{'array.cond' op branch 0 yields , expected the types of the results: 'tensor<i1>' (C3)}}
  %r = array.cond %i : (tensor<i32>) -> tensor<i1> {
    array.yield
  }, {
    array.yield %x : tensor<i1>
  }
  return
}

// -----

func.func @cond_index(%i: tensor<2xi32>) {
  // expected-error @+1 {{'array.cond' op operand #0 must be scalar tensor of i32, but got 'tensor<2xi32>'}}
  array.cond %i : (tensor<2xi32>) -> () {
    array.yield
  }
  return
}

// -----

func.func @scan_c1() {
  // expected-error @+1 {{'array.scan' op length is -1, expected at least 0 (C1)}}
  array.scan() () length = -1 reverse = false : () -> () {
    array.yield
  }
  return
}

// -----

func.func @scan_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.scan' op scans 'tensor<4xf32>', expected a first dimension of length = 5 (C2)}}
  array.scan() (%x) length = 5 reverse = false : (tensor<4xf32>) -> () {
  ^bb0(%e: tensor<f32>):
    array.yield
  }
  return
}

// -----

func.func @scan_c2_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{'array.scan' op scans 'tensor<f32>', expected a first dimension of length = 5 (C2)}}
  array.scan() (%x) length = 5 reverse = false : (tensor<f32>) -> () {
    array.yield
  }
  return
}

// -----

func.func @scan_c3(%c: tensor<i1>, %x: tensor<5x2xf32>) {
  // expected-error @+1 {{'array.scan' op the arguments of the body are 'tensor<i1>', 'tensor<5x2xf32>', expected the types of the carry and of the slices: 'tensor<i1>', 'tensor<2xf32>' (C3)}}
  %r = array.scan(%c) (%x) length = 5 reverse = false : (tensor<i1>, tensor<5x2xf32>) -> tensor<i1> {
  ^bb0(%d: tensor<i1>, %e: tensor<5x2xf32>):
    array.yield %d : tensor<i1>
  }
  return
}

// -----

func.func @scan_c4(%c: tensor<i1>, %x: tensor<5x2xf32>) {
  // expected-error @+1 {{'array.scan' op the body yields 'tensor<2xf32>', expected the types of the carry first: 'tensor<i1>', and then tensors (C4)}}
  %r = array.scan(%c) (%x) length = 5 reverse = false : (tensor<i1>, tensor<5x2xf32>) -> tensor<i1> {
  ^bb0(%d: tensor<i1>, %e: tensor<2xf32>):
    array.yield %e : tensor<2xf32>
  }
  return
}

// -----

func.func @scan_c5(%x: tensor<5x2xf32>) {
  // expected-error @+1 {{'array.scan' op the results are 'tensor<4x2xf32>', expected the types of the carry and of the joined slices: 'tensor<5x2xf32>' (C5)}}
  %r = array.scan() (%x) length = 5 reverse = false : (tensor<5x2xf32>) -> tensor<4x2xf32> {
  ^bb0(%e: tensor<2xf32>):
    array.yield %e : tensor<2xf32>
  }
  return
}

// -----

func.func @barrier_c1(%x: tensor<5xf32>) {
  // expected-error @+1 {{'array.optimization_barrier' op the results are 'tensor<4xf32>', expected the types of the operands: 'tensor<5xf32>' (C1)}}
  %r = array.optimization_barrier(%x) : (tensor<5xf32>) -> tensor<4xf32>
  return
}
