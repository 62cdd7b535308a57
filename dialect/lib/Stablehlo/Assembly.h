// The printed forms of StableHLO. One grammar reads nearly all of them: operands, then `key = value` clauses, then
// types. Before it: MLIR's parser. After it: the rules, which get operations with named attributes.
#ifndef ARRAY_LIB_STABLEHLO_ASSEMBLY_H
#define ARRAY_LIB_STABLEHLO_ASSEMBLY_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::array::stablehlo {

/// Words of the form that are not values of a key, as in `compare LT, %a, %b, SIGNED`.
inline constexpr StringLiteral kWordsAttr = "words";

/// `[1, 2]`, `[0] x [1]`, `<a = 1, b = [2]>`, `{a = 1}`, `DEFAULT`, `true`, `3`, or an attribute of MLIR. Lists of
/// integers become i64 arrays, structures dictionaries, words strings.
ParseResult parseValue(AsmParser &parser, Attribute &value);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: a dictionary of lhs, rhs and out, in the form of
/// array.conv_general_dilated: the position of batch (of the output features), of features (of the input features), of
/// the spatial dimensions.
ParseResult parseConvolutionDimensions(AsmParser &parser, Attribute &value);

/// An attribute of the dialect, after `#stablehlo.` or `#stablehlo<`.
Attribute parseDialectAttribute(AsmParser &parser);

/// Operands, words and clauses, a dictionary, types: the form of most operations.
ParseResult parseClauses(OpAsmParser &parser, OperationState &state);

// The forms that are different.
ParseResult parseConstant(OpAsmParser &parser, OperationState &state);
ParseResult parseSlice(OpAsmParser &parser, OperationState &state);
ParseResult parseConvolution(OpAsmParser &parser, OperationState &state);
ParseResult parseReduce(OpAsmParser &parser, OperationState &state);
ParseResult parseWhile(OpAsmParser &parser, OperationState &state);
ParseResult parseCustomCall(OpAsmParser &parser, OperationState &state);
ParseResult parseComposite(OpAsmParser &parser, OperationState &state);
ParseResult parseTopK(OpAsmParser &parser, OperationState &state);
ParseResult parseTypedOperands(OpAsmParser &parser, OperationState &state);
ParseResult parseMesh(OpAsmParser &parser, OperationState &state);
ParseResult parseShardingConstraint(OpAsmParser &parser, OperationState &state);

} // namespace mlir::array::stablehlo

#endif // ARRAY_LIB_STABLEHLO_ASSEMBLY_H
