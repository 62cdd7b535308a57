// RUN: array-opt %s --array-uplift-loops --split-input-file | FileCheck %s
// RUN: array-opt %s --array-uplift-loops --array-add-loop-budget --split-input-file | FileCheck %s --check-prefix=BUDGET

// The counter of a row's elements is within the bounds, so that its clamps fold; an element that was read has none.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[X:.*]]: memref<100xf32> {{.*}}, %[[PLACES:.*]]: memref<100xi32>
// CHECK:         %[[ENDS:.*]] = arith.minsi
// CHECK:         %[[LOOP:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[ENDS]] step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)  : i32 {
// CHECK-NEXT:      %[[INDEX:.*]] = arith.index_cast %[[I]]
// CHECK-NEXT:      %[[PLACE:.*]] = memref.load %[[PLACES]][%[[INDEX]]]
// CHECK:           %[[LOW:.*]] = arith.minsi
// CHECK:           %[[INSIDE:.*]] = arith.maxsi %[[LOW]]
// CHECK:           memref.load %[[X]][%[[INSIDE]]]
// CHECK-NOT:     scf.while

// Its budget is spent before it: the operations of an iteration, for each.
// BUDGET:        module attributes {array.loop_budget}
// BUDGET-LABEL:  func.func @main(
// BUDGET:          %[[LENGTH:.*]] = arith.subi %{{.*}} : i64
// BUDGET:          %[[POSITIVE:.*]] = arith.maxsi %[[LENGTH]]
// BUDGET:          %[[TIMES:.*]] = arith.minsi %[[POSITIVE]]
// BUDGET:          array.spend 8 times(%[[TIMES]])
// BUDGET-NEXT:     scf.for
func.func @main(%x: memref<100xf32> {array.role = "argument"}, %places: memref<100xi32> {array.role = "argument"},
                %bounds: memref<2xi32> {array.role = "argument"}, %r: memref<f32> {array.role = "result"}) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %most = arith.constant 100 : i32
  %first = arith.constant 0 : index
  %second = arith.constant 1 : index
  %last = arith.constant 99 : index
  %from = memref.load %bounds[%first] : memref<2xi32>
  %to = memref.load %bounds[%second] : memref<2xi32>
  %start = arith.maxsi %from, %none : i32
  %end = arith.minsi %to, %most : i32
  %sums:2 = scf.while (%i = %start, %sum = %zero) : (i32, f32) -> (i32, f32) {
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i, %sum : i32, f32
  } do {
  ^bb0(%i: i32, %sum: f32):
    %index = arith.index_cast %i : i32 to index
    %low = arith.minsi %index, %last : index
    %inside = arith.maxsi %low, %first : index
    %place = memref.load %places[%inside] : memref<100xi32>
    %there = arith.index_cast %place : i32 to index
    %low_there = arith.minsi %there, %last : index
    %inside_there = arith.maxsi %low_there, %first : index
    %value = memref.load %x[%inside_there] : memref<100xf32>
    %next = arith.addf %sum, %value : f32
    %after = arith.addi %i, %one : i32
    scf.yield %after, %next : i32, f32
  }
  memref.store %sums#1, %r[] : memref<f32>
  return
}

// -----

// `n > i` and `i < n` are the same; the numbers are certainly not negative indices. The limit leaves the condition.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[END:.*]] = memref.load
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK-NOT:     arith.cmpi
// CHECK:         memref.store
func.func @main(%x: memref<100xf32> {array.role = "argument"}, %n: memref<i32> {array.role = "argument"},
                %r: memref<f32> {array.role = "result"}) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 100 : i32
  %first = arith.constant 0 : index
  %last = arith.constant 99 : index
  %sums:2 = scf.while (%i = %none, %sum = %zero) : (i32, f32) -> (i32, f32) {
    %end = memref.load %n[] : memref<i32>
    %more = arith.cmpi sgt, %end, %i : i32
    scf.condition(%more) %i, %sum : i32, f32
  } do {
  ^bb0(%i: i32, %sum: f32):
    %is_negative = arith.cmpi slt, %i, %none : i32
    %wrapped = arith.addi %i, %size : i32
    %place = arith.select %is_negative, %wrapped, %i : i32
    %index = arith.index_cast %place : i32 to index
    %low = arith.minsi %index, %last : index
    %inside = arith.maxsi %low, %first : index
    %value = memref.load %x[%inside] : memref<100xf32>
    %next = arith.addf %sum, %value : f32
    %after = arith.addi %i, %one : i32
    scf.yield %after, %next : i32, f32
  }
  memref.store %sums#1, %r[] : memref<f32>
  return
}

// -----

// Loops that do not count by 1 up to a limit stay: by 2, down, to a limit that moves, while they are not equal.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-4: scf.while
// CHECK-NOT:     scf.for
func.func @main(%n: memref<i32> {array.role = "argument"}, %r: memref<i32> {array.role = "result"}) {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %less = arith.constant -1 : i32
  %end = memref.load %n[] : memref<i32>
  %by_two = scf.while (%i = %none) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %after = arith.addi %i, %two : i32
    scf.yield %after : i32
  }
  %down = scf.while (%i = %none) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %after = arith.addi %i, %less : i32
    scf.yield %after : i32
  }
  %moving:2 = scf.while (%i = %none, %limit = %end) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %i, %limit : i32
    scf.condition(%more) %i, %limit : i32, i32
  } do {
  ^bb0(%i: i32, %limit: i32):
    %after = arith.addi %i, %one : i32
    %closer = arith.addi %limit, %less : i32
    scf.yield %after, %closer : i32, i32
  }
  %unequal = scf.while (%i = %none) : (i32) -> i32 {
    %more = arith.cmpi ne, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %after = arith.addi %i, %one : i32
    scf.yield %after : i32
  }
  %a = arith.addi %by_two, %down : i32
  %b = arith.addi %moving#0, %unequal : i32
  %c = arith.addi %a, %b : i32
  memref.store %c, %r[] : memref<i32>
  return
}

