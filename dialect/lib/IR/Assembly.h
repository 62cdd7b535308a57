// The custom directives of the assembly formats in the .td files. Private to this directory.
#ifndef ARRAY_LIB_IR_ASSEMBLY_H
#define ARRAY_LIB_IR_ASSEMBLY_H

#include "array/IR/Array.h"

namespace mlir::array {

// Usually one type determines the others, and is printed alone (`tensor<4xf32>`); else a function type is printed
// (`(tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>`).

/// All are the same.
ParseResult parseElementwiseTypes(OpAsmParser &parser, Type &operand, Type &result);
ParseResult parseElementwiseTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result);
void printElementwiseTypes(OpAsmPrinter &printer, Operation *op, Type operand, Type result);
void printElementwiseTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result);

/// The result has the shape of the operands and bools as elements.
ParseResult parsePredicateTypes(OpAsmParser &parser, Type &operand, Type &result);
ParseResult parsePredicateTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result);
void printPredicateTypes(OpAsmPrinter &printer, Operation *op, Type operand, Type result);
void printPredicateTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result);

/// The predicate has the shape of the others and bools as elements.
ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse, Type &result);
void printSelectTypes(OpAsmPrinter &printer, Operation *op, Type pred, Type onTrue, Type onFalse, Type result);

/// All are the same.
ParseResult parseThreefryTypes(OpAsmParser &parser, Type &k0, Type &k1, Type &x0, Type &x1, Type &y0, Type &y1);
void printThreefryTypes(OpAsmPrinter &printer, Operation *op, Type k0, Type k1, Type x0, Type x1, Type y0, Type y1);

/// `batch = [0] x [0] contracting = [2] x [1]`; an empty batch is omitted.
ParseResult parseDotDimensions(OpAsmParser &parser, DenseI64ArrayAttr &lhsBatch, DenseI64ArrayAttr &rhsBatch,
                               DenseI64ArrayAttr &lhsContracting, DenseI64ArrayAttr &rhsContracting);
void printDotDimensions(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr lhsBatch, DenseI64ArrayAttr rhsBatch,
                        DenseI64ArrayAttr lhsContracting, DenseI64ArrayAttr rhsContracting);

/// `[0, ?, 2]`: a `?` for each number that is one of `sizes`.
ParseResult parseSizes(OpAsmParser &parser, DenseI64ArrayAttr &numbers);
void printSizes(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr numbers);

/// `5` or `?`.
ParseResult parseSize(OpAsmParser &parser, IntegerAttr &number);
void printSize(OpAsmPrinter &printer, Operation *op, IntegerAttr number);

/// `at(%i, %j) slice_sizes = [2, ?] sizes(%n)`; `sizes` are the last of the operands.
ParseResult parseSlice(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &startsAndSizes,
                       DenseI64ArrayAttr &numbers);
void printSlice(OpAsmPrinter &printer, Operation *op, OperandRange startsAndSizes, DenseI64ArrayAttr numbers);

/// `%x, %y) output_dims(%n)`, after the parenthesis; these are the last of the operands.
ParseResult parseHostOperands(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inputs);
void printHostOperands(OpAsmPrinter &printer, Operation *op, OperandRange inputs);

} // namespace mlir::array

#endif // ARRAY_LIB_IR_ASSEMBLY_H
