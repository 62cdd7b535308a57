// Launches of the device library's functions on whole buffers.
#include "RoutineLauncher.h"
#include "array/Gpu/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

std::string elementName(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return "c" + std::to_string(2 * complex.getElementType().getIntOrFloatBitWidth());
  std::string bits = std::to_string(type.getIntOrFloatBitWidth());
  if (type.isInteger(1))
    return "u8"; // the storage type
  if (type.isBF16())
    return "bf16";
  return (isa<FloatType>(type) ? "f" : type.isUnsignedInteger() ? "u" : "i") + bits;
}

AxisSizes::AxisSizes(ArrayRef<int64_t> shape, int64_t axis) {
  for (auto [dim, size] : llvm::enumerate(shape))
    (static_cast<int64_t>(dim) < axis ? outer : static_cast<int64_t>(dim) == axis ? length : inner) *= size;
}

int64_t blocksFor(int64_t count, int64_t threads) { return llvm::divideCeil(count, threads); }

int64_t elementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

Matrices::Matrices(MemRefType type)
    : rows(type.getDimSize(type.getRank() - 2)), columns(type.getDimSize(type.getRank() - 1)) {
  for (int64_t size : type.getShape().drop_back(2))
    count *= size;
}

int64_t threadsFor(int64_t rows) { return std::clamp<int64_t>(llvm::PowerOf2Ceil(rows), 32, 256); }

std::string RoutineLauncher::entryOf(StringRef routine) { return (routine + "_" + elementName(element(0))).str(); }

Value DeviceLauncher::scratch(int64_t bytes) {
  return memref::AllocOp::create(b, MemRefType::get({bytes}, b.getI8Type()));
}

Value DeviceLauncher::real(double value) { return arith::ConstantFloatOp::create(b, b.getF64Type(), APFloat(value)); }

Value DeviceLauncher::number(int64_t value) { return arith::ConstantIntOp::create(b, value, 64); }

FlatSymbolRefAttr DeviceLauncher::declare(StringRef function, Type type) {
  if (!module.lookupSymbol(function)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto declared = LLVM::LLVMFuncOp::create(b, function, type);
    declared.setPrivate();
  }
  return FlatSymbolRefAttr::get(b.getContext(), function);
}

FlatSymbolRefAttr DeviceLauncher::doubles(StringRef function, unsigned inputs) {
  Type f64 = b.getF64Type();
  return declare(function, LLVM::LLVMFunctionType::get(f64, SmallVector<Type>(inputs, f64)));
}

Value DeviceLauncher::pointerTo(Value buffer) {
  // Kernels do not accept empty buffers.
  if (cast<MemRefType>(buffer.getType()).getNumElements() == 0)
    return LLVM::ZeroOp::create(b, LLVM::LLVMPointerType::get(b.getContext()));
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), integer);
}

void DeviceLauncher::launch(StringRef entry, int64_t blocks, int64_t threads, ArrayRef<Value> operands,
                            int64_t sharedBytes) {
  if (blocks == 0)
    return;
  auto size = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value).getResult(); };
  Value one = size(1);
  auto launch = gpu::LaunchOp::create(b, size(blocks), one, one, size(threads), one, one);
  launch->setAttr(kLaunchNameAttr, b.getStringAttr(entry));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&launch.getBody().front());
  SmallVector<Value> arguments;
  for (Value operand : operands)
    arguments.push_back(isa<MemRefType>(operand.getType()) ? pointerTo(operand) : operand);
  if (sharedBytes > 0) {
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    // In units of 64 bits, so that they are aligned for every element type.
    int64_t words = llvm::divideCeil(sharedBytes, 8);
    auto type = MemRefType::get({words}, b.getI64Type(), MemRefLayoutAttrInterface(), space);
    Value shared = launch.addWorkgroupAttribution(type, b.getLoc());
    auto generic = MemRefType::get({words}, b.getI64Type());
    arguments.push_back(pointerTo(memref::MemorySpaceCastOp::create(b, generic, shared)));
  }
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          llvm::to_vector(ValueRange(arguments).getTypes()));
  LLVM::CallOp::create(b, type, declare(entry, type), arguments);
  gpu::TerminatorOp::create(b);
}

} // namespace mlir::array
