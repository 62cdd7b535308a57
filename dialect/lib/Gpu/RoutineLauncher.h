// What a routine of the runtime's library is on a GPU: launches of functions of the device library (dialect/device).
// array-map-routines-to-gpu has a table of the routines; how each is launched is in MapRoutinesToGpu*.cpp.
#ifndef ARRAY_LIB_GPU_ROUTINELAUNCHER_H
#define ARRAY_LIB_GPU_ROUTINELAUNCHER_H

#include "array/IR/Array.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// The attribute of an `array.runtime_call` whose last buffer is not a result, but memory to work in.
constexpr StringLiteral kScratchAttr = "array.scratch";

class RoutineLauncher {
public:
  RoutineLauncher(RuntimeCallOp call, ModuleOp module) : call(call), module(module), b(call.getLoc(), call) {}

  const RuntimeCallOp call;

  int64_t param(unsigned index) { return op().getParams()[index]; }
  Value input(unsigned index) { return op().getIns()[index]; }
  Value output(unsigned index) { return op().getOuts()[index]; }
  Value scratch() { return op().getOuts().back(); }
  unsigned outputs() { return op().getOuts().size() - call->hasAttr(kScratchAttr); }
  MemRefType inputType(unsigned index) { return cast<MemRefType>(input(index).getType()); }
  MemRefType outputType(unsigned index) { return cast<MemRefType>(output(index).getType()); }
  /// What the elements of an operand are, inputs first.
  Type element(unsigned operand) { return cast<TypeAttr>(op().getElementTypes()[operand]).getValue(); }

  Value number(int64_t value);

  /// A function of doubles of the device library.
  FlatSymbolRefAttr doubles(StringRef function, unsigned inputs);

  /// Runs an entry of the device library in `blocks` blocks of `threads` threads. It is given a pointer for each
  /// buffer, then shared memory, if it is to have some.
  void launch(StringRef entry, int64_t blocks, int64_t threads, ArrayRef<Value> operands, int64_t sharedBytes = 0);

  ImplicitLocOpBuilder &builder() { return b; }

private:
  RuntimeCallOp op() const { return call; }
  FlatSymbolRefAttr declare(StringRef function, Type type);
  Value pointerTo(Value buffer);

  ModuleOp module;
  ImplicitLocOpBuilder b;
};

/// The name of a type of elements in the names of entries: f32, u8, c64.
std::string elementName(Type type);

/// How many blocks of so many threads have a thread for each of `count`.
int64_t blocksFor(int64_t count, int64_t threads);

// The routines, by family.
LogicalResult mapSpecial(RoutineLauncher &launcher);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROUTINELAUNCHER_H
