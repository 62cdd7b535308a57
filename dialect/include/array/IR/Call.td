// Calls between the functions of a module.
#ifndef ARRAY_IR_CALL_TD
#define ARRAY_IR_CALL_TD

include "array/IR/ArrayBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"

def Array_CallOp : Array_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function of the module: a jitted function inside another";
  let description = Array_Doc<[{
    ```mlir
    %y = array.call @layer(%x, %w) : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
    ```
  }], [{
    - C1: `callee` names a `func.func` in the closest symbol table.
    - C2: the operands have the types of the callee's arguments.
    - C3: the results have the types of the callee's results.
  }]>.description;
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Array_Value>:$operands,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<Array_Value>);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
  let extraClassDeclaration = [{
    operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
    ::mlir::CallInterfaceCallable getCallableForCallee() { return getCalleeAttr(); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(::llvm::cast<::mlir::SymbolRefAttr>(callee)));
    }
  }];
}

#endif // ARRAY_IR_CALL_TD
