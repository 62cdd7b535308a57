// Unknown sizes: the scalars of a program that are sizes, and the sizes of its arrays. Before it: the parsed program,
// with `?`. After it: the rules, which find the sizes noted at each operation (Source).
#ifndef ARRAY_LIB_STABLEHLO_SIZES_H
#define ARRAY_LIB_STABLEHLO_SIZES_H

#include "Rules.h"
#include "SizeValues.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace mlir::array::stablehlo {

/// The reader's notes at an operation of StableHLO: for each result or operand a map from the symbols to its
/// dimensions, and for each operand a map to its elements; a unit if they are not known.
inline constexpr StringLiteral kResultSizesAttr = "result_sizes", kOperandSizesAttr = "operand_sizes",
                               kElementsAttr = "elements";

/// Notes sizes in the symbols of the finished program, for each result of an operation that a rule makes.
void noteResultSizes(Operation *op, ArrayRef<AffineExpr> sizes);

/// The custom call that states a condition on sizes: with a bool, and numbers for its message.
inline constexpr StringLiteral kShapeAssertion = "shape_assertion";
/// The attribute of a custom call with the operands that are the shapes of its results, in their order; and both.
inline constexpr StringLiteral kShapeOperandsAttr = "indices_of_shape_operands";
SmallVector<std::pair<unsigned, unsigned>> shapeOperands(Operation *op);
/// top_k whose number of elements is an operand.
inline constexpr StringLiteral kDynamicTopK = "stablehlo.dynamic_top_k";

/// Propagates the sizes from the arguments of @main through all functions. If a function is called with several sizes,
/// it gets a copy for each.
class SizeReader {
public:
  SizeReader(ModuleOp module, func::FuncOp entry);

  /// Whether the program has a `?`, or a condition on sizes.
  static bool isNeeded(ModuleOp module);
  /// Notes the sizes at the operations.
  LogicalResult read();
  /// Gives @main, whose operations are those of the array dialect by now, its symbols, dimensions and conditions.
  void declare();

private:
  using Dims = SmallVector<AffineExpr>;
  using Elements = SmallVector<Attribute>;
  /// The known facts about a value: its dimensions, null where unknown, and its elements, none if unknown.
  struct Known {
    Dims dims;
    Elements elements;
  };

  // Sizes.cpp
  LogicalResult readFunction(func::FuncOp function, ArrayRef<Known> arguments);
  LogicalResult readBlock(Block &block);
  LogicalResult readOperation(Operation *op);
  LogicalResult readCall(Operation *op, StringAttr callee);
  LogicalResult readRegions(Operation *op);
  LogicalResult readAssertion(Operation *op);
  void note(Operation *op);
  void numberSymbols();
  /// A map to expressions in the symbols of the finished program; a unit if one is null.
  Attribute finished(ArrayRef<AffineExpr> expressions);

  // SizesOfOperations.cpp
  /// The elements of the result, some null if unknown.
  Elements readElements(Operation *op, int64_t count);
  void readShapes(Operation *op);
  Dims shapeOf(Operation *op);
  Dims shapeOfConvolution(Source &source, ArrayRef<AffineExpr> lhs, ArrayRef<AffineExpr> rhs,
                          ArrayRef<AffineExpr> padding);
  /// The number of windows along one dimension, null if it is not known; and along all, for the lists of sizes,
  /// strides, dilations of the array, dilations, and pairs of padding.
  AffineExpr windowCount(AffineExpr size, AffineExpr window, AffineExpr stride, AffineExpr baseDilation,
                         AffineExpr dilation, AffineExpr low, AffineExpr high);
  Dims windowCounts(ArrayRef<AffineExpr> dims, ArrayRef<Dims> lists);

  Dims dimsOf(Value value);
  Elements elementsAt(Value value) { return known.lookup(value).elements; }
  /// The elements as sizes, null for those that are none; none if they are unknown.
  Dims sizesAt(Value value);
  void setDims(Value value, ArrayRef<AffineExpr> dims);
  AffineExpr number(int64_t value) { return getAffineConstantExpr(value, module.getContext()); }

  ModuleOp module;
  func::FuncOp entry;
  SymbolTable symbols;
  SizeValues values;
  DenseMap<Value, Known> known;
  /// By callee and the known facts about its arguments.
  DenseMap<Attribute, func::FuncOp> copies;
  /// The results of functions; null while a function is being read.
  DenseMap<Operation *, SmallVector<Known>> returned;
  llvm::SetVector<Operation *> active;
  SmallVector<Operation *> visited;
  /// By free symbol: its name, and its expression in the finished program.
  std::map<unsigned, std::string> names;
  SmallVector<AffineExpr> numbers;
  SmallVector<unsigned> order;
  SmallVector<Attribute> facts, requirements;
  SmallVector<Dims> argumentDims, resultDims;
};

} // namespace mlir::array::stablehlo

#endif // ARRAY_LIB_STABLEHLO_SIZES_H
