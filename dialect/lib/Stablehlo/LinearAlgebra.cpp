// fft, cholesky, triangular_solve.
#include "LinearAlgebra.h"

namespace mlir::array::stablehlo {

Value adjoint(Source &source, Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  auto order = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  if (order.size() >= 2)
    std::swap(order[order.size() - 1], order[order.size() - 2]);
  Value turned = source.transpose(matrix, order);
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  if (!complex || !turned)
    return turned;
  auto whole = cast<RankedTensorType>(turned.getType()), part = whole.clone(complex.getElementType());
  Value real = source.make("real", part, {turned});
  Value imaginary = source.make("neg", part, {source.make("imag", part, {turned})});
  return source.make("complex", whole, {real, imaginary});
}

Value lowerFactor(Source &source, Value matrix) { return source.make("cholesky", matrix.getType(), {matrix}); }

Value choleskyFactor(Source &source, Value matrix, bool isLower) {
  if (isLower)
    return lowerFactor(source, matrix);
  Value turned = adjoint(source, matrix);
  Value factor = turned ? lowerFactor(source, turned) : Value();
  return factor ? adjoint(source, factor) : Value();
}

Value triangularSolution(Source &source, const TriangularForm &form) {
  return source.make("triangular_solve", source.resultType(), {source.operand(0), source.operand(1)},
                     {source.namedFlag("left_side", form.leftSide), source.namedFlag("lower", form.lower),
                      source.namedFlag("transpose_a", form.transpose || form.conjugate),
                      source.namedFlag("conjugate_a", form.conjugate),
                      source.namedFlag("unit_diagonal", form.unitDiagonal)});
}

static LogicalResult convertFft(Source &source) {
  StringRef type = source.word({"type", "fft_type"});
  SmallVector<int64_t> lengths = source.integers({"length", "fft_length"});
  return source.replace(source.make("fft", source.resultType(), {source.operand(0)},
                                    {source.namedWord("fft_type", type), source.named("fft_lengths", lengths)}));
}

static LogicalResult convertCholesky(Source &source) {
  bool isLower = source.flag({"lower"}, false);
  return source.failed() ? failure() : source.replace(choleskyFactor(source, source.operand(0), isLower));
}

static LogicalResult convertTriangularSolve(Source &source) {
  StringRef transpose = source.word({"transpose_a"});
  TriangularForm form = {source.flag({"left_side"}), source.flag({"lower"}), transpose == "TRANSPOSE",
                         transpose == "ADJOINT", source.flag({"unit_diagonal"})};
  if (!source.failed() && !form.transpose && !form.conjugate && transpose != "NO_TRANSPOSE")
    return source.error() << "expected NO_TRANSPOSE, TRANSPOSE or ADJOINT, but got '" << transpose << "'";
  return source.replace(triangularSolution(source, form));
}

void addLinearAlgebraRules(Rules &rules) {
  rules["stablehlo.fft"] = {convertFft, parseClauses, 1, 1};
  rules["stablehlo.cholesky"] = {convertCholesky, parseClauses, 1, 1};
  rules["stablehlo.triangular_solve"] = {convertTriangularSolve, parseClauses, 2, 2};
}

} // namespace mlir::array::stablehlo
