// Sizes that a call decides: one compiled module serves all of them.
#ifndef ARRAY_IR_SYMBOL_TD
#define ARRAY_IR_SYMBOL_TD

include "array/IR/ArrayBase.td"

def Array_SymbolOp : Array_Op<"symbol", [Pure]> {
  let summary = "the size that a symbol has in this call";
  let description = Array_Doc<[{
    The symbols of a program are numbered; the caller gives the size of each. An argument or result of `@main` says by
    `array.dims` what its dimensions are, as a map from the symbols (one result for each dimension). An argument that
    does not say it has a symbol of its own for each `?`.

    What is known of the symbols' sizes stands at `@main`: `array.symbols` has a dictionary for each, with `min` (0
    without it), `max` (no bound without it) and `multiple_of` (1), which the caller checks, and `expected`, a size to
    choose code for.

    ```mlir
    func.func @main(%x: tensor<?x4xf32> {array.dims = affine_map<()[n] -> (n, 4)>}) -> tensor<?xf32>
        attributes { array.symbols = [{min = 1, max = 4096} ] } {
      %n = array.symbol 0 : index
    ```
  }], [{
    - C1: `number` is at least 0.
  }]>.description;
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number);
  let results = (outs Index:$result);
  let assemblyFormat = "$number attr-dict `:` type($result)";
}

def Array_ArenaOp : Array_Op<"arena", [MemoryEffects<[MemWrite]>]> {
  let summary = "says how many bytes of temporaries a call needs";
  let description = [{
    In `@main` of a program whose temporaries have sizes that a call decides: array-plan-memory says it, and
    array-emit-entry makes the function of it that the caller asks before the call.

    ```mlir
    array.arena %bytes
    ```
  }];
  let arguments = (ins Index:$bytes);
  let assemblyFormat = "$bytes attr-dict";
}

#endif // ARRAY_IR_SYMBOL_TD
