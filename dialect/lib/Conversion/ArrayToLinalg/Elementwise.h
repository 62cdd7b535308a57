// Elementwise ops as tables: a row names an op and how its scalar body is built. Private to this directory.
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_ELEMENTWISE_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_ELEMENTWISE_H

#include "Lowering.h"

namespace mlir::array {

/// What a body is built from: the operands' elements in body types (bool is i1), and the array op's element types,
/// which tell signed from unsigned.
struct Scalars {
  ImplicitLocOpBuilder &b;
  SmallVector<Value, 3> args;
  Type element; // of the last operand: a select's predicate comes first
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
