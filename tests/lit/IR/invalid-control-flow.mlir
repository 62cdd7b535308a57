// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints C1 to C5 of while, and the place of yield.

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
  // expected-error @+1 {{'array.yield' op expects parent op 'array.while'}}
  array.yield %x : tensor<i1>
}
