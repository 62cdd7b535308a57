// Distributions, implemented here because those of the C++ library differ between implementations.
#include "Random.h"
#include "Failure.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include <random>

using namespace arrayrun;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

class Generator {
public:
  explicit Generator(uint64_t seed) : words(seed) {}

  /// A multiple of 2^-53 in [0, 1).
  double unit() { return static_cast<double>(words() >> 11) * 0x1p-53; }

  /// Uniform in [0, count); 0 means 2^64.
  uint64_t below(uint64_t count) {
    if (count == 0)
      return words();
    // Words above this bound would favour small remainders.
    uint64_t rest = (0 - count) % count, word;
    do
      word = words();
    while (word < rest);
    return word % count;
  }

  double normal() {
    while (true) {
      int k = 0;
      while (isExp(0.5))
        ++k;
      if (!isExp(0.5 * k * (k - 1)))
        continue;
      double x = unit();
      double exponent = k + 0.5 * x;
      if (isExp(exponent * x))
        return below(2) ? -(k + x) : k + x;
    }
  }

private:
  /// True with the probability exp(-t): von Neumann's method, for the integral and the fractional part of t.
  bool isExp(double t) {
    for (; t > 1; t -= 1)
      if (!hasEvenRun(1))
        return false;
    return hasEvenRun(t);
  }

  /// Whether a run of decreasing numbers from `start` has an even length. The probability is exp(-start).
  bool hasEvenRun(double start) {
    bool isEven = true;
    for (double last = start, next = unit(); next < last; next = unit(), isEven = !isEven)
      last = next;
    return isEven;
  }

  std::mt19937_64 words;
};

/// The distribution that the words describe.
struct Distribution {
  bool isNormal = false;
  uint64_t seed = 0;
  double low = 0, high = 1, mean = 0, deviation = 1;
  WideInteger lowest = 0, end = 10;
};

Error readInteger(StringRef text, const ElementType &type, WideInteger &value) {
  char bytes[16];
  if (Error error = type.parse(text, bytes))
    return error;
  value = type.loadInteger(bytes);
  return Error::success();
}

Error readSetting(StringRef key, StringRef text, const ElementType &type, Distribution &made) {
  if (key == "seed")
    return text.getAsInteger(10, made.seed) ? failure("the seed '" + text + "' is no integer of 64 bits")
                                            : Error::success();
  double *number = llvm::StringSwitch<double *>(key)
                       .Case("low", &made.low)
                       .Case("high", &made.high)
                       .Case("mean", &made.mean)
                       .Case("std", &made.deviation)
                       .Default(nullptr);
  bool isOfNormal = key == "mean" || key == "std";
  if (!number || isOfNormal != made.isNormal)
    return failure("'" + key + "' is no setting of a " + (made.isNormal ? "normal" : "uniform") +
                   " distribution: expected seed, " + (made.isNormal ? "mean or std" : "low or high"));
  if (type.isInteger())
    return readInteger(text, type, key == "low" ? made.lowest : made.end);
  if (text.getAsDouble(*number) || !std::isfinite(*number))
    return failure(key + "=" + text + " is no number");
  return Error::success();
}

Expected<Distribution> readDistribution(StringRef words, const ElementType &type, uint64_t seed) {
  Distribution made;
  made.seed = seed;
  llvm::SmallVector<StringRef> parts;
  words.split(parts, ',');
  StringRef name = parts.empty() ? "uniform" : parts[0];
  if (name != "uniform" && name != "normal")
    return failure("there is no distribution '" + name + "': expected uniform or normal");
  made.isNormal = name == "normal";
  if (made.isNormal && !type.isInexact())
    return failure("a normal distribution has no elements of type " + type.name());
  if (!type.hasZero())
    return failure("there are no random elements of type " + type.name() + ": give a literal or a file");
  // The range of a small type may be narrower.
  made.end = std::min(made.end, type.isBool() ? WideInteger(2) : type.highest() + 1);
  for (StringRef part : llvm::drop_begin(parts)) {
    auto [key, text] = part.split('=');
    if (Error error = readSetting(key, text, type, made))
      return error;
  }
  if (type.isInexact() ? !made.isNormal && !(made.low < made.high) : made.lowest >= made.end)
    return failure("low must be less than high");
  return made;
}

double draw(Generator &generator, const Distribution &from) {
  if (from.isNormal)
    return from.mean + from.deviation * generator.normal();
  return from.low + (from.high - from.low) * generator.unit();
}

} // namespace

Expected<Array> arrayrun::makeRandom(StringRef words, const ArrayType &type, uint64_t seed) {
  const ElementType &element = type.element;
  Expected<Distribution> from = readDistribution(words, element, seed);
  if (!from)
    return from.takeError();
  Generator generator(from->seed);
  Expected<Array> array = Array::make(type);
  if (!array)
    return array.takeError();
  for (int64_t i = 0, count = type.count(); i < count; ++i) {
    if (!element.isInexact()) {
      uint64_t range = static_cast<uint64_t>(from->end - from->lowest);
      element.storeInteger(from->lowest + static_cast<WideInteger>(generator.below(range)), array->at(i));
      continue;
    }
    double real = draw(generator, *from);
    element.storeNumber({real, element.isComplex() ? draw(generator, *from) : 0}, array->at(i));
  }
  return array;
}
