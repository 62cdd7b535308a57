// The sizes that a call decides: array.symbol and array.arena.
#ifndef ARRAY_IR_SYMBOL_H
#define ARRAY_IR_SYMBOL_H

#include "array/IR/Array.h"

#define GET_OP_CLASSES
#include "array/IR/Symbol.h.inc"

#endif // ARRAY_IR_SYMBOL_H
