// Building blocks of kernels (KernelBuilder.h).
#include "KernelBuilder.h"
#include "array/Gpu/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

/// Bits of the widest access of a thread.
static constexpr int64_t widestBits = 128;

//===-- Spaces --------------------------------------------------------------------------------------------------===//

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

SmallVector<int64_t> sizesOf(const IterationSpace &space, unsigned first, unsigned end) {
  SmallVector<int64_t> sizes;
  for (unsigned dim = first; dim < end; ++dim)
    sizes.push_back(space.dims[dim].size.factor);
  return sizes;
}

unsigned countParallel(const IterationSpace &space) {
  return llvm::count_if(space.dims, [](const loops::LoopDim &dim) { return !dim.reduced; });
}

bool hasWholeBytes(Type element) { return element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0; }

/// Constants of a module are aligned to their elements only.
static bool isAligned(const Access &access, int64_t lanes) {
  Value root = access.memref;
  while (auto view = root.getDefiningOp<ViewLikeOpInterface>())
    root = view.getViewSource();
  return !root.getDefiningOp<memref::GetGlobalOp>() && access.start.isStatic() && access.start.factor % lanes == 0;
}

bool isWide(const Access &access, unsigned dim, int64_t lanes) {
  if (access.scalar || !hasWholeBytes(access.element) || !isAligned(access, lanes) || !access.strides[dim].isStatic(1))
    return false;
  for (auto [other, stride] : llvm::enumerate(access.strides))
    if (other != dim && (!stride.isStatic() || stride.factor % lanes != 0))
      return false;
  return true;
}

int64_t lanesAlong(const IterationSpace &space, unsigned dim) {
  int64_t bits = 0;
  for (const Access &access : space.accesses)
    if (!access.scalar && hasWholeBytes(access.element) && access.strides[dim].isStatic(1))
      bits = std::max<int64_t>(bits, access.element.getIntOrFloatBitWidth());
  return bits > 0 && widestBits % bits == 0 ? widestBits / bits : 1;
}

bool runsAlongMemory(const IterationSpace &space) {
  int64_t along = 0, across = 0; // elements that are read along memory, and across it
  for (const Access &input : space.inputs()) {
    int64_t elements = 1;
    for (auto [number, dim] : llvm::enumerate(space.dims))
      elements *= input.moves(number) ? dim.size.factor : 1;
    auto neighbour = llvm::find_if(input.strides, [](const loops::SymbolicSize &stride) { return stride.isStatic(1); });
    if (!input.scalar && neighbour != input.strides.end())
      (space.dims[neighbour - input.strides.begin()].reduced ? along : across) += elements;
  }
  return along >= across;
}

//===-- Launches ------------------------------------------------------------------------------------------------===//

static gpu::LaunchOp createLaunch(Operation *at, StringRef name) {
  ImplicitLocOpBuilder b(at->getLoc(), at);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto launch = gpu::LaunchOp::create(b, one, one, one, one, one, one);
  launch->setAttr(kLaunchNameAttr, b.getStringAttr(name));
  b.setInsertionPointToEnd(&launch.getBody().front());
  gpu::TerminatorOp::create(b);
  return launch;
}

KernelBuilder::KernelBuilder(Operation *at, StringRef name)
    : ImplicitLocOpBuilder(at->getLoc(), at), launch(createLaunch(at, name)), indices(launch.getBody().front()) {
  setInsertionPoint(launch.getBody().front().getTerminator());
}

KernelBuilder::KernelBuilder(gpu::LaunchOp launch, Operation *at)
    : ImplicitLocOpBuilder(at->getLoc(), at), launch(launch), indices(launch.getBody().front()) {}

void KernelBuilder::setGrid(int64_t blocks, int64_t threads) {
  OpBuilder before(launch);
  launch.getGridSizeXMutable().assign(arith::ConstantIndexOp::create(before, getLoc(), blocks));
  launch.getBlockSizeXMutable().assign(arith::ConstantIndexOp::create(before, getLoc(), threads));
}

FailureOr<Member> KernelBuilder::read(linalg::LinalgOp op, bool reorderReductions) {
  if (op.hasDynamicShape() || !op.hasPureBufferSemantics())
    return op.emitError("a kernel is made of operations on buffers of static shapes");
  FailureOr<IterationSpace> space = IterationSpace::get(*this, indices, op, reorderReductions);
  if (failed(space))
    return op.emitError("a kernel is made of operations whose indexing maps are linear");
  Member member{*space, {}, op.getBlock()->getOperations().size()};
  member.yields = [this, op](const IterationSpace &space, ArrayRef<Value> arguments, ArrayRef<Value> at) {
    return body(op, space, arguments, at);
  };
  return member;
}

//===-- Arithmetic ----------------------------------------------------------------------------------------------===//

