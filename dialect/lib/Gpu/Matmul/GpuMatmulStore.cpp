// Stores a matmul's result (GpuMatmulStore.h): several elements at once if they are adjacent, and single elements at
// the edges of the matrix.
#include "GpuMatmulStore.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::array {

namespace {

class Storer {
public:
  Storer(GpuMatmulKernel &kernel, bool accumulates, Value start)
      : kernel(kernel), b(kernel.b), product(kernel.product), accumulates(accumulates) {
    for (auto [number, operand] : llvm::enumerate(product.operands)) {
      bool isUsed = number >= GpuMatmul::Result;
      sources.push_back(isUsed ? kernel.flat(operand) : Value());
      Value base = isUsed ? kernel.offset(number, product.batch, kernel.batch) : Value();
      bases.push_back(number == GpuMatmul::Result ? kernel.add(base, start) : base);
    }
  }

  void store(const GpuMatmulFragment &fragment) {
    row = kernel.add(kernel.firstRow, fragment.row);
    column = kernel.add(kernel.firstColumn, fragment.column);
    int64_t count = cast<VectorType>(fragment.sums.getType()).getNumElements();
    int64_t width = std::min(count, product.widthAlong(GpuMatmul::Result, product.n));
    SmallVector<Value> rowOffsets;
    for (unsigned number = 0; number < product.operands.size(); ++number)
      rowOffsets.push_back(sources[number] ? kernel.add(bases[number], kernel.offset(number, product.m, row))
                                           : Value());
    offsets = rowOffsets;
    for (int64_t first = 0; first < count; first += width) {
      OpBuilder::InsertionGuard guard(b);
      enterIfInside(kernel.add(column, first));
      storePart(fragment.sums, first, width);
    }
  }

private:
  /// Continues inside a condition that the row and the column `at` are in the matrix.
  void enterIfInside(Value at) {
    int64_t rows = sizeOf(product.m), columns = sizeOf(product.n);
    const GpuMatmulTile &tile = kernel.plan.tile;
    Value inside = kernel.both(rows % tile.m == 0 ? Value() : kernel.isBelow(row, rows),
                               columns % tile.n == 0 ? Value() : kernel.isBelow(at, columns));
    if (inside)
      b.setInsertionPointToStart(&scf::IfOp::create(b, inside, /*withElseRegion=*/false).getThenRegion().front());
  }

  Value offset(unsigned number, int64_t first) {
    return kernel.add(offsets[number], kernel.offset(number, product.n, kernel.add(column, first)));
  }

  void storePart(Value sums, int64_t first, int64_t width) {
    SmallVector<SmallVector<Value>> inputs; // by operand, by element
    for (unsigned number = GpuMatmul::Inputs; number < product.operands.size(); ++number)
      inputs.push_back(load(number, first, width));
    SmallVector<Value> before = accumulates ? load(GpuMatmul::Result, first, width) : SmallVector<Value>();
    SmallVector<Value> results;
    for (int64_t element = 0; element < width; ++element) {
      Value value = vector::ExtractOp::create(b, sums, first + element);
      if (accumulates)
        value = isa<FloatType>(product.sum) ? arith::AddFOp::create(b, before[element], value).getResult()
                                            : arith::AddIOp::create(b, before[element], value).getResult();
      results.push_back(product.epilogue ? finish(value, inputs, element) : value);
    }
    Value target = sources[GpuMatmul::Result], at = offset(GpuMatmul::Result, first);
    if (width == 1) {
      memref::StoreOp::create(b, results.front(), target, at);
      return;
    }
    Type element = results.front().getType();
    Value all = vector::FromElementsOp::create(b, VectorType::get({width}, element), results);
    auto stored = vector::StoreOp::create(b, all, target, at);
    stored->setAttr("alignment", b.getI64IntegerAttr(width * element.getIntOrFloatBitWidth() / 8));
  }

  /// The elements of an operand at adjacent columns, loaded at once if they are contiguous.
  SmallVector<Value> load(unsigned number, int64_t first, int64_t width) {
    SmallVector<Value> values;
    bool isConstant = llvm::all_of(product.n, [&](const GpuMatmulDim &dim) { return dim.steps[number] == 0; });
    if (width > 1 && !isConstant && product.widthAlong(number, product.n) >= width) {
      Type element = product.operands[number].element();
      auto loaded =
          vector::LoadOp::create(b, VectorType::get({width}, element), sources[number], offset(number, first));
      loaded->setAttr("alignment", b.getI64IntegerAttr(width * element.getIntOrFloatBitWidth() / 8));
      for (int64_t each = 0; each < width; ++each)
        values.push_back(vector::ExtractOp::create(b, loaded, each));
      return values;
    }
    for (int64_t each = 0; each < width; ++each)
      values.push_back(isConstant && each > 0
                           ? values.front()
                           : memref::LoadOp::create(b, sources[number], offset(number, first + each)).getResult());
    return values;
  }

  /// The epilogue's result for a sum.
  Value finish(Value sum, ArrayRef<SmallVector<Value>> inputs, int64_t element) {
    linalg::GenericOp epilogue = product.epilogue;
    linalg::LinalgOp op = product.op;
    Value sums = op.getDpsInits().front();
    IRMapping mapping;
    unsigned next = 0;
    for (OpOperand *input : epilogue.getDpsInputOperands()) {
      BlockArgument argument = epilogue.getMatchingBlockArgument(input);
      bool isScalar = !isa<MemRefType>(input->get().getType());
      mapping.map(argument, isScalar ? input->get() : input->get() == sums ? sum : inputs[next++][element]);
    }
    for (Operation &op : epilogue.getBody()->without_terminator())
      b.clone(op, mapping);
    return mapping.lookupOrDefault(epilogue.getBody()->getTerminator()->getOperand(0));
  }

  GpuMatmulKernel &kernel;
  ImplicitLocOpBuilder &b;
  const GpuMatmul &product;
  bool accumulates;
  SmallVector<Value> sources, bases, offsets; // by operand
  Value row, column;
};

} // namespace

void storeProduct(GpuMatmulKernel &kernel, ArrayRef<GpuMatmulFragment> fragments, bool accumulates, Value start) {
  Storer storer(kernel, accumulates, start);
  for (const GpuMatmulFragment &fragment : fragments)
    storer.store(fragment);
}

} // namespace mlir::array
