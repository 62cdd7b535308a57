// RUN: array-translate --stablehlo-to-array -split-input-file -verify-diagnostics %s
// Unsupported operations are named, at their lines, in the printed form and in the generic one.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.einsum: has no counterpart in the array dialect}}
  %0 = stablehlo.einsum %x, %x, config = "i,i->i" : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.outfeed: has no counterpart in the array dialect}}
  %0 = "stablehlo.outfeed"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{math.sin: has no counterpart in the array dialect}}
  %0 = "math.sin"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.custom_call: @cudnnThing has no counterpart in the array dialect}}
  %0 = stablehlo.custom_call @cudnnThing(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{!stablehlo.future: has no counterpart in the array dialect, whose values are tensors}}
func.func @main(%x: !stablehlo.future) {
  return
}

// -----

// expected-error @below {{sdy.mesh: a program for 4 devices; one for a single device is taken}}
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{mhlo.num_partitions is 8: a program for several devices; one for a single device is taken}}
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{expected a function @main, the entry of the program}}
module {
  func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

func.func @main(%x: tensor<4xindex>) -> tensor<4xindex> {
  // expected-error @below {{stablehlo.add: expected ranked tensors of numbers, but got 'tensor<4xindex>'}}
  %0 = stablehlo.add %x, %x : tensor<4xindex>
  return %0 : tensor<4xindex>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.all_gather: a program for several devices; one for a single device is taken}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
         : (tensor<4xf32>) -> tensor<8xf32>
  return %x : tensor<4xf32>
}

// -----

module attributes {pycompiler.participants = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{combines by another computation than a sum, product, maximum, minimum, and, or}}
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.subtract %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
