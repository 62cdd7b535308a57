// The singular value decomposition, the reductions of spectral decompositions, and the exponential as launches
// (dialect/device/Svd.cpp, Hessenberg.cpp, Exponential.cpp): a block for each matrix of a batch. The params are the
// op's attributes in alphabetical order.
#include "RoutineLauncher.h"

namespace mlir::array {

namespace {

/// The choice between QR iterations and divide and conquer (param 0) is for LAPACK: kernels have one method.
LogicalResult mapSvd(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0));
  if (a.count == 0)
    return success();
  bool hasVectors = launcher.param(1), isFull = launcher.param(2);
  int64_t greater = std::max(a.rows, a.columns), lesser = std::min(a.rows, a.columns);
  int64_t bytes = a.count * elementBytes(launcher.element(0));
  Value work = launcher.scratch(a.elements() * bytes), vectors = launcher.scratch(lesser * lesser * bytes);
  // At most 32 threads share a pair of columns.
  int64_t threads = threadsFor(lesser / 2 * std::min<int64_t>(greater, 32));
  launcher.launch(launcher.entryOf("svd"), a.count, threads,
                  {launcher.input(0), launcher.output(0), hasVectors ? launcher.output(1) : work,
                   hasVectors ? launcher.output(2) : vectors, work, vectors,
                   launcher.scratch(a.count * lesser * sizeof(double)),
                   launcher.scratch(a.count * lesser * sizeof(int32_t)), launcher.scratch(greater * bytes),
                   launcher.number(a.rows), launcher.number(a.columns), launcher.number(isFull ? a.rows : lesser),
                   launcher.number(isFull ? a.columns : lesser), launcher.number(hasVectors)},
                  4 * threads * sizeof(double));
  return success();
}

LogicalResult mapHessenberg(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0));
  int64_t threads = threadsFor(a.rows);
  if (a.elements() > 0)
    launcher.launch(launcher.entryOf("hessenberg"), a.count, threads,
                    {launcher.input(0), launcher.output(0), launcher.output(1), launcher.number(a.rows)},
                    threads * sizeof(double));
  return success();
}

LogicalResult mapTridiagonal(RoutineLauncher &launcher) {
  Matrices a(launcher.inputType(0));
  int64_t threads = threadsFor(a.rows);
  if (a.elements() == 0 || a.count == 0)
    return success();
  SmallVector<Value> operands{launcher.input(0)};
  llvm::append_range(operands, launcher.outputs()); // reflectors, diagonal, off-diagonal, taus
  operands.append({launcher.scratch(a.count * a.elements() * elementBytes(launcher.element(0))),
                   launcher.number(a.rows), launcher.number(launcher.param(0))});
  launcher.launch(launcher.entryOf("tridiagonal"), a.count, threads, operands, threads * sizeof(double));
  return success();
}

/// The exponential of an [n, n] matrix made of the inputs, in each block.
LogicalResult launchExponential(RoutineLauncher &launcher, StringRef routine, int64_t n) {
  constexpr int64_t matricesOfBlock = 8, coefficients = 14; // of Exponential.cpp and of the highest order
  Matrices a(launcher.inputType(0));
  if (a.elements() == 0 || a.count == 0)
    return success();
  int64_t threads = threadsFor(n * n);
  SmallVector<Value> operands(launcher.inputs());
  operands.append(
      {launcher.output(0), launcher.scratch(a.count * matricesOfBlock * n * n * elementBytes(launcher.element(0))),
       launcher.scratch(a.count * n * sizeof(int32_t)), launcher.number(a.rows), launcher.number(launcher.param(0))});
  launcher.launch(launcher.entryOf(routine), a.count, threads, operands, (2 * threads + coefficients) * sizeof(double));
  return success();
}

LogicalResult mapExpm(RoutineLauncher &launcher) {
  return launchExponential(launcher, "expm", Matrices(launcher.inputType(0)).rows);
}

LogicalResult mapExpmFrechet(RoutineLauncher &launcher) {
  return launchExponential(launcher, "expm_frechet", 2 * Matrices(launcher.inputType(0)).rows);
}

} // namespace

ArrayRef<Routine> spectralRoutines() {
  static constexpr Routine rows[] = {
      {"svd", mapSvd},   {"hessenberg", mapHessenberg},    {"tridiagonal", mapTridiagonal},
      {"expm", mapExpm}, {"expm_frechet", mapExpmFrechet},
  };
  return rows;
}

} // namespace mlir::array
