// Shared parts of the linear algebra operations and the calls of LAPACK.
#ifndef ARRAY_LIB_STABLEHLO_LINEARALGEBRA_H
#define ARRAY_LIB_STABLEHLO_LINEARALGEBRA_H

#include "Rules.h"

namespace mlir::array::stablehlo {

/// The conjugate transpose of the last two dimensions.
Value adjoint(Source &source, Value matrix);

/// L of L Lᴴ, or the upper factor, read from that triangle.
Value choleskyFactor(Source &source, Value matrix, bool isLower);

struct TriangularForm {
  bool leftSide, lower, transpose, conjugate, unitDiagonal;
};

/// The solution from the first two operands, in the result's type.
Value triangularSolution(Source &source, const TriangularForm &form);

} // namespace mlir::array::stablehlo

#endif // ARRAY_LIB_STABLEHLO_LINEARALGEBRA_H
