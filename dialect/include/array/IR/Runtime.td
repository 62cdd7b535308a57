// runtime_call: the dialect's door to library routines of the runtime. It stands on tensors before bufferization and
// on memrefs after it.
#ifndef ARRAY_IR_RUNTIME_TD
#define ARRAY_IR_RUNTIME_TD

include "array/IR/ArrayBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Array_RuntimeCallOp : Array_Op<"runtime_call", [AttrSizedOperandSegments, DestinationStyleOpInterface,
                                                    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "calls a library routine by its name in the runtime's table";
  let description = Array_Doc<[{
    The op is in destination style: the routine reads `ins` and overwrites `outs`, which never overlap. On tensors each
    of `outs` has a result; on memrefs there are none. runtime/Abi.h (`PCRT_LIBRARY_CALLS`) lists the routines and their
    `params`. `element_types` has the types of the elements of `ins`, then `outs`, for the routine: storage types do not
    distinguish `ui32` from `i32` or `i1` from `i8`. An `effectful` call has effects outside the program: it keeps its
    place, even without results. If `params` has a `?`, `sizes` has its value.

    ```mlir
    %y = array.runtime_call "sort" params = [0, 1, 1] element_types = [ui32, ui32]
           ins(%x : tensor<4xi32>) outs(%init : tensor<4xi32>) -> tensor<4xi32>
    ```
  }], [{
    - C1: `name` is a routine of the runtime's table.
    - C2: `ins` and `outs` are all tensors or all memrefs.
    - C3: `element_types` has one type for each of `ins` and `outs`, of the width of its elements (`i1` is stored in
      `i8`).
    - C4: `sizes` has one operand for each `?` in `params`.
  }]>.description;
  let arguments = (ins StrAttr:$name, DenseI64ArrayAttr:$params, TypeArrayAttr:$element_types,
                       Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$ins,
                       Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$outs, Variadic<Index>:$sizes,
                       UnitAttr:$effectful);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$outputs, "::llvm::StringRef":$name, "::llvm::ArrayRef<int64_t>":$params,
                   "::mlir::ArrayAttr":$element_types, "::mlir::ValueRange":$ins, "::mlir::ValueRange":$outs,
                   CArg<"bool", "false">:$effectful), [{
      build($_builder, $_state, outputs, name, params, element_types, ins, outs, ::mlir::ValueRange(), effectful);
    }]>,
  ];
  let assemblyFormat = [{
    $name (`effectful` $effectful^)? `params` `=` custom<Sizes>($params) `element_types` `=` $element_types
    (`ins` `(` $ins^ `:` type($ins) `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)? (`sizes` `(` $sizes^ `)`)? attr-dict
    (`->` type($outputs)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
  let hasVerifier = 1;
}

def Array_SpendOp : Array_Op<"spend", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "counts operations against the budget of the run";
  let description = Array_Doc<[{
    Subtracts `operations` from the budget of the run, `times` times if that is given. If the budget becomes negative, the
    run ends with PCRT_OUT_OF_BUDGET, and its results are invalid. The op is in @main, after bufferization;
    array-add-loop-budget inserts it into loops of unknown length, or before them.

    ```mlir
    array.spend 12
    array.spend 12 times(%n)
    ```
  }], [{
    - C1: `operations` is positive.
  }]>.description;
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$operations, Optional<I64>:$times);
  let assemblyFormat = "$operations (`times` `(` $times^ `)`)? attr-dict";
}

#endif // ARRAY_IR_RUNTIME_TD
