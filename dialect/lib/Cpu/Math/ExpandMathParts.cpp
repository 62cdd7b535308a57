// Vectors of any length in registers, and functions that have a form of their own for registers. For the files
// ExpandMath*.cpp.
#include "ExpandMathTerm.h"

namespace mlir::array {

/// Neighbours are joined in pairs; the last ones may have excess lanes.
static Value join(ImplicitLocOpBuilder &b, SmallVector<Value> parts, int64_t count) {
  int64_t lanes = cast<VectorType>(parts.front().getType()).getNumElements();
  while (parts.size() > 1) {
    SmallVector<Value> pairs;
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(vector::ShuffleOp::create(b, parts[i], parts[std::min(i + 1, parts.size() - 1)], order));
    parts = std::move(pairs);
    lanes *= 2;
  }
  if (lanes == count)
    return parts.front();
  return vector::ShuffleOp::create(b, parts.front(), parts.front(), llvm::to_vector(llvm::seq<int64_t>(0, count)));
}

Value inParts(ImplicitLocOpBuilder &b, ValueRange vectors, int64_t lanes, function_ref<Value(ValueRange)> function) {
  int64_t count = cast<VectorType>(vectors.front().getType()).getNumElements();
  if (count == lanes)
    return function(vectors);
  SmallVector<Value> results;
  for (int64_t first = 0; first < count; first += lanes) {
    // Lanes beyond the last one repeat the first; any value would do.
    SmallVector<int64_t> order;
    for (int64_t lane = first; lane < first + lanes; ++lane)
      order.push_back(lane < count ? lane : first);
    SmallVector<Value> parts;
    for (Value vector : vectors)
      parts.push_back(vector::ShuffleOp::create(b, vector, vector, order));
    results.push_back(function(parts));
  }
  return join(b, results, count);
}

Value constantInteger(ImplicitLocOpBuilder &b, unsigned bits, int64_t number) {
  return LLVM::ConstantOp::create(b, b.getIntegerAttr(b.getIntegerType(bits), number));
}

Value allLanes(Term x) {
  return constantInteger(*x.b, static_cast<unsigned>(cast<VectorType>(x.type()).getNumElements()), -1);
}

static Term call(const Twine &name, Term x, ValueRange args) {
  return x.of(LLVM::CallIntrinsicOp::create(*x.b, x.type(), x.b->getStringAttr(name), args).getResult(0));
}

Term callAvx512(StringRef name, Term x, ValueRange args) {
  return call("llvm.x86.avx512." + name + (x.isWide() ? ".pd.512" : ".ps.512"), x, args);
}

Term RegisterForm::operator()(Term x) const { return isa<VectorType>(x.type()) ? call(name, x, x.value) : general(x); }

void expandRegisterForm(LLVM::CallIntrinsicOp op, unsigned vectorBits) {
  for (const RegisterForm *form : {&logarithmExponent, &logarithmFraction, &reciprocalRoot}) {
    if (op.getIntrin() != form->name)
      continue;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Term x{&b, op.getArgs()[0]};
    int64_t lanes = 512 / x.element().getIntOrFloatBitWidth();
    auto inRegister = [&](ValueRange registers) { return form->inRegister(x.of(registers[0])).value; };
    Value result = vectorBits < 512 ? form->general(x).value : inParts(b, x.value, lanes, inRegister);
    op.getResult(0).replaceAllUsesWith(result);
    op.erase();
    return;
  }
}

} // namespace mlir::array
