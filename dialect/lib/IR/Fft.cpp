// fft: inference.
#include "Inference.h"

using namespace mlir;
using namespace mlir::array;

LogicalResult FftOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &inferred) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  StringRef type = adaptor.getFftType();
  ArrayRef<int64_t> lengths = adaptor.getFftLengths();
  bool isReal = type == "RFFT", isInverse = type == "IRFFT";
  if (!isReal && !isInverse && type != "FFT" && type != "IFFT")
    return fail(location, getOperationName(), "fft_type is \"", type, "\", expected FFT, IFFT, RFFT or IRFFT (C1)");
  auto rank = static_cast<size_t>(operand.getRank());
  if (lengths.empty() || lengths.size() > rank)
    return fail(location, getOperationName(), "has ", lengths.size(), " fft_lengths, expected 1 to ", rank, " (C2)");
  if (failed(checkSizes(location, getOperationName(), {lengths}, adaptor.getSizes().size(), "C5")))
    return failure();
  Type element = operand.getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  if (isReal ? !element.isF32() && !element.isF64() : !complex)
    return fail(location, getOperationName(), "element type is ", element, ", expected ",
                isReal ? "f32 or f64" : "a complex type", " (C3)");
  auto halved = [](int64_t length) { return length / 2 + 1; };
  SmallVector<int64_t> taken(lengths);
  if (isInverse)
    taken.back() = ifKnown(halved, taken.back());
  SmallVector<int64_t> shape(operand.getShape());
  size_t lead = rank - lengths.size();
  for (auto [index, length] : llvm::enumerate(taken))
    if (!mergedSize(shape[lead + index], length))
      return fail(location, getOperationName(), "dimension ", lead + index, " of ", operand, " is not ", length,
                  " (C4)");
  for (auto [index, length] : llvm::enumerate(lengths))
    if (auto size = mergedSize(shape[lead + index], length)) // for IRFFT the last one differs
      shape[lead + index] = *size;
  if (isReal)
    shape.back() = ifKnown(halved, shape.back());
  if (isInverse)
    shape.back() = lengths.back();
  Type result = isReal ? Type(ComplexType::get(element)) : isInverse ? complex.getElementType() : element;
  inferred.push_back(RankedTensorType::get(shape, result));
  return success();
}
