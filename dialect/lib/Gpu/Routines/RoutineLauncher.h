// Implements a routine of the runtime's library on a GPU: launches of functions of the device library (dialect/device).
// MapRoutinesToGpu*.cpp have the launches of each routine, with a table for each family.
#ifndef ARRAY_LIB_GPU_ROUTINES_ROUTINELAUNCHER_H
#define ARRAY_LIB_GPU_ROUTINES_ROUTINELAUNCHER_H

#include "array/IR/Array.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// The products of the dimensions before and after one dimension of a buffer, and its size.
struct AxisSizes {
  int64_t outer = 1, length = 1, inner = 1;
  AxisSizes(ArrayRef<int64_t> shape, int64_t axis);
};

/// Builds launches of the device library before an operation.
class DeviceLauncher {
public:
  DeviceLauncher(Operation *at, ModuleOp module) : module(module), b(at->getLoc(), at) {}

  /// Memory to work in.
  Value scratch(int64_t bytes);
  Value number(int64_t value);
  Value real(double value);

  /// A function of doubles of the device library.
  FlatSymbolRefAttr doubles(StringRef function, unsigned inputs);

  /// Runs an entry of the device library in `blocks` blocks of `threads` threads. Its arguments are a pointer for each
  /// buffer, the numbers, then shared memory, if any.
  void launch(StringRef entry, int64_t blocks, int64_t threads, ArrayRef<Value> operands, int64_t sharedBytes = 0);

  ImplicitLocOpBuilder &builder() { return b; }

private:
  FlatSymbolRefAttr declare(StringRef function, Type type);
  Value pointerTo(Value buffer);

  ModuleOp module;
  ImplicitLocOpBuilder b;
};

class RoutineLauncher : public DeviceLauncher {
public:
  RoutineLauncher(RuntimeCallOp call, ModuleOp module) : DeviceLauncher(call, module), call(call) {}

  const RuntimeCallOp call;

  int64_t param(unsigned index) { return op().getParams()[index]; }
  OperandRange inputs() { return op().getIns(); }
  Value input(unsigned index) { return op().getIns()[index]; }
  Value output(unsigned index) { return op().getOuts()[index]; }
  OperandRange outputs() { return op().getOuts(); }
  MemRefType inputType(unsigned index) { return cast<MemRefType>(input(index).getType()); }
  MemRefType outputType(unsigned index) { return cast<MemRefType>(output(index).getType()); }
  /// The element type of an operand, inputs first.
  Type element(unsigned operand) { return cast<TypeAttr>(op().getElementTypes()[operand]).getValue(); }

  /// The entry for a routine of linear algebra on elements of the first operand.
  std::string entryOf(StringRef routine);

private:
  RuntimeCallOp op() const { return call; }
};

/// The name of a type of elements in the names of entries: f32, u8, c64.
std::string elementName(Type type);

/// How many bytes an element takes.
int64_t elementBytes(Type type);

/// The number of blocks of `threads` threads with a thread for each of `count`.
int64_t blocksFor(int64_t count, int64_t threads);

/// Running reductions along a dimension, of one of the operations of runtime/Accumulations.h.
void launchCumulative(DeviceLauncher &launcher, StringRef operation, Type element, Value source, Value target,
                      const AxisSizes &sizes, bool isReverse);

/// The matrices of an operand: the leading dimensions are those of the batch.
struct Matrices {
  int64_t count = 1, rows, columns;

  explicit Matrices(MemRefType type);
  int64_t elements() const { return rows * columns; }
};

/// Threads of a block for a matrix with this many elements in a column: a power of two.
int64_t threadsFor(int64_t rows);

/// A routine of the runtime's library that has kernels.
struct Routine {
  StringRef name;
  /// Builds the launches that replace the call.
  LogicalResult (*map)(RoutineLauncher &);
};

/// The row for a name, or null.
const Routine *findRoutine(StringRef name);

// The rows, by family: each in its MapRoutinesToGpu*.cpp.
ArrayRef<Routine> specialRoutines();
ArrayRef<Routine> cumulativeRoutines();
ArrayRef<Routine> sortRoutines();
ArrayRef<Routine> windowRoutines();
ArrayRef<Routine> fftRoutines();
ArrayRef<Routine> linearAlgebraRoutines();
ArrayRef<Routine> spectralRoutines();

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROUTINES_ROUTINELAUNCHER_H
