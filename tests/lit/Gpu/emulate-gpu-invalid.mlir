// RUN: array-opt %s --array-emulate-gpu --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @k() kernel {
    %c = arith.constant 0 : i32
    // expected-error @below {{'gpu.printf' cannot be emulated in a kernel}}
    gpu.printf "%d", %c : i32
    gpu.return
  }
}

// -----

// Only reductions that all threads reach can be made of shuffles.
gpu.module @kernels {
  gpu.func @k(%x: memref<1xf32>, %v: f32) kernel {
    %zero = arith.constant 0 : index
    // expected-error @below {{'gpu.all_reduce' cannot be emulated in a kernel}}
    %sum = gpu.all_reduce add %v {} : (f32) -> f32
    memref.store %sum, %x[%zero] : memref<1xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @k() kernel {
    // expected-error @below {{'nvvm.barrier0' cannot be emulated in a kernel}}
    nvvm.barrier0
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{a buffer of 'gpu.func' must have a static shape and no layout, but #1 is 'memref<?xf32>'}}
  gpu.func @k(%x: memref<2xf32>, %y: memref<?xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{a parameter of 'gpu.func' must be a buffer, an index, an integer or a float of at most 128 bits, but #0 is 'vector<4xf32>'}}
  gpu.func @k(%x: vector<4xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @k(%x: memref<1xi48>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %v = memref.load %x[%zero] : memref<1xi48>
    // expected-error @below {{'gpu.shuffle' of 'i48' cannot be emulated: expected up to 32 bits, or a multiple}}
    %y, %valid = gpu.shuffle xor %v, %one, %one : i48
    memref.store %y, %x[%zero] : memref<1xi48>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' @helper is not a kernel: inline it into its callers}}
  gpu.func @helper() {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'memref.global' in a memory space cannot be emulated}}
  memref.global "private" @shared : memref<4xf32, #gpu.address_space<workgroup>>
}

// -----

func.func private @k()
gpu.module @kernels {
  // expected-error @below {{the kernel @k needs another name: the module has a symbol of it}}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @main(%size: index) {
    %token = gpu.wait async
    // expected-error @below {{'gpu.launch_func' with tokens, streams or clusters cannot be emulated}}
    %done = gpu.launch_func async [%token] @kernels::@k blocks in (%size, %size, %size) threads in (%size, %size, %size)
    return
  }
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
}

// -----

func.func @main() {
  // expected-error @below {{'gpu.wait' cannot be emulated outside of a kernel}}
  gpu.wait
  return
}

// -----

func.func private @f(%x: i32) -> i32 {
  return %x : i32
}
gpu.module @kernels {
  // expected-error @below {{the module has another symbol @f}}
  llvm.func @f(i32) -> i32
}

// -----

gpu.module @kernels {
  gpu.func @k(%a: i64, %b: i64) kernel {
    %zero = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    // expected-error @below {{'nvvm.wgmma.mma_async' cannot be emulated for these types: expected f16 or bf16, added to sums in f32, without a scale}}
    %0 = nvvm.wgmma.mma_async %a, %b, %zero, #nvvm.shape<m = 64, n = 8, k = 8>, D [#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>],
      A [#nvvm.wgmma_type<tf32>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>], B [#nvvm.wgmma_type<tf32>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<col>]
      : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @k(%x: f32) kernel {
    // expected-error @below {{'nvvm.convert.float.to.tf32' cannot be emulated: expected the rounding mode rna, without saturation or relu}}
    %0 = nvvm.convert.float.to.tf32 %x {rnd = #nvvm.fp_rnd_mode<rn>}
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @k(%x: f32) kernel {
    // expected-error @below {{'llvm.inline_asm' cannot be emulated: expected no instructions, and its operands as results}}
    %0 = llvm.inline_asm "ex2.approx.ftz.f32 $0, $1;", "=f,f" %x : (f32) -> f32
    gpu.return
  }
}
