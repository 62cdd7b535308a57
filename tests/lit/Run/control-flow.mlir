// Loops, branches, calls, barriers and tokens.

// From 27 it takes 111 steps to come to 1.
// RUN: array-run %s --entry=collatz --input='27' --expect='1' --expect='111'
func.func @collatz(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = array.constant dense<0> : tensor<i32>
  %one = array.constant dense<1> : tensor<i32>
  %two = array.constant dense<2> : tensor<i32>
  %three = array.constant dense<3> : tensor<i32>
  %r:2 = array.while(%n, %zero) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) cond {
  ^bb0(%m: tensor<i32>, %steps: tensor<i32>):
    %p = array.ne %m, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%m: tensor<i32>, %steps: tensor<i32>):
    %odd = array.rem %m, %two : tensor<i32>
    %next = array.cond %odd : (tensor<i32>) -> tensor<i32> {
      %half = array.div %m, %two : tensor<i32>
      array.yield %half : tensor<i32>
    }, {
      %triple = array.mul %m, %three : tensor<i32>
      %more = array.add %triple, %one : tensor<i32>
      array.yield %more : tensor<i32>
    }
    %count = array.add %steps, %one : tensor<i32>
    array.yield %next, %count : tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// RUN: array-run %s --entry=branches --input='1' --input='[1, 2]' --expect='[-1, -2]'
func.func @branches(%i: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = array.cond %i : (tensor<i32>) -> tensor<2xf32> {
    array.yield %x : tensor<2xf32>
  }, {
    %n = array.neg %x : tensor<2xf32>
    array.yield %n : tensor<2xf32>
  }, {
    %d = array.add %x, %x : tensor<2xf32>
    array.yield %d : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// A number beyond the branches, or below, chooses the last.
// RUN: array-run %s --entry=branches --input=0 --input='[1, 2]' --expect='[1, 2]'
// RUN: array-run %s --entry=branches --input=7 --input='[1, 2]' --expect='[2, 4]'
// RUN: array-run %s --entry=branches --input=-1 --input='[1, 2]' --expect='[2, 4]'

// The second one goes from the last element to the first, and gives the carry before each: 0, then 4 - 0, 3 - 4, 2 +
// 1, in the end 1 - 3.
// RUN: array-run %s --entry=scanned --input='[1, 2, 3, 4]' --expect='10' --expect='[1, 3, 6, 10]' --expect='-2' \
// RUN:   --expect='[3, -1, 4, 0]'
func.func @scanned(%x: tensor<4xi32>) -> (tensor<i32>, tensor<4xi32>, tensor<i32>, tensor<4xi32>) {
  %zero = array.constant dense<0> : tensor<i32>
  %f:2 = array.scan(%zero) (%x) length = 4 reverse = false
      : (tensor<i32>, tensor<4xi32>) -> (tensor<i32>, tensor<4xi32>) {
  ^bb0(%c: tensor<i32>, %e: tensor<i32>):
    %d = array.add %c, %e : tensor<i32>
    array.yield %d, %d : tensor<i32>, tensor<i32>
  }
  %b:2 = array.scan(%zero) (%x) length = 4 reverse = true
      : (tensor<i32>, tensor<4xi32>) -> (tensor<i32>, tensor<4xi32>) {
  ^bb0(%c: tensor<i32>, %e: tensor<i32>):
    %d = array.sub %e, %c : tensor<i32>
    array.yield %d, %c : tensor<i32>, tensor<i32>
  }
  return %f#0, %f#1, %b#0, %b#1 : tensor<i32>, tensor<4xi32>, tensor<i32>, tensor<4xi32>
}

// RUN: array-run %s --entry=called --input='[1, -2]' --expect='[4, -8]'
func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = array.add %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @called(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = array.call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = array.call @twice(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// Tokens hold no data; a barrier returns its operands.
// RUN: array-run %s --entry=ordered --input='[1, -2]' --expect='[1, -2]' --expect='[-1, 2]'
func.func @ordered(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %t0 = array.create_token : !array.token
  %t1 = array.create_token : !array.token
  %t2 = array.after_all %t0, %t1 : !array.token
  %b:2 = array.optimization_barrier(%t2, %x) : (!array.token, tensor<2xf32>) -> (!array.token, tensor<2xf32>)
  %n = array.neg %b#1 : tensor<2xf32>
  return %b#1, %n : tensor<2xf32>, tensor<2xf32>
}

// One branch is always chosen.
// RUN: array-run %s --entry=only --input=5 --input='[1, -2]' --expect='[2, -4]'
func.func @only(%i: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = array.cond %i : (tensor<i32>) -> tensor<2xf32> {
    %d = array.add %x, %x : tensor<2xf32>
    array.yield %d : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
