// The conversions out of the array dialect.
#ifndef ARRAY_CONVERSION_PASSES_TD
#define ARRAY_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertArrayToLinalg : Pass<"convert-array-to-linalg", "ModuleOp"> {
  let summary = "Lower the array dialect to linalg on tensors";
  let description = [{
    Replaces every op of the array dialect by `linalg`, `tensor`, `arith`, `math`, `scf` and `func`. Types become storage types:

    - `i1` elements are stored as `i8` holding 0 or 1; bodies compute with `i1` and extend what they store,
    - `uiN` elements become signless `iN`; the unsigned variant of an arithmetic op is chosen by the array op's element type,
    - `!array.token` is erased, from function signatures too.

    Elementwise ops, broadcasts, transposes, iota, gathers, reductions and contractions become `linalg.generic`, one each;
    `array-fuse-elementwise` joins them. What is a view (slice, most reshapes) becomes a `tensor` op.

    Floating-point flags: `contract` on additions, subtractions and multiplications; sums and products that reduce carry
    `reassoc` as well; nothing else. Transcendental functions, sums and contractions of f16 and bf16 compute in f32.

    Scatters become loops over their updates, or, where there are threads for these, a `linalg.generic` that says where
    each of them goes (array/Conversion/ScatterForm.h).
  }];
  let options = [Option<"hasThreads", "has-threads", "bool", "false",
                        "Elements have threads, as on a GPU: nothing that could run at the same time is a loop">,
                 Option<"narrowFactors", "narrow-factors", "bool", "false",
                        "Leave the factors of large convolutions in their own type, where the sums are wider">];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect", "linalg::LinalgDialect", "math::MathDialect",
                           "scf::SCFDialect", "tensor::TensorDialect"];
}

def LowerViews : Pass<"array-lower-views"> {
  let summary = "Cut dimensions of buffers into several sizes that a call decides";
  let description = [{
    A `memref.expand_shape` that cuts one dimension into several of sizes that are not constants becomes a
    `memref.reinterpret_cast` with the strides that follow: expand-strided-metadata, which comes next, takes one such size
    for each dimension.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CheckShapes : Pass<"array-check-shapes", "ModuleOp"> {
  let summary = "Refuse types of more bytes than can be counted";
  let description = [{
    Sizes, strides and bytes are numbers of 64 bits from here on. The shape of every value has to fit (array/IR/Bytes.h): a
    product that wraps would become a buffer that is too small. It stands at the beginning of every pipeline.
  }];
}

def CheckInput : Pass<"array-check-input", "ModuleOp"> {
  let summary = "Check a module that comes from elsewhere, and make it check what it can't know before it runs";
  let description = [{
    For modules that were read from files: those that this package traces are right by construction. What works on memory by
    address is refused, and so are attributes and operations that only passes make. What is undefined when it goes wrong is
    defined: an index outside of a tensor and a step that is not positive are errors of the run (the routine `check` of the
    runtime), an integer divided by 0 is -1 of signed, the largest number of unsigned ones, with the remainder of the
    dividend.

    The module gets the attribute `array.checked`, by which array-guard-sizes knows it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::array::ArrayDialect", "::mlir::tensor::TensorDialect"];
}

def GuardSizes : Pass<"array-guard-sizes", "func::FuncOp"> {
  let summary = "Check, in modules from elsewhere, that sizes which a call decides fit each other";
  let description = [{
    In modules with `array.checked`, after array-resolve-sizes. Every operation on tensors of dynamic sizes rests on some of
    them being equal, or within others. What does not follow from how they are computed is checked where the operation
    stands, by the routine `check`; of the checks that are there already those that follow go.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::array::ArrayDialect", "::mlir::tensor::TensorDialect"];
}

#endif // ARRAY_CONVERSION_PASSES_TD
