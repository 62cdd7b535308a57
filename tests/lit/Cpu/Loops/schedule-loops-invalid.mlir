// Schedules that the loops do not allow.
// RUN: array-opt %s --array-vectorize-linalg --split-input-file --verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: there is no 'speed'; a schedule has in_order, jam, jam_size, lanes, loops, prefetch, tile, tile_size, unrolled, vector}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {speed = 1}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'lanes' needs 'vector', the loop of the vectors}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {lanes = 8}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'vector' must be an i64 from 0 to 1, got 2 : i64}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 2}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'lanes' must be a power of two, got 12}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 1, lanes = 12}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'lanes' must be an i64 from 1 to 64, got 128 : i64}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 1, lanes = 128}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'tile' is 0; in a reduction it must be a reduced loop}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 1, tile = 0}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'tile' is the loop of the vectors; vectors divide it already}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 1, tile = 1}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'tile_size' needs 'tile'}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 1, tile_size = 4}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'jam' is 1; it must be a parallel loop, and not that of the vectors}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 1, jam = 1}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'jam_size' needs 'jam'}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 1, jam_size = 4}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: 'unrolled' loops have at most 64 steps together, known when it is compiled}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 0, unrolled = array<i64: 1>}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  // expected-error@+1 {{array.schedule: the loops are ["d0: 10", "d1: 1003 reduced"], got ["d0: 9", "d1: 1003 reduced"]}}
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) attrs = {array.schedule = {vector = 1, loops = ["d0: 9", "d1: 1003 reduced"]}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}
