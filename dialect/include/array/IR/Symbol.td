// Sizes that a call decides: one compiled module serves all of them.
#ifndef ARRAY_IR_SYMBOL_TD
#define ARRAY_IR_SYMBOL_TD

include "array/IR/ArrayBase.td"

def Array_SymbolOp : Array_Op<"symbol", [Pure]> {
  let summary = "the size of a symbol in this call";
  let description = Array_Doc<[{
    The symbols of a program have numbers; the caller gives the size of each. The attribute `array.dims` of an argument
    or result of `@main` is a map from the symbols to its dimensions (one result for each dimension). An argument
    without it has its own symbol for each `?`.

    The attribute `array.symbols` of `@main` has a dictionary for each symbol: `min` (default 0), `max` (default none)
    and `multiple_of` (default 1), which the caller checks, `expected`, a hint for the choice of code, and `name`, the
    name for callers. `array.requires` has further conditions: dictionaries of `condition` (`"equal"`, or
    `"at_least"`), `sizes`, a map from the `?` of the arguments to both sides and to numbers for the message, and
    `message`, in which `{0}` is the first of these numbers.

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

def Array_ThreadsOp : Array_Op<"threads", [Pure]> {
  let summary = "the maximum number of threads that share a loop of this call";
  let description = [{
    At least 1. The lowering of scatters divides the rows of the target into as many parts; array-emit-entry reads the
    number from the frame. The results of a program don't depend on it.

    ```mlir
    %parts = array.threads : index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Array_ArenaOp : Array_Op<"arena", [MemoryEffects<[MemWrite]>]> {
  let summary = "the number of bytes of temporaries that a call needs";
  let description = [{
    In `@main` of a program whose temporaries have symbolic sizes. array-plan-memory adds the op, and array-emit-entry
    turns it into a function, which the runtime calls before the entry.

    ```mlir
    array.arena %bytes
    ```
  }];
  let arguments = (ins Index:$bytes);
  let assemblyFormat = "$bytes attr-dict";
}

#endif // ARRAY_IR_SYMBOL_TD
