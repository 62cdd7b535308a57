// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints of the elementwise ops.

// C1 of the unary ops, one for each kind of operand.
func.func @unary(%x: tensor<4xui8>) {
  // expected-error @+1 {{'array.abs' op operand #0 must be tensor of signed integers (i8 to i64), floats (f16, bf16, f32, f64) or complex numbers, but got 'tensor<4xui8>'}}
  %0 = array.abs %x : tensor<4xui8>
  return
}

// -----

func.func @unary(%x: tensor<4xi1>) {
  // expected-error @+1 {{'array.neg' op operand #0 must be tensor of integers (i8 to i64, ui8 to ui64), floats (f16, bf16, f32, f64) or complex numbers, but got 'tensor<4xi1>'}}
  %0 = array.neg %x : tensor<4xi1>
  return
}

// -----

func.func @unary(%x: tensor<4xi32>) {
  // expected-error @+1 {{'array.exp' op operand #0 must be tensor of floats (f16, bf16, f32, f64) or complex numbers, but got 'tensor<4xi32>'}}
  %0 = array.exp %x : tensor<4xi32>
  return
}

// -----

func.func @unary(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.not' op operand #0 must be tensor of bools (i1) or integers (i8 to i64, ui8 to ui64), but got 'tensor<4xf32>'}}
  %0 = array.not %x : tensor<4xf32>
  return
}

// -----

func.func @unary(%x: tensor<4xindex>) {
  // expected-error @+1 {{'array.stop_gradient' op operand #0 must be tensor of bools (i1), integers (i8 to i64, ui8 to ui64), floats (f16, bf16, f32, f64), complex numbers or a small type, but got 'tensor<4xindex>'}}
  %0 = array.stop_gradient %x : tensor<4xindex>
  return
}

// -----

// C0 of the unary ops.
func.func @unary(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.exp' op result types are 'tensor<5xf32>', expected types compatible with 'tensor<4xf32>' (C0)}}
  %0 = array.exp %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @unary(%x: tensor<?xf32>) {
  // expected-error @+1 {{'array.exp' op result types are 'tensor<?xf64>', expected types compatible with 'tensor<?xf32>' (C0)}}
  %0 = array.exp %x : (tensor<?xf32>) -> tensor<?xf64>
  return
}

// -----

// C1 of the binary ops.
func.func @binary(%x: tensor<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{'array.add' op operand #1 must be tensor of integers (i8 to i64, ui8 to ui64), floats (f16, bf16, f32, f64) or complex numbers, but got 'memref<4xf32>'}}
  %0 = array.add %x, %y : (tensor<4xf32>, memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @binary(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.shift_left' op operand #0 must be tensor of integers (i8 to i64, ui8 to ui64), but got 'tensor<4xf32>'}}
  %0 = array.shift_left %x, %x : tensor<4xf32>
  return
}

// -----

// C2 of the binary ops: the shapes, the element types.
func.func @binary(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'array.add' op operand types differ: 'tensor<4xf32>', 'tensor<5xf32>' (C2)}}
  %0 = array.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @binary(%x: tensor<4xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{'array.lt' op operand types differ: 'tensor<4xf32>', 'tensor<f32>' (C2)}}
  %0 = array.lt %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  return
}

// -----

func.func @binary(%x: tensor<4xi32>, %y: tensor<4xui32>) {
  // expected-error @+1 {{'array.mul' op operand types differ: 'tensor<4xi32>', 'tensor<4xui32>' (C2)}}
  %0 = array.mul %x, %y : (tensor<4xi32>, tensor<4xui32>) -> tensor<4xi32>
  return
}

// -----

// C0 of the binary ops: a size of one operand holds for the result.
func.func @binary(%x: tensor<?xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'array.add' op result types are 'tensor<5xf32>', expected types compatible with 'tensor<4xf32>' (C0)}}
  %0 = array.add %x, %y : (tensor<?xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @compare(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.eq' op result #0 must be tensor of bools (i1), but got 'tensor<4xf32>'}}
  %0 = array.eq %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// C1 of select.
func.func @select(%p: tensor<4xi8>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'array.select' op operand #0 must be tensor of bools (i1), but got 'tensor<4xi8>'}}
  %0 = array.select %p, %x, %x : (tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// C2 of select: the predicate is not broadcast, the choices have one type.
func.func @select(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'array.select' op operand types differ: 'tensor<i1>', 'tensor<4xf32>', 'tensor<4xf32>' (C2)}}
  %0 = array.select %p, %x, %x : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @select(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'array.select' op operand types differ: 'tensor<4xi1>', 'tensor<4xf32>', 'tensor<4xf64>' (C2)}}
  %0 = array.select %p, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

// C1 of convert.
func.func @convert(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.convert' op shapes of operand and result differ: 'tensor<4xf32>' and 'tensor<5xi32>' (C1)}}
  %0 = array.convert %x : (tensor<4xf32>) -> tensor<5xi32>
  return
}

// -----

// C1 and C2 of bitcast.
func.func @bitcast(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.bitcast' op shapes of operand and result differ: 'tensor<4xf32>' and 'tensor<2x2xi32>' (C1)}}
  %0 = array.bitcast %x : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @bitcast(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.bitcast' op element types differ in width: 'f32' and 'i64' (C2)}}
  %0 = array.bitcast %x : (tensor<4xf32>) -> tensor<4xi64>
  return
}

// -----

// C1 and C2 of threefry2x32.
func.func @threefry(%x: tensor<4xi32>) {
  // expected-error @+1 {{'array.threefry2x32' op operand #0 must be tensor of ui32, but got 'tensor<4xi32>'}}
  %y0, %y1 = array.threefry2x32 %x, %x, %x, %x : tensor<4xi32>
  return
}

// -----

func.func @threefry(%k: tensor<ui32>, %x: tensor<4xui32>) {
  // expected-error @+1 {{'array.threefry2x32' op operand types differ: 'tensor<ui32>', 'tensor<ui32>', 'tensor<4xui32>', 'tensor<4xui32>' (C2)}}
  %y0, %y1 = array.threefry2x32 %k, %k, %x, %x : (tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>)
  return
}

// -----

// Errors of the assembly format itself.
func.func @format(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 operand types and 1 result types, got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = array.add %x, %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @format(%x: f32) {
  // expected-error @+1 {{expected a ranked tensor type, got 'f32'}}
  %0 = array.lt %x, %x : f32
  return
}
