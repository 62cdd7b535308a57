// Own kernels: verification of the grid, the blocks and the regions.
#include "array/IR/Kernel.h"
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

#define GET_OP_CLASSES
#include "array/IR/KernelOps.cpp.inc"

RankedTensorType KernelCallOp::blockType(unsigned number) {
  SmallVector<int64_t> shape(llvm::make_filter_range(blockSizes(number), [](int64_t size) { return size != 0; }));
  Value whole = number < getInputs().size() ? getInputs()[number] : getOutputs()[number - getInputs().size()];
  return RankedTensorType::get(shape, cast<RankedTensorType>(whole.getType()).getElementType());
}

/// C1, C2, C8.
static LogicalResult verifyGrid(KernelCallOp op) {
  int64_t programs = 1;
  for (int64_t size : op.getGrid()) {
    programs = size < 1 ? 0 : llvm::SaturatingMultiply(uint64_t(programs), uint64_t(size));
    if (programs < 1 || programs > std::numeric_limits<int32_t>::max())
      return op.emitOpError("the grid is ")
             << listed(op.getGrid()) << ", expected sizes from 1, and at most 2**31 - 1 programs (C1)";
  }
  int64_t rank = op.getGrid().size(), outputs = op.getOutputs().size();
  if (!areIncreasingDims(op.getParallel(), rank))
    return op.emitOpError("parallel is ")
           << listed(op.getParallel()) << ", expected increasing dimensions of a grid of " << rank
           << " dimensions (C2)";
  if (!areIncreasingDims(op.getOverwritten(), outputs))
    return op.emitOpError("overwritten is ")
           << listed(op.getOverwritten()) << ", expected increasing numbers of " << outputs << " outputs (C8)";
  return success();
}

/// C3, C4.
static LogicalResult verifyBlocks(KernelCallOp op) {
  SmallVector<Type> types(op.getOperandTypes());
  for (Type type : types)
    if (!cast<RankedTensorType>(type).hasStaticShape())
      return op.emitOpError("takes ") << type << ", expected a static shape (C3)";
  if (op.getResultTypes() != op.getOutputs().getTypes())
    return op.emitOpError("the results are ")
           << op.getResultTypes() << ", expected the types of the outputs: " << op.getOutputs().getTypes() << " (C3)";
  if (op.getBlocks().size() != types.size())
    return op.emitOpError("has ") << op.getBlocks().size() << " blocks, expected " << types.size()
                                  << ": one for each input and output (C4)";
  for (auto [number, type] : llvm::enumerate(types)) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape(), sizes = op.blockSizes(number);
    bool fits = sizes.size() == shape.size();
    for (auto [size, whole] : llvm::zip(sizes, shape))
      fits &= size >= 0 && size <= whole && whole >= 1;
    if (!fits)
      return op.emitOpError("block ") << number << " is " << listed(sizes) << " of " << type
                                      << ", expected a size from 0 to that of each dimension, none of which is 0 (C4)";
  }
  return success();
}

LogicalResult KernelCallOp::verifyRegions() {
  if (failed(verifyGrid(*this)) || failed(verifyBlocks(*this)))
    return failure();
  auto index = RankedTensorType::get({}, Builder(*this).getI32Type());
  SmallVector<Type> indices(getGrid().size(), index), offsets;
  for (Type type : getOperandTypes())
    offsets.append(cast<RankedTensorType>(type).getRank(), index);
  auto maps = dyn_cast<KernelYieldOp>(getMaps().front().getTerminator());
  auto body = dyn_cast<KernelYieldOp>(getBody().front().getTerminator());
  if (!maps || !body)
    return emitOpError("a region does not end with array.kernel_yield");
  if (getMaps().getArgumentTypes() != TypeRange(indices))
    return emitOpError("the arguments of maps are ")
           << getMaps().getArgumentTypes() << ", expected the index in the grid: " << TypeRange(indices) << " (C5)";
  if (maps.getOperandTypes() != TypeRange(offsets))
    return emitOpError("maps yields ") << maps.getOperandTypes()
                                       << ", expected an offset for each dimension of the operands: "
                                       << TypeRange(offsets) << " (C5)";
  SmallVector<Type> arguments(indices);
  for (unsigned number = 0; number < getNumOperands(); ++number)
    arguments.push_back(blockType(number));
  TypeRange given = getBody().getArgumentTypes();
  bool isStatic = llvm::all_of(given, [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  });
  if (given.size() < arguments.size() || given.take_front(arguments.size()) != TypeRange(arguments) || !isStatic)
    return emitOpError("the arguments of body are ")
           << given << ", expected the index, the blocks, and scratch memory of static shapes: " << TypeRange(arguments)
           << " (C6)";
  TypeRange written = given.drop_front(indices.size() + getInputs().size());
  if (body.getOperandTypes() != written)
    return emitOpError("body yields ") << body.getOperandTypes()
                                       << ", expected the blocks of the outputs and the scratch memory: " << written
                                       << " (C7)";
  return success();
}
