// The functions of dialect/device, which kernels call, in MLIR's LLVM dialect. Each is read on demand.
#ifndef ARRAY_LIB_GPU_KERNELS_DEVICELIBRARY_H
#define ARRAY_LIB_GPU_KERNELS_DEVICELIBRARY_H

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::array {

class DeviceLibrary {
public:
  explicit DeviceLibrary(MLIRContext *context);
  ~DeviceLibrary();

  /// The function or constant with this name, which belongs to the library; null if there is none.
  Operation *lookup(StringAttr name);

private:
  Block place;
  ParserConfig config; // which the reader refers to
  BytecodeReader reader;
  DenseMap<StringAttr, Operation *> symbols;
};

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_KERNELS_DEVICELIBRARY_H
