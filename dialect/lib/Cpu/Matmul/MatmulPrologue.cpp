// Finds the prologue of a matmul's operand, and emits it block by block (MatmulPrologue.h).
#include "MatmulPrologue.h"
#include "Analysis/ContractionForm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

namespace {

/// The operation that alone writes `buffer`, if `product` alone reads it.
linalg::GenericOp findProducer(linalg::LinalgOp product, Value buffer) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return {};
  linalg::GenericOp producer;
  for (OpOperand &use : alloc->getUses()) {
    if (use.getOwner() == product)
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!generic || producer || !generic.isDpsInit(&use))
      return {};
    producer = generic;
  }
  bool isBefore = producer && producer->getBlock() == product->getBlock() && producer->isBeforeInBlock(product);
  return isBefore ? producer : linalg::GenericOp();
}

bool isElementwise(linalg::GenericOp op) {
  OpOperand *result = op.getDpsInitOperand(0);
  return op.getNumDpsInits() == 1 && op.hasPureBufferSemantics() && op.getNumReductionLoops() == 0 &&
         op.getMatchingIndexingMap(result).isIdentity() && op.getMatchingBlockArgument(result).use_empty() &&
         llvm::all_of(*op.getBody(), [](Operation &nested) {
           return isMemoryEffectFree(&nested) && !isa<linalg::IndexOp>(nested) && nested.getNumRegions() == 0;
         });
}

/// Whether `buffer` is a temporary that only `reader` reads. Then it is erased with the reader, or shares its loops.
bool isReadBy(Value buffer, linalg::GenericOp reader) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  return alloc && llvm::all_of(alloc->getUses(), [&](OpOperand &use) {
           auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
           return use.getOwner() == reader || (op && op.isDpsInit(&use));
         });
}

/// The expected number of bytes in a call.
double bytesOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  std::optional<BoundedSize> elements = elementsOf(buffer);
  return elements ? double(elements->expected()) * double(llvm::divideCeil(type.getElementTypeBitWidth(), 8)) : 0;
}

} // namespace

linalg::GenericOp findPrologue(linalg::LinalgOp product, OpOperand &operand) {
  linalg::GenericOp producer = findProducer(product, operand.get());
  if (!producer || !isElementwise(producer))
    return {};
  // A matrix times itself.
  if (llvm::count(product->getOperands(), operand.get()) != 1)
    return {};
  double saved = bytesOf(operand.get());
  for (OpOperand *input : producer.getDpsInputOperands()) {
    Value buffer = input->get();
    if (!isa<MemRefType>(buffer.getType()))
      continue;
    if (mayOverlap(buffer, product.getDpsInits().front()))
      return {};
    for (Operation *op = producer->getNextNode(); op != product; op = op->getNextNode())
      if (mayWrite(op, buffer))
        return {};
    if (isReadBy(buffer, producer))
      saved -= bytesOf(buffer);
  }
  return saved > 0 ? producer : linalg::GenericOp();
}

FailureOr<SmallVector<Operand>> readPrologue(linalg::GenericOp producer, linalg::LinalgOp product, OpOperand &operand) {
  SmallVector<Operand> found;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType()))
      continue;
    FailureOr<Operand> read = readOperandBeside(producer, *input, product, operand);
    if (failed(read))
      return failure();
    found.push_back(std::move(*read));
  }
  return found;
}

void emitPrologueBlock(ImplicitLocOpBuilder &b, const MatmulPrologue &prologue, Value row, Value column, Value rows,
                       Value columns, Value target) {
  MatmulBuilder g(b);
  linalg::GenericOp producer = prologue.producer;
  AffineExpr dims[] = {b.getAffineDimExpr(0), b.getAffineDimExpr(1)};
  OpFoldResult extents[] = {getAsOpFoldResult(rows), getAsOpFoldResult(columns)};
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  const MatmulMatrix *matrix = prologue.inputs.begin();
  for (Value input : producer.getDpsInputs()) {
    SmallVector<AffineExpr> results;
    if (auto type = dyn_cast<MemRefType>(input.getType())) {
      const BoundedSize steps[] = {matrix->rowStride, matrix->columnStride};
      SmallVector<OpFoldResult> sizes, strides;
      SmallVector<int64_t> shape, layout;
      for (int d = 0; d < 2; ++d) {
        if (steps[d].isStatic(0))
          continue;
        results.push_back(dims[d]);
        sizes.push_back(extents[d]);
        strides.push_back(steps[d].isStatic() ? OpFoldResult(b.getIndexAttr(steps[d].factor()))
                                              : OpFoldResult(g.index(steps[d])));
        shape.push_back(getConstantIntValue(extents[d]).value_or(ShapedType::kDynamic));
        layout.push_back(steps[d].inType());
      }
      Value offset = g.advance(g.advance(matrix->offset, row, steps[0]), column, steps[1]);
      auto strided = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, layout);
      auto view = MemRefType::get(shape, type.getElementType(), strided);
      input = memref::ReinterpretCastOp::create(b, view, matrix->buffer, OpFoldResult(offset), sizes, strides);
      ++matrix;
    }
    inputs.push_back(input);
    maps.push_back(AffineMap::get(2, 0, results, b.getContext()));
  }
  maps.push_back(b.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  auto block = linalg::GenericOp::create(b, TypeRange(), inputs, ValueRange(target), maps, loops);
  IRMapping mapping;
  producer.getRegion().cloneInto(&block.getRegion(), mapping);
}

void erasePrologue(linalg::GenericOp producer) {
  Value buffer = producer.getDpsInits().front();
  producer.erase();
  if (buffer.use_empty())
    buffer.getDefiningOp()->erase();
}

} // namespace mlir::array
