// The routines of linear algebra as launches (dialect/device/Solve.cpp, Reflectors.cpp, Eigen.cpp): a block for each
// matrix of a batch in factorizations, a thread for each vector in solves. The params are the op's attributes in
// alphabetical order.
#include "RoutineLauncher.h"

namespace mlir::array {

namespace {

constexpr int64_t kThreads = 128;

LogicalResult mapCholesky(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0));
  if (a.elements() > 0)
    launcher.launch(launcher.entryOf("cholesky"), a.count, threadsFor(a.rows),
                    {launcher.input(0), launcher.output(0), launcher.number(a.rows)});
  return success();
}

LogicalResult mapTriangularSolve(RoutineLauncher &launcher) {
  Matrices b(launcher.inputType(1));
  bool isLeft = launcher.param(1);
  int64_t count = b.elements() == 0 ? 0 : b.count * (isLeft ? b.columns : b.rows);
  SmallVector<Value> operands{launcher.input(0),       launcher.input(1),          launcher.output(0),
                              launcher.number(b.rows), launcher.number(b.columns), launcher.number(count)};
  for (unsigned i = 0; i < 5; ++i) // conjugate_a, left_side, lower, transpose_a, unit_diagonal
    operands.push_back(launcher.number(launcher.param(i)));
  launcher.launch(launcher.entryOf("triangular_solve"), blocksFor(count, kThreads), kThreads, operands);
  return success();
}

LogicalResult mapLu(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0));
  int64_t threads = threadsFor(a.rows);
  launcher.launch(launcher.entryOf("lu"), a.rows == 0 ? 0 : a.count, threads,
                  {launcher.input(0), launcher.output(0), launcher.output(1), launcher.output(2),
                   launcher.number(a.rows), launcher.number(a.columns)},
                  2 * threads * sizeof(double));
  return success();
}

LogicalResult mapPivotsToPermutation(RoutineLauncher &launcher) {
  int64_t count = launcher.inputType(0).getShape().back(), size = launcher.outputType(0).getShape().back();
  int64_t matrices = size == 0 ? 0 : launcher.outputType(0).getNumElements() / size;
  launcher.launch("lu_pivots_to_permutation", blocksFor(matrices, kThreads), kThreads,
                  {launcher.input(0), launcher.output(0), launcher.number(count), launcher.number(size),
                   launcher.number(matrices)});
  return success();
}

LogicalResult mapLinearSolve(RoutineLauncher &launcher) {
  Matrices b(launcher.inputType(3));
  if (b.elements() == 0 || b.count == 0)
    return success();
  int64_t count = b.count * b.columns;
  // If transposed, it holds the result before its rows are permuted.
  Value scratch = launcher.scratch(launcher.outputType(0).getNumElements() * elementBytes(launcher.element(0)));
  launcher.launch(launcher.entryOf("linear_solve"), blocksFor(count, kThreads), kThreads,
                  {launcher.input(1), launcher.input(2), launcher.input(3), launcher.output(0), scratch,
                   launcher.number(b.rows), launcher.number(b.columns), launcher.number(count),
                   launcher.number(launcher.param(0))});
  return success();
}

LogicalResult mapTridiagonalSolve(RoutineLauncher &launcher) {
  Matrices b(launcher.inputType(3));
  if (b.elements() == 0 || b.count == 0)
    return success();
  // The three diagonals, which elimination changes.
  Value diagonals = launcher.scratch(3 * launcher.inputType(1).getNumElements() * elementBytes(launcher.element(0)));
  launcher.launch(launcher.entryOf("tridiagonal_solve"), b.count, threadsFor(b.columns),
                  {launcher.input(0), launcher.input(1), launcher.input(2), launcher.input(3), launcher.output(0),
                   diagonals, launcher.number(b.rows), launcher.number(b.columns)});
  return success();
}

LogicalResult mapCholeskyUpdate(RoutineLauncher &launcher) {
  Matrices r(launcher.inputType(0));
  if (r.elements() == 0 || r.count == 0)
    return success();
  Value vector = launcher.scratch(launcher.inputType(1).getNumElements() * elementBytes(launcher.element(0)));
  launcher.launch(launcher.entryOf("cholesky_update"), r.count, threadsFor(r.rows),
                  {launcher.input(0), launcher.input(1), launcher.output(0), vector, launcher.number(r.rows)});
  return success();
}

/// A block factors each matrix of `from`. `order` is the buffer for the order of the columns, unused without pivots.
void launchFactor(RoutineLauncher &launcher, const Matrices &a, Value reflectors, Value taus, Value order,
                  bool hasPivots) {
  int64_t threads = threadsFor(a.rows);
  launcher.launch(launcher.entryOf("geqrf"), a.count, threads,
                  {launcher.input(0), reflectors, taus, order, launcher.number(a.rows), launcher.number(a.columns),
                   launcher.number(hasPivots)},
                  2 * threads * sizeof(double));
}