// -----

// The counter after the loop is the limit, or its start, if that is beyond.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[START:.*]] = memref.load %arg0
// CHECK:         %[[END:.*]] = memref.load %arg1
// CHECK:         scf.for
// CHECK:         %[[LAST:.*]] = arith.maxsi %[[START]], %[[END]] : i32
// CHECK:         memref.store %[[LAST]]
func.func @main(%from: memref<i32> {array.role = "argument"}, %n: memref<i32> {array.role = "argument"},
                %r: memref<i32> {array.role = "result"}) {
  %one = arith.constant 1 : i32
  %start = memref.load %from[] : memref<i32>
  %last = scf.while (%i = %start) : (i32) -> i32 {
    %end = memref.load %n[] : memref<i32>
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %after = arith.addi %i, %one : i32
    scf.yield %after : i32
  }
  memref.store %last, %r[] : memref<i32>
  return
}

// -----

// The limit of a loop is the counter of the loop before it, which has been replaced by then.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[START:.*]] = arith.constant 0
// CHECK:         %[[END:.*]] = memref.load %arg0
// CHECK:         scf.for
// CHECK:         %[[FIRST:.*]] = arith.maxsi %[[START]], %[[END]] : i32
// CHECK:         scf.for %{{.*}} = %[[START]] to %[[FIRST]]
// CHECK:         scf.for %{{.*}} = %[[START]] to %[[FIRST]]
// CHECK:         memref.store %[[FIRST]]
func.func @main(%n: memref<i32> {array.role = "argument"}, %r: memref<i32> {array.role = "result"}) {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = memref.load %n[] : memref<i32>
  %first = scf.while (%i = %none) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %end : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %after = arith.addi %i, %one : i32
    scf.yield %after : i32
  }
  %second = scf.while (%i = %none) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %first : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %after = arith.addi %i, %one : i32
    scf.yield %after : i32
  }
  %third = scf.while (%i = %none) : (i32) -> i32 {
    %more = arith.cmpi sgt, %second, %i : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %after = arith.addi %i, %one : i32
    scf.yield %after : i32
  }
  memref.store %third, %r[] : memref<i32>
  return
}

// -----

// A counter that a loop of known length carries is computed from the number of the iteration. It is inside of the array,
// so neither the clamp nor the check of the index is left, nor the flag of the check.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[X:.*]]: memref<100xf32>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32) {
// CHECK:           %[[COUNT:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK-NEXT:      %[[COUNTER:.*]] = arith.addi %[[COUNT]], %{{.*}} : i32
// CHECK-NOT:       arith.cmpi
// CHECK-NOT:       arith.minsi
// CHECK:           memref.load %[[X]]
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      scf.yield
// CHECK:         memref.store %false, %arg2
func.func @main(%x: memref<100xf32> {array.role = "argument"}, %r: memref<f32> {array.role = "result"},
                %failed: memref<i1> {array.role = "result"}) {
  %zero = arith.constant 0.0 : f32
  %false = arith.constant false
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 100 : i32
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %last = arith.constant 99 : index
  %result:3 = scf.for %i = %first to %last step %step iter_args(%sum = %zero, %counter = %one, %outside = %false)
      -> (f32, i32, i1) {
    %high = arith.cmpi sge, %counter, %size : i32
    %low = arith.cmpi slt, %counter, %none : i32
    %out = arith.ori %low, %high : i1
    %any = arith.ori %outside, %out : i1
    %index = arith.index_cast %counter : i32 to index
    %most = arith.minsi %index, %last : index
    %place = arith.maxsi %most, %first : index
    %value = memref.load %x[%place] : memref<100xf32>
    %next = arith.addf %sum, %value : f32
    %after = arith.addi %counter, %one : i32
    scf.yield %next, %after, %any : f32, i32, i1
  }
  memref.store %result#0, %r[] : memref<f32>
  memref.store %result#2, %failed[] : memref<i1>
  return
}

// -----

// The counter after the loop follows from its length. A counter with a start that the program computes stays.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[LOOP:.*]]:2 = scf.for %{{.*}} iter_args(%{{.*}} = %arg0, %[[COUNTER:.*]] = %{{.*}}) -> (i32, i32)
// CHECK:           scf.yield %{{.*}}, %[[COUNTER]]
// CHECK:         %[[END:.*]] = arith.constant 30 : i32
// CHECK:         memref.store %[[LOOP]]#0, %arg1
// CHECK:         memref.store %[[END]], %arg2
func.func @main(%start: i32, %r: memref<i32> {array.role = "result"}, %s: memref<i32> {array.role = "result"}) {
  %none = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %last = arith.constant 10 : index
  %result:2 = scf.for %i = %first to %last step %step iter_args(%a = %start, %b = %none) -> (i32, i32) {
    %next = arith.addi %a, %three : i32
    %after = arith.addi %b, %three : i32
    scf.yield %next, %after : i32, i32
  }
  memref.store %result#0, %r[] : memref<i32>
  memref.store %result#1, %s[] : memref<i32>
  return
}
