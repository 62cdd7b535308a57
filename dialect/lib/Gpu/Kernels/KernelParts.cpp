// Shared parts of reductions (Kernels.h): steps with several loads in flight, parts of blocks, and their join.
#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

Steps::Steps(int64_t steps, int64_t parts) : steps(steps), parts(parts), ofPart(llvm::divideCeil(steps, parts)) {
  if (ofPart > 0)
    this->parts = llvm::divideCeil(steps, ofPart);
}

Value Steps::end(KernelBuilder &k, Value part) const {
  return parts == 1 ? k.index(steps) : k.least(k.add(k.mul(part, ofPart), ofPart), steps);
}

Loaded loadStep(KernelBuilder &k, const Member &member, unsigned dim, int64_t lanes, Values at) {
  Loaded loaded;
  for (int64_t lane = 0; lane < lanes; ++lane)
    loaded.at.push_back(k.moved(at, dim, lane));
  for (const Access &access : member.space.accesses) {
    Values values(lanes);
    if (access.isOutput || !member.reads(access)) {
    } else if (lanes > 1 && isWide(access, dim, lanes)) {
      values = k.loadWide(access, k.offsetOf(access, at), lanes);
    } else if (!access.moves(dim) || access.scalar) {
      values.assign(lanes, k.load(access, at));
    } else {
      for (int64_t lane = 0; lane < lanes; ++lane)
        values[lane] = k.load(access, loaded.at[lane]);
    }
    loaded.arguments.push_back(std::move(values));
  }
  return loaded;
}

Values addStep(const Member &member, const Loaded &loaded, ValueRange sums) {
  size_t outputs = member.space.outputs().size();
  Values next;
  for (auto [lane, at] : llvm::enumerate(loaded.at)) {
    Values arguments;
    for (const Values &values : ArrayRef(loaded.arguments).drop_back(outputs))
      arguments.push_back(values[lane]);
    llvm::append_range(arguments, sums.slice(lane * outputs, outputs));
    next.append(member.body(arguments, at));
  }
  return next;
}

Values sweep(KernelBuilder &k, Value from, Value to, int64_t stride, bool isShort, Values sums,
             function_ref<Loaded(Value)> load, function_ref<Values(const Loaded &, ValueRange)> add) {
  constexpr int64_t inFlight = 4;
  if (isShort) {
    // The number of unrolled steps, and the start of the others.
    sums.push_back(from);
    Value end = arith::SubIOp::create(k, to, k.index((inFlight - 1) * stride));
    sums = k.loop(from, end, k.index(inFlight * stride), sums, [&](Value step, ValueRange carried) {
      SmallVector<Loaded, inFlight> all;
      for (int64_t number = 0; number < inFlight; ++number)
        all.push_back(load(k.add(step, number * stride)));
      Values next(carried.drop_back());
      for (const Loaded &loaded : all)
        next = add(loaded, next);
      next.push_back(k.add(step, inFlight * stride));
      return next;
    });
    from = sums.pop_back_val();
  }
  return k.loop(from, to, k.index(stride), sums,
                [&](Value step, ValueRange carried) { return add(load(step), carried); });
}

Values askForParts(KernelBuilder &k, const Member &member, int64_t parts, int64_t points) {
  Values buffers;
  if (parts == 1)
    return buffers;
  ImplicitLocOpBuilder before(k.getLoc(), k.getLaunch());
  for (const Access &output : member.space.outputs())
    buffers.push_back(memref::AllocOp::create(before, MemRefType::get({parts * points}, output.element)));
  return buffers;
}

void storeResult(KernelBuilder &k, const Member &member, const Join &join, ValueRange values, ArrayRef<Value> at,
                 ValueRange parts, Value number) {
  if (!parts.empty()) {
    for (auto [part, value] : llvm::zip_equal(parts, values))
      memref::StoreOp::create(k, value, part, number);
    return;
  }
  Values held;
  for (const Access &output : member.space.outputs())
    held.push_back(k.before(output, at));
  for (auto [output, value] : llvm::zip_equal(member.space.outputs(), join(k, held, values)))
    k.store(value, output, at);
}

/// The op's outputs as accumulations over the parts.
static Member memberOfParts(KernelBuilder &k, const Member &member, const Join &join, ValueRange parts) {
  unsigned parallel = countParallel(member.space);
  int64_t points = product(sizesOf(member.space, 0, parallel));
  Member second;
  IterationSpace &space = second.space;
  space.dims.assign(member.space.dims.begin(), member.space.dims.begin() + parallel);
  for (Value part : parts) {
    Access access;
    access.memref = access.flat = part;
    access.element = getElementTypeOrSelf(part.getType());
    access.strides.assign(parallel, loops::SymbolicSize(1));
    for (unsigned dim = parallel; dim-- > 1;)
      access.strides[dim - 1] = access.strides[dim] * space.dims[dim].size;
    access.strides.push_back(loops::SymbolicSize(points));
    space.accesses.push_back(std::move(access));
  }
  space.numInputs = parts.size();
  loops::LoopDim &steps = space.dims.emplace_back();
  steps.size = loops::SymbolicSize(cast<MemRefType>(parts.front().getType()).getNumElements() / points);
  steps.reduced = true;
  for (Access output : member.space.outputs()) {
    output.strides.truncate(parallel);
    output.strides.push_back(loops::SymbolicSize(0));
    space.accesses.push_back(std::move(output));
  }
  second.yields = [&k, &join](const IterationSpace &, ArrayRef<Value> arguments, ArrayRef<Value>) {
    size_t half = arguments.size() / 2;
    return join(k, arguments.drop_front(half), arguments.take_front(half));
  };
  return second;
}

void emitJoinOfParts(KernelBuilder &k, const Member &member, const Join &join, ValueRange parts) {
  Member second = memberOfParts(k, member, join, parts);
  if (second.space.dims.size() == 1)
    emitRows(k, second, join, /*mostParts=*/1);
  else
    emitColumns(k, second, &join, /*mostParts=*/1);
}

} // namespace mlir::array