// Use 32 bits if they suffice: a division by a constant is several times slower with 64 bits.
Values KernelBuilder::place(ArrayRef<int64_t> sizes, Value number) {
  bool isShort = product(sizes) <= std::numeric_limits<int32_t>::max() && sizes.size() > 1;
  Type type = isShort ? Type(getI32Type()) : getIndexType();
  Value rest = isShort ? Value(arith::IndexCastOp::create(*this, type, number)) : number;
  auto constant = [&](int64_t value) { return indices.constant(*this, getIntegerAttr(type, value)); };
  Values at(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 0;) {
    Value own = dim == 0 ? rest : Value(arith::RemUIOp::create(*this, rest, constant(sizes[dim])));
    if (dim != 0)
      rest = arith::DivUIOp::create(*this, rest, constant(sizes[dim]));
    at[dim] = isShort ? Value(arith::IndexCastUIOp::create(*this, getIndexType(), own)) : own;
  }
  return at;
}

Values KernelBuilder::moved(ArrayRef<Value> at, unsigned dim, int64_t distance) {
  Values next(at);
  if (distance != 0)
    next[dim] = add(next[dim], distance);
  return next;
}

Value KernelBuilder::divide(Value x, int64_t y) {
  return y == 1 ? x : Value(arith::DivUIOp::create(*this, x, index(y)));
}

Value KernelBuilder::remainder(Value x, int64_t y) {
  return y == 1 ? index(0) : Value(arith::RemUIOp::create(*this, x, index(y)));
}

Value KernelBuilder::least(Value x, int64_t y) { return arith::MinUIOp::create(*this, x, index(y)); }

Value KernelBuilder::isLess(Value x, Value y) { return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, x, y); }

Value KernelBuilder::both(Value x, Value y) { return !x ? y : !y ? x : Value(arith::AndIOp::create(*this, x, y)); }

std::pair<Value, Value> KernelBuilder::clamp(Value number, int64_t count, bool isExact) {
  if (isExact)
    return {number, Value()};
  return {least(number, count - 1), isLess(number, count)};
}

//===-- Control flow --------------------------------------------------------------------------------------------===//

void KernelBuilder::when(Value condition, function_ref<void()> build) {
  if (!condition)
    return build();
  auto guarded = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  InsertionGuard guard(*this);
  setInsertionPointToStart(&guarded.getThenRegion().front());
  build();
}

Values KernelBuilder::loop(Value from, Value to, Value step, ValueRange carried,
                           function_ref<Values(Value, ValueRange)> build) {
  auto loop = scf::ForOp::create(*this, from, to, step, carried);
  InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  Values next = build(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(*this, next);
  return Values(loop.getResults());
}

//===-- Elements ------------------------------------------------------------------------------------------------===//

Value KernelBuilder::offsetOf(const Access &access, ArrayRef<Value> at) {
  Value offset = indices.get(*this, getLoc(), access.start);
  for (auto [stride, i] : llvm::zip_equal(access.strides, at))
    offset = indices.advance(*this, getLoc(), offset, i, stride);
  return offset;
}

Value KernelBuilder::load(const Access &access, ArrayRef<Value> at) {
  if (access.scalar)
    return access.scalar;
  return memref::LoadOp::create(*this, access.flat, offsetOf(access, at));
}

void KernelBuilder::store(Value value, const Access &access, ArrayRef<Value> at) {
  memref::StoreOp::create(*this, value, access.flat, offsetOf(access, at));
}

static IntegerAttr alignmentOf(OpBuilder &b, const Access &access, int64_t lanes) {
  return b.getI64IntegerAttr(lanes * access.element.getIntOrFloatBitWidth() / 8);
}

Values KernelBuilder::loadWide(const Access &access, Value first, int64_t lanes) {
  auto vector = vector::LoadOp::create(*this, VectorType::get({lanes}, access.element), access.flat, first);
  vector->setAttr("alignment", alignmentOf(*this, access, lanes));
  Values values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(vector::ExtractOp::create(*this, vector, lane));
  return values;
}

void KernelBuilder::storeWide(ValueRange values, const Access &access, Value first) {
  auto lanes = static_cast<int64_t>(values.size());
  Value vector = vector::FromElementsOp::create(*this, VectorType::get({lanes}, access.element), values);
  auto stored = vector::StoreOp::create(*this, vector, access.flat, first);
  stored->setAttr("alignment", alignmentOf(*this, access, lanes));
}

Values KernelBuilder::body(linalg::LinalgOp op, const IterationSpace &space, ArrayRef<Value> arguments,
                           ArrayRef<Value> at) {
  IRMapping mapping;
  Block &block = op->getRegion(0).front();
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    mapping.map(argument, value);
  auto indexAt = [&](linalg::IndexOp index) { // a dimension that the space lacks has size 1
    for (auto [dim, i] : llvm::zip_equal(space.dims, at))
      if (dim.indexSource == index.getDim())
        return i;
    return this->index(0);
  };
  for (Operation &inner : block.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), indexAt(index));
      continue;
    }
    // There may be indices in the regions of an operation, too.
    Operation *cloned = clone(inner, mapping);
    SmallVector<linalg::IndexOp> nested;
    cloned->walk([&](linalg::IndexOp index) { nested.push_back(index); });
    for (linalg::IndexOp index : nested) {
      index.getResult().replaceAllUsesWith(indexAt(index));
      index.erase();
    }
  }
  return llvm::map_to_vector<4>(block.getTerminator()->getOperands(),
                                [&](Value yielded) { return mapping.lookupOrDefault(yielded); });
}

} // namespace mlir::array
