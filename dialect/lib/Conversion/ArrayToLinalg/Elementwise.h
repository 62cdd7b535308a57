// Elementwise ops as tables: a row has an op and the function that builds its scalar body. Private to this directory.
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_ELEMENTWISE_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_ELEMENTWISE_H

#include "Lowering.h"

namespace mlir::array {

/// The inputs of a body: the operands' elements in body types (bool is i1), and the array op's element types, which
/// distinguish signed from unsigned.
struct Scalars {
  ImplicitLocOpBuilder &b;
  SmallVector<Value, 3> args;
  Type element; // of the last operand: the predicate of a select comes first
  Type resultElement;
};

using ElementwiseBody = Value (*)(Scalars &scalars);

struct ElementwiseRow {
  StringRef op;
  ElementwiseBody body;
};

ArrayRef<ElementwiseRow> arithmeticRows();
ArrayRef<ElementwiseRow> mathRows();
ArrayRef<ElementwiseRow> conversionRows();
ArrayRef<ElementwiseRow> bitsRows();

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_ELEMENTWISE_H
