// batch_norm_inference, batch_norm_training and batch_norm_grad, which occur in PyTorch's exports, in terms of other
// ops.
#include "Rules.h"

namespace mlir::array::stablehlo {
namespace {

/// One operation of the family: arrays of the shape of its operand, and values for each feature.
class BatchNorm {
public:
  explicit BatchNorm(Source &source)
      : source(source), type(source.type(0)), feature(source.integer({"feature_index"})) {
    auto given = dyn_cast_or_null<FloatAttr>(source.attribute({"epsilon"}));
    isValid = !source.failed() && given && feature >= 0 && feature < type.getRank() && type.hasStaticShape();
    if (!isValid) {
      source.error() << "expected the attributes 'epsilon', a float, and 'feature_index', a dimension of " << type;
      return;
    }
    epsilon = given.getValueAsDouble();
    for (int64_t dimension : llvm::seq(type.getRank()))
      if (dimension != feature) {
        others.push_back(dimension);
        count *= type.getDimSize(dimension);
      }
    features = type.clone({type.getDimSize(feature)});
  }

  bool isValid;
  RankedTensorType features;
  double count = 1;

  Value spread(Value ofFeatures) { return source.broadcast(ofFeatures, type.getShape(), {feature}); }
  Value sum(Value array) { return source.make("reduce_sum", features, {array}, {source.named("axes", others)}); }
  Value mean(Value array) { return binary("div", sum(array), source.number(features, count)); }
  Value binary(StringRef name, Value lhs, Value rhs) {
    return lhs ? source.make(name, lhs.getType(), {lhs, rhs}) : Value();
  }
  Value centered(Value mean) { return binary("sub", source.operand(0), spread(mean)); }
  Value widened(Value variance) { return binary("add", variance, source.number(features, epsilon)); }
  Value deviation(Value variance) { return source.make("sqrt", features, {widened(variance)}); }
  Value normalized(Value mean, Value variance) { return binary("div", centered(mean), spread(deviation(variance))); }

private:
  Source &source;
  RankedTensorType type;
  int64_t feature;
  double epsilon = 0;
  SmallVector<int64_t> others;
};

Value scaled(Source &source, BatchNorm &norm, Value mean, Value variance) {
  Value product = norm.binary("mul", norm.normalized(mean, variance), norm.spread(source.operand(1)));
  return norm.binary("add", product, norm.spread(source.operand(2)));
}

LogicalResult convertInference(Source &source) {
  BatchNorm norm(source);
  return norm.isValid ? source.replace(scaled(source, norm, source.operand(3), source.operand(4))) : failure();
}

LogicalResult convertTraining(Source &source) {
  BatchNorm norm(source);
  if (!norm.isValid)
    return failure();
  Value mean = norm.mean(source.operand(0));
  Value centered = norm.centered(mean);
  Value variance = norm.mean(norm.binary("mul", centered, centered));
  return source.replace({scaled(source, norm, mean, variance), mean, variance});
}

/// The gradients of the operand, the scale and the offset.
LogicalResult convertGrad(Source &source) {
  BatchNorm norm(source);
  if (!norm.isValid)
    return failure();
  Value scale = source.operand(1), mean = source.operand(2), variance = source.operand(3), given = source.operand(4);
  Value centered = norm.centered(mean), count = source.number(norm.features, norm.count);
  Value ofOffset = norm.sum(given), along = norm.sum(norm.binary("mul", given, centered));
  Value ofScale = norm.binary("div", along, norm.deviation(variance));
  // scale / deviation * (given - mean(given) - centered * mean(given * centered) / (variance + epsilon))
  Value slope = norm.binary("div", norm.binary("div", along, count), norm.widened(variance));
  Value rest = norm.binary("sub", given, norm.spread(norm.binary("div", ofOffset, count)));
  rest = norm.binary("sub", rest, norm.binary("mul", centered, norm.spread(slope)));
  Value factor = norm.binary("div", scale, norm.deviation(variance));
  return source.replace({norm.binary("mul", rest, norm.spread(factor)), ofScale, ofOffset});
}

} // namespace

void addBatchNormRules(Rules &rules) {
  rules["stablehlo.batch_norm_inference"] = {convertInference, parseClauses, 5, 5};
  rules["stablehlo.batch_norm_training"] = {convertTraining, parseClauses, 3, 3};
  rules["stablehlo.batch_norm_grad"] = {convertGrad, parseClauses, 5, 5};
}

} // namespace mlir::array::stablehlo