LogicalResult mapGeqrf(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0));
  launchFactor(launcher, a, launcher.output(0), launcher.output(1), launcher.output(1), /*hasPivots=*/false);
  return success();
}

LogicalResult mapGeqp3(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0));
  launchFactor(launcher, a, launcher.output(0), launcher.output(1), launcher.output(2), /*hasPivots=*/true);
  return success();
}

/// A thread for each column of the product of the reflectors in an [m, n] matrix.
void launchProduct(RoutineLauncher &launcher, Value reflectors, Value taus, const Matrices &a, Value product,
                   int64_t count) {
  Matrices q(cast<MemRefType>(product.getType()));
  int64_t columns = q.elements() == 0 ? 0 : q.count * q.columns;
  launcher.launch(launcher.entryOf("householder_product"), blocksFor(columns, kThreads), kThreads,
                  {reflectors, taus, product, launcher.number(a.rows), launcher.number(a.columns),
                   launcher.number(q.columns), launcher.number(count), launcher.number(columns)});
}

LogicalResult mapHouseholderProduct(RoutineLauncher &launcher) {
  launchProduct(launcher, launcher.input(0), launcher.input(1), Matrices(launcher.inputType(0)), launcher.output(0),
                launcher.inputType(1).getShape().back());
  return success();
}

LogicalResult mapOrmqr(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0)), c(launcher.inputType(2));
  bool isLeft = launcher.param(0);
  int64_t count = c.elements() == 0 ? 0 : c.count * (isLeft ? c.columns : c.rows);
  launcher.launch(launcher.entryOf("ormqr"), blocksFor(count, kThreads), kThreads,
                  {launcher.input(0), launcher.input(1), launcher.input(2), launcher.output(0), launcher.number(c.rows),
                   launcher.number(c.columns), launcher.number(a.columns),
                   launcher.number(launcher.inputType(1).getShape().back()), launcher.number(count),
                   launcher.number(isLeft), launcher.number(launcher.param(1))});
  return success();
}

LogicalResult mapQr(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0)), r(launcher.outputType(1));
  int64_t bytes = elementBytes(launcher.element(0)), rank = std::min(a.rows, a.columns);
  Value reflectors = launcher.scratch(a.count * a.elements() * bytes), taus = launcher.scratch(a.count * rank * bytes);
  bool hasPivots = launcher.param(1);
  launchFactor(launcher, a, reflectors, taus, hasPivots ? launcher.output(2) : taus, hasPivots);
  int64_t count = r.count * r.elements();
  launcher.launch(launcher.entryOf("upper_triangle"), blocksFor(count, kThreads), kThreads,
                  {reflectors, launcher.output(1), launcher.number(a.rows), launcher.number(a.columns),
                   launcher.number(r.rows), launcher.number(count)});
  launchProduct(launcher, reflectors, taus, a, launcher.output(0), rank);
  return success();
}

LogicalResult mapEigh(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0));
  if (a.elements() == 0 || a.count == 0)
    return success();
  bool hasVectors = launcher.param(0);
  int64_t threads = threadsFor(a.rows), bytes = a.count * a.elements() * elementBytes(launcher.element(0));
  Value work = launcher.scratch(bytes), vectors = launcher.scratch(bytes);
  launcher.launch(launcher.entryOf("eigh"), a.count, threads,
                  {launcher.input(0), hasVectors ? launcher.output(0) : work, launcher.output(hasVectors ? 1 : 0), work,
                   vectors, launcher.number(a.rows), launcher.number(launcher.param(1)), launcher.number(hasVectors)},
                  threads * sizeof(double));
  return success();
}

} // namespace

ArrayRef<Routine> linearAlgebraRoutines() {
  static constexpr Routine rows[] = {
      {"cholesky", mapCholesky},
      {"triangular_solve", mapTriangularSolve},
      {"lu", mapLu},
      {"lu_pivots_to_permutation", mapPivotsToPermutation},
      {"linear_solve", mapLinearSolve},
      {"tridiagonal_solve", mapTridiagonalSolve},
      {"cholesky_update", mapCholeskyUpdate},
      {"geqrf", mapGeqrf},
      {"geqp3", mapGeqp3},
      {"householder_product", mapHouseholderProduct},
      {"ormqr", mapOrmqr},
      {"qr", mapQr},
      {"eigh", mapEigh},
  };
  return rows;
}

} // namespace mlir::array
