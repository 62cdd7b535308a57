// Random inputs are the same everywhere: the words of std::mt19937_64, whose ten thousandth from the default seed 5489
// is 9981545732273789042 by the C++ standard, and normal numbers made from them by comparisons alone.

// RUN: array-run %s --entry=words --input=random:uniform,seed=5489,low=0,high=18446744073709551615 --print=full \
// RUN:   | FileCheck %s --check-prefix=WORDS
// WORDS: , 9981545732273789042]
func.func @words(%x: tensor<10000xui64>) -> tensor<10000xui64> {
  return %x : tensor<10000xui64>
}

// The same seed, the same numbers; without one it is the number of the argument.
// RUN: array-run %s --entry=same --input=random:normal,seed=1 --input=random:normal --expect=1=fill:0
// RUN: not array-run %s --entry=same --input=random:normal --input=random:normal --expect=1=fill:0
func.func @same(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %d = array.sub %x, %y : tensor<8xf32>
  return %x, %d : tensor<8xf32>, tensor<8xf32>
}

// Means of powers of 100,000 numbers, within four standard errors: of normal ones 0, 1, 0, 3, of uniform ones in [2, 5)
// 3.5 and 3/4 for the variance. No sample is outside.
// RUN: array-run %s --entry=normal --input=random:normal,seed=1 --atol=0.06 --rtol=0 --expect='[0, 1, 0, 3]'
// RUN: array-run %s --entry=normal --input=random:normal,seed=2,mean=2,std=0.5 --atol=0.1 --rtol=0 \
// RUN:   --expect='[2, 4.25, 9.5, 22.1875]'
// RUN: array-run %s --entry=uniform --input=random:uniform,seed=1,low=2,high=5 --atol=0.02 --rtol=0 \
// RUN:   --expect='[3.5, 0.75]' --expect='[true, true]'
func.func @normal(%x: tensor<100000xf64>) -> tensor<4xf64> {
  %n = array.constant dense<1.0e-5> : tensor<4xf64>
  %2 = array.mul %x, %x : tensor<100000xf64>
  %3 = array.mul %2, %x : tensor<100000xf64>
  %4 = array.mul %2, %2 : tensor<100000xf64>
  %r1 = array.reshape %x : (tensor<100000xf64>) -> tensor<1x100000xf64>
  %r2 = array.reshape %2 : (tensor<100000xf64>) -> tensor<1x100000xf64>
  %r3 = array.reshape %3 : (tensor<100000xf64>) -> tensor<1x100000xf64>
  %r4 = array.reshape %4 : (tensor<100000xf64>) -> tensor<1x100000xf64>
  %all = array.concatenate %r1, %r2, %r3, %r4 dimension = 0
    : (tensor<1x100000xf64>, tensor<1x100000xf64>, tensor<1x100000xf64>, tensor<1x100000xf64>) -> tensor<4x100000xf64>
  %s = array.reduce_sum %all axes = [1] : (tensor<4x100000xf64>) -> tensor<4xf64>
  %m = array.mul %s, %n : tensor<4xf64>
  return %m : tensor<4xf64>
}
func.func @uniform(%x: tensor<100000xf64>) -> (tensor<2xf64>, tensor<2xi1>) {
  %n = array.constant dense<1.0e-5> : tensor<f64>
  %two = array.constant dense<2.0> : tensor<f64>
  %five = array.constant dense<5.0> : tensor<f64>
  %s = array.reduce_sum %x axes = [0] : (tensor<100000xf64>) -> tensor<f64>
  %m = array.mul %s, %n : tensor<f64>
  %b = array.broadcast_in_dim %m broadcast_dimensions = [] : (tensor<f64>) -> tensor<100000xf64>
  %d = array.sub %x, %b : tensor<100000xf64>
  %q = array.mul %d, %d : tensor<100000xf64>
  %t = array.reduce_sum %q axes = [0] : (tensor<100000xf64>) -> tensor<f64>
  %v = array.mul %t, %n : tensor<f64>
  %least = array.reduce_min %x axes = [0] : (tensor<100000xf64>) -> tensor<f64>
  %greatest = array.reduce_max %x axes = [0] : (tensor<100000xf64>) -> tensor<f64>
  %p = array.ge %least, %two : tensor<f64>
  %r = array.lt %greatest, %five : tensor<f64>
  %m1 = array.reshape %m : (tensor<f64>) -> tensor<1xf64>
  %v1 = array.reshape %v : (tensor<f64>) -> tensor<1xf64>
  %p1 = array.reshape %p : (tensor<i1>) -> tensor<1xi1>
  %r1 = array.reshape %r : (tensor<i1>) -> tensor<1xi1>
  %mv = array.concatenate %m1, %v1 dimension = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
  %pr = array.concatenate %p1, %r1 dimension = 0 : (tensor<1xi1>, tensor<1xi1>) -> tensor<2xi1>
  return %mv, %pr : tensor<2xf64>, tensor<2xi1>
}

// Every type has some: integers in [0, 10), or the part of this range that a small type holds.
// RUN: array-run %s --entry=integers --input=random --input=random:uniform,low=-3,high=-2 --input=random \
// RUN:   --expect=fill:true --expect=fill:-3
func.func @integers(%x: tensor<64xui8>, %y: tensor<3xi16>, %z: tensor<3xi2>) -> (tensor<64xi1>, tensor<3xi16>) {
  %ten = array.constant dense<10> : tensor<64xui8>
  %p = array.lt %x, %ten : (tensor<64xui8>, tensor<64xui8>) -> tensor<64xi1>
  return %p, %y : tensor<64xi1>, tensor<3xi16>
}
