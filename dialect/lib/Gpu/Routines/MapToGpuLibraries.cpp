// array-map-to-gpu-libraries: operations that GPU libraries compute faster than generated kernels become, or stay,
// calls of the runtime, which passes them on to the library. Runs before array-map-matmuls-to-gpu and
// array-map-routines-to-gpu, which have kernels for the remaining ones. Two tables list the operations.
#include "Analysis/ContractionForm.h"
#include "Cpu/Matmul/MatmulEpilogue.h"
#include "Gpu/Matmul/GpuMatmulEpilogue.h"
#include "Gpu/Matmul/GpuMatmulForm.h"
#include "array/Gpu/Kernels.h"
#include "array/Gpu/Passes.h"
#include "array/IR/Array.h"
#include "array/IR/Precision.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPTOGPULIBRARIES
#include "array/Gpu/Passes.h.inc"

namespace {

//===-- Products ------------------------------------------------------------------------------------------------===//

constexpr StringLiteral kProducts = "cublaslt", kTransforms = "cufft", kDecompositions = "cusolver";
constexpr StringLiteral kLibraries[] = {kProducts, kTransforms, kDecompositions};

/// Minimum multiplications, and minimum sizes (those of a tile of tensor cores), for a call: a call costs the host as
/// much as several launches, and a library is not faster than a kernel that leaves most of the GPU idle.
constexpr int64_t kLeastMultiplications = int64_t(1) << 24, kLeastSize = 64;
/// The minimum in a branch, or in a loop with a condition: kernels are launched ahead of the condition, and read a
/// flag; a call makes the host wait, for some ten microseconds.
constexpr int64_t kLeastMultiplicationsInBranch = int64_t(1) << 33;

/// Matmuls that the library computes, with sums of type `sum`.
struct LibraryProduct {
  bool (*isFactor)(Type);
  bool (*isSum)(Type);
  /// If the epilogue is more than a cast, the generated kernel computes it in registers. After the library, the
  /// epilogue is a kernel that reads the sums and writes results, 8 bytes for each. From this many terms on, this takes
  /// less than an eighth of the matmul: on sm_90 memory moves 8 bytes in the time of about 1000 multiplications of
  /// 16-bit floats, and 70 of f32 or f64.
  int64_t leastTermsBeforeOthers;
};
constexpr LibraryProduct kLibraryProducts[] = {
    {[](Type type) { return type.isF16() || type.isBF16(); }, [](Type type) { return type.isF32(); }, 8192},
    {[](Type type) { return type.isF32(); }, [](Type type) { return type.isF32(); }, 512},
    {[](Type type) { return type.isF64(); }, [](Type type) { return type.isF64(); }, 512},
};

/// The row for a matmul whose factors have one type, widened to that of the sums if they are narrower.
const LibraryProduct *findRow(const GpuMatmul &product) {
  Type factor = product.operands[GpuMatmul::Left].element();
  if (product.operands[GpuMatmul::Right].element() != factor)
    return nullptr;
  for (const LibraryProduct &row : kLibraryProducts) {
    if (!row.isFactor(factor) || !row.isSum(product.sum))
      continue;
    auto isWidened = [&](ArrayRef<Operation *> casts) {
      return factor == product.sum ? casts.empty() : casts.size() == 1 && isa<arith::ExtFOp>(casts.front());
    };
    return isWidened(product.casts[0]) && isWidened(product.casts[1]) ? &row : nullptr;
  }
  return nullptr;
}

/// Whether `op` only rounds the sums to the type of factors.
bool isRounding(linalg::GenericOp op, Type factor) {
  auto cast = dyn_cast<arith::TruncFOp>(op.getBody()->front());
  return op.getNumDpsInputs() == 1 && cast && op.getBody()->getTerminator()->getOperand(0) == cast.getResult() &&
         cast.getIn() == op.getBody()->getArgument(0) && cast.getType() == factor;
}

/// The step of an operand along a dimension; for a dimension of size 1, the step of a dense matrix.
int64_t stepAlong(const GpuMatmulDims &dims, unsigned operand, int64_t otherwise) {
  return dims.empty() ? otherwise : dims.back().steps[operand];
}

/// The library's description of the matmul; none if an operand has an unsupported layout.
std::optional<PcrtProduct> sizesFor(const GpuMatmul &product) {
  using Product = GpuMatmul;
  GpuMatmulDims batch = product.batch, m = product.m, n = product.n, k = product.k;
  // If the whole batch shares a factor, the other one's rows or columns are in two dimensions, one of which is the
  // batch.
  for (GpuMatmulDims *dims : {&m, &n})
    if (batch.empty() && dims->size() == 2) {
      batch = {dims->front()};
      dims->erase(dims->begin());
    }
  for (GpuMatmulDims *dims : {&batch, &m, &n, &k})
    if (dims->size() > 1)
      return std::nullopt;
  PcrtProduct sizes = {};
  sizes.batch = sizeOf(batch), sizes.rows = sizeOf(m), sizes.columns = sizeOf(n), sizes.terms = sizeOf(k);
  sizes.leftBatch = stepAlong(batch, Product::Left, 0);
  sizes.leftRow = stepAlong(m, Product::Left, 0), sizes.leftTerm = stepAlong(k, Product::Left, 0);
  sizes.rightBatch = stepAlong(batch, Product::Right, 0);
  sizes.rightTerm = stepAlong(k, Product::Right, 0), sizes.rightColumn = stepAlong(n, Product::Right, 0);
  sizes.resultBatch = stepAlong(batch, Product::Result, sizes.rows * sizes.columns);
  sizes.resultRow = stepAlong(m, Product::Result, 0);
  auto isMatrix = [](int64_t rows, int64_t columns, int64_t rowStep, int64_t columnStep) {
    return (columnStep == 1 && rowStep >= columns) || (rowStep == 1 && columnStep >= rows);
  };
  // A call must write a dense result: its memory holds nothing else.
  bool isDense = stepAlong(n, Product::Result, 0) == 1 &&
                 product.operands[Product::Result].extent == sizes.batch * sizes.rows * sizes.columns;
  bool isForward = sizes.leftBatch >= 0 && sizes.rightBatch >= 0;
  bool isStatic = llvm::none_of(product.operands,
                                [](const GpuMatmulOperand &operand) { return ShapedType::isDynamic(operand.start); });
  if (!isDense || !isForward || !isStatic || !isMatrix(sizes.rows, sizes.terms, sizes.leftRow, sizes.leftTerm) ||
      !isMatrix(sizes.terms, sizes.columns, sizes.rightTerm, sizes.rightColumn))
    return std::nullopt;
  return sizes;
}

bool isLarge(linalg::LinalgOp op, const PcrtProduct &sizes) {
  bool isInBranch = false;
  for (Operation *outer = op->getParentOp(); outer; outer = outer->getParentOp())
    isInBranch |= isa<scf::IfOp, scf::WhileOp, scf::IndexSwitchOp>(outer);
  int64_t multiplications = sizes.batch * sizes.rows * sizes.columns * sizes.terms;
  return std::min({sizes.rows, sizes.columns, sizes.terms}) >= kLeastSize &&
         multiplications >= (isInBranch ? kLeastMultiplicationsInBranch : kLeastMultiplications);
}

/// The elements from the first to the last that the matmul uses, as a 1-D operand of the call.
Value denseView(ImplicitLocOpBuilder &b, const GpuMatmulOperand &operand) {
  auto type = cast<MemRefType>(operand.buffer.getType());
  if (memref::isStaticShapeAndContiguousRowMajor(type))
    return operand.buffer;
  auto layout = StridedLayoutAttr::get(b.getContext(), operand.start, {1});
  return memref::ReinterpretCastOp::create(b, MemRefType::get({operand.extent}, type.getElementType(), layout),
                                           operand.buffer, operand.start, ArrayRef<int64_t>{operand.extent},
                                           ArrayRef<int64_t>{1});
}

void emitCall(ImplicitLocOpBuilder &b, linalg::LinalgOp op, const GpuMatmul &product, PcrtProduct sizes) {
  sizes.allowsTf32 = allowsTf32(op);
  ArrayRef<int64_t> params(reinterpret_cast<const int64_t *>(&sizes), sizeof(sizes) / sizeof(int64_t));
  SmallVector<Value> views;
  SmallVector<Attribute> elements;
  for (const GpuMatmulOperand &operand : ArrayRef(product.operands).take_front(GpuMatmul::Inputs)) {
    views.push_back(denseView(b, operand));
    elements.push_back(TypeAttr::get(operand.element()));
  }
  auto call = RuntimeCallOp::create(b, TypeRange(), "product", params, b.getArrayAttr(elements),
                                    ArrayRef(views).take_front(GpuMatmul::Result), views.back(),
                                    /*effectful=*/false);
  call->setAttr(kLibraryAttr, b.getStringAttr(kProducts));
}

void mapProduct(linalg::LinalgOp op) {
  FailureOr<GpuMatmul> product = readGpuProduct(op);
  if (failed(product))
    return;
  const LibraryProduct *row = findRow(*product);
  std::optional<PcrtProduct> sizes = sizesFor(*product);
  linalg::FillOp fill = findZeroFill(op, op.getDpsInits().front());
  if (!row || !sizes || !isLarge(op, *sizes) || !fill)
    return;
  linalg::GenericOp epilogue = findEpilogue(op);
  if (epilogue && isRounding(epilogue, product->operands[GpuMatmul::Left].element()) && canFuse(op, epilogue)) {
    FailureOr<GpuMatmul> rounded = readGpuProduct(op, epilogue);
    if (std::optional<PcrtProduct> its = succeeded(rounded) ? sizesFor(*rounded) : std::nullopt) {
      ImplicitLocOpBuilder b(op->getLoc(), epilogue);
      emitCall(b, op, *rounded, *its);
      return eraseWithEpilogue(op, epilogue);
    }
  }
  if (epilogue && sizes->terms < row->leastTermsBeforeOthers)
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  emitCall(b, op, *product, *sizes);
  fill.erase();
  op.erase();
}

//===-- Routines ------------------------------------------------------------------------------------------------===//

/// The kernels take a pass over memory for each factor of a length, with 8 as the largest power of two, and time in
/// proportion to the largest factor. A library is much faster if a factor is larger, or if it takes fewer passes. Fewer
/// elements do not keep a GPU busy.
constexpr int64_t kLeastTransformed = 4096, kLargestFactor = 8, kLeastLength = 512;

bool isLargeTransform(RuntimeCallOp call) {
  // The side of a real transform that has all elements.
  auto from = cast<MemRefType>(call.getIns()[0].getType()), to = cast<MemRefType>(call.getOuts()[0].getType());
  Type result = cast<TypeAttr>(call.getElementTypes()[1]).getValue();
  MemRefType whole = isa<ComplexType>(result) ? from : to;
  auto isHard = [](int64_t length) {
    int64_t rest = length;
    for (int64_t factor = 2; factor < kLargestFactor; ++factor)
      while (rest > 0 && rest % factor == 0)
        rest /= factor;
    return rest > 1 || length >= kLeastLength;
  };
  bool isEmpty = from.getNumElements() == 0 || to.getNumElements() == 0;
  return !isEmpty && whole.getNumElements() >= kLeastTransformed &&
         llvm::any_of(whole.getShape().take_back(call.getParams()[1]), isHard);
}

/// A kernel uses one block for each matrix, so one of a hundred multiprocessors. From `Least` rows and columns on a
/// library is faster, unless many matrices keep the other multiprocessors busy, because it takes one matrix after the
/// other.
template <int64_t Least> bool isLargeMatrix(RuntimeCallOp call) {
  auto matrices = cast<MemRefType>(call.getIns()[0].getType());
  ArrayRef<int64_t> shape = matrices.getShape();
  int64_t size = std::min(shape[shape.size() - 2], shape.back());
  return size >= Least && matrices.getNumElements() / (shape[shape.size() - 2] * shape.back()) <= size / 16;
}

struct LibraryRoutine {
  StringLiteral name, library;
  bool (*isBetter)(RuntimeCallOp);
};
constexpr LibraryRoutine kLibraryRoutines[] = {
    {"fft", kTransforms, isLargeTransform},
    {"cholesky", kDecompositions, isLargeMatrix<128>},
    {"lu", kDecompositions, isLargeMatrix<128>},
    // The kernels use Jacobi's method, which takes several times the operations.
    {"eigh", kDecompositions, isLargeMatrix<64>},
    {"svd", kDecompositions, isLargeMatrix<64>},
};

//===-- The pass ------------------------------------------------------------------------------------------------===//

struct MapToGpuLibraries : impl::MapToGpuLibrariesBase<MapToGpuLibraries> {
  using MapToGpuLibrariesBase::MapToGpuLibrariesBase;

  void runOnOperation() override {
    for (const std::string &library : libraries)
      if (!llvm::is_contained(kLibraries, library)) {
        getOperation().emitError("array-map-to-gpu-libraries: expected the option 'libraries' to name some of ")
            << llvm::join(ArrayRef(kLibraries), ", ") << ", got '" << library << "'";
        return signalPassFailure();
      }
    getOperation().walk([&](RuntimeCallOp call) {
      for (const LibraryRoutine &row : kLibraryRoutines)
        if (row.name == call.getName() && llvm::is_contained(libraries, row.library) && row.isBetter(call))
          call->setAttr(kLibraryAttr, StringAttr::get(&getContext(), row.library));
    });
    if (!llvm::is_contained(libraries, kProducts))
      return;
    SmallVector<linalg::LinalgOp> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0)
        products.push_back(op);
    });
    // Backwards, as array-map-matmuls-to-gpu.
    for (linalg::LinalgOp op : llvm::reverse(products))
      mapProduct(op);
  }
};

} // namespace
} // namespace mlir::array
