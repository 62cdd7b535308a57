// Elements from and to text: floats by LLVM's APFloat, which supports every format, and rounds once.
#include "Elements.h"
#include "Failure.h"

#include "array/Analysis/ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cstring>

using namespace arrayrun;
using llvm::APFloat;
using llvm::Error;
using llvm::StringRef;

std::optional<ElementType> ElementType::get(mlir::Type type) {
  std::optional<PcrtDType> code = mlir::array::dtypeCode(type);
  if (!code)
    return std::nullopt;
  mlir::Type part = type;
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(type))
    part = complex.getElementType();
  auto dtype = static_cast<pcrt::DType>(*code);
  if (auto real = mlir::dyn_cast<mlir::FloatType>(part))
    return ElementType(dtype, &real.getFloatSemantics(), 0, true);
  auto integer = mlir::cast<mlir::IntegerType>(part);
  bool isSigned = dtype != pcrt::DType::Bool && !integer.isUnsigned();
  return ElementType(dtype, nullptr, integer.getWidth(), isSigned);
}

//===-- Integers and bools ---------------------------------------------------------------------------------------===//

WideInteger ElementType::lowest() const { return isSigned ? -(WideInteger(1) << (bits - 1)) : 0; }
WideInteger ElementType::highest() const { return (WideInteger(1) << (isSigned ? bits - 1 : bits)) - 1; }

WideInteger ElementType::loadInteger(const char *from) const {
  uint64_t word = 0;
  std::memcpy(&word, from, bytes());
  WideInteger value = word & static_cast<uint64_t>(~uint64_t(0) >> (64 - bits));
  return isSigned && value > highest() ? value - (WideInteger(1) << bits) : value;
}

void ElementType::storeInteger(WideInteger value, char *to) const {
  // Elements smaller than a byte use its low bits; the other bits are zero.
  uint64_t word = static_cast<uint64_t>(value) & (~uint64_t(0) >> (64 - bits));
  std::memcpy(to, &word, bytes());
}

//===-- Floats ---------------------------------------------------------------------------------------------------===//

double ElementType::loadPart(const char *from) const {
  uint64_t word = 0;
  std::memcpy(&word, from, partBytes());
  APFloat value(*semantics, llvm::APInt(APFloat::getSizeInBits(*semantics), word, false, /*implicitTrunc=*/true));
  bool isInexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isInexact);
  return value.convertToDouble();
}

double ElementType::largest() const {
  APFloat value = APFloat::getLargest(*semantics);
  bool isInexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isInexact);
  return value.convertToDouble();
}

bool ElementType::hasZero() const { return !semantics || APFloat::semanticsHasZero(*semantics); }

static void storeBits(const APFloat &value, char *to, size_t bytes) {
  uint64_t word = value.bitcastToAPInt().getZExtValue();
  std::memcpy(to, &word, bytes);
}

void ElementType::storePart(double value, char *to) const {
  APFloat rounded(value);
  bool isInexact;
  rounded.convert(*semantics, APFloat::rmNearestTiesToEven, &isInexact);
  storeBits(rounded, to, partBytes());
}

std::complex<double> ElementType::loadNumber(const char *from) const {
  return {loadPart(from), isComplex() ? loadPart(from + partBytes()) : 0};
}

void ElementType::storeNumber(std::complex<double> value, char *to) const {
  storePart(value.real(), to);
  if (isComplex())
    storePart(value.imag(), to + partBytes());
}

//===-- From text ------------------------------------------------------------------------------------------------===//

Error ElementType::parsePart(StringRef text, char *to) const {
  StringRef magnitude = text;
  bool isNegative = magnitude.consume_front("-");
  if (!isNegative)
    magnitude.consume_front("+");
  bool isNan = magnitude == "nan", isInfinite = magnitude == "inf";
  if (isNan ? !APFloat::semanticsHasNaN(*semantics) : isInfinite && !APFloat::semanticsHasInf(*semantics))
    return failure("there is no " + text + " of type " + name());
  if (isNan || isInfinite) {
    storeBits(isNan ? APFloat::getQNaN(*semantics) : APFloat::getInf(*semantics, isNegative), to, partBytes());
    return Error::success();
  }
  bool isDecimal = !magnitude.empty() && (llvm::isDigit(magnitude[0]) || magnitude[0] == '.');
  APFloat wide(APFloat::IEEEdouble()), rounded(*semantics);
  auto read = [&](APFloat &into) {
    auto status = into.convertFromString(magnitude, APFloat::rmNearestTiesToEven);
    bool isRead = static_cast<bool>(status);
    bool isBeyond = isRead && (*status & APFloat::opOverflow);
    llvm::consumeError(status.takeError());
    return std::pair(isRead, isBeyond);
  };
  if (!isDecimal || !read(wide).first)
    return failure("'" + text + "' is no number");
  std::string beyond = (text + " is beyond the range of " + name()).str();
  // Some formats lack a zero, a sign, or an infinity for overflow.
  if (!APFloat::semanticsHasZero(*semantics) && (wide.isZero() || isNegative))
    return failure(beyond);
  bool isSaturated = !APFloat::semanticsHasInf(*semantics) && !APFloat::semanticsHasNaN(*semantics) &&
                     wide.convertToDouble() > largest();
  // Read the text again, so that the number itself is rounded, and only once.
  if (isSaturated || read(rounded).second || !rounded.isFinite())
    return failure(beyond);
  if (isNegative)
    rounded.changeSign();
  storeBits(rounded, to, partBytes());
  return Error::success();
}

/// The start of the imaginary part of "1e-3-2j", at its sign; 0 if there is no real part.
static size_t imaginaryPart(StringRef text) {
  for (size_t at = text.size(); at-- > 1;)
    if ((text[at] == '+' || text[at] == '-') && text[at - 1] != 'e' && text[at - 1] != 'E')
      return at;
  return 0;
}

Error ElementType::parse(StringRef text, char *to) const {
  if (isBool()) {
    if (text != "true" && text != "false" && text != "0" && text != "1")
      return failure("'" + text + "' is no bool: expected true or false");
    storeInteger(text == "true" || text == "1", to);
    return Error::success();
  }
  if (isInteger()) {
    llvm::APInt magnitude;
    bool isNegative = text.consume_front("-");
    if (text.getAsInteger(text.starts_with("0x") ? 0 : 10, magnitude))
      return failure(llvm::Twine("'") + (isNegative ? "-" : "") + text + "' is no integer");
    WideInteger value =
        magnitude.getActiveBits() > 64 ? WideInteger(1) << 100 : static_cast<WideInteger>(magnitude.getLimitedValue());
    value = isNegative ? -value : value;
    if (value < lowest() || value > highest())
      return failure(llvm::Twine(isNegative ? "-" : "") + text + " is beyond the range of " + name());
    storeInteger(value, to);
    return Error::success();
  }
  if (!isComplex())
    return parsePart(text, to);
  StringRef real = text, imaginary = "0";
  if (text.ends_with("j")) {
    size_t at = imaginaryPart(text);
    real = at ? text.take_front(at) : "0";
    imaginary = text.drop_front(at).drop_back();
  }
  if (Error error = parsePart(real, to))
    return error;
  return parsePart(imaginary, to + partBytes());
}

//===-- To text --------------------------------------------------------------------------------------------------===//

void ElementType::printPart(const char *from, llvm::raw_ostream &os) const {
  double value = loadPart(from);
  if (value != value) {
    os << "nan";
    return;
  }
  char text[64];
  bool isDouble = partBytes() == sizeof(double);
  auto end = isDouble ? std::to_chars(text, std::end(text), value)
                      : std::to_chars(text, std::end(text), static_cast<float>(value));
  os << StringRef(text, end.ptr - text);
}

void ElementType::print(const char *from, llvm::raw_ostream &os) const {
  if (isBool()) {
    os << (loadInteger(from) ? "true" : "false");
  } else if (isInteger()) {
    WideInteger value = loadInteger(from);
    if (value < 0)
      os << '-' << static_cast<uint64_t>(-value);
    else
      os << static_cast<uint64_t>(value);
  } else {
    printPart(from, os);
    if (!isComplex())
      return;
    std::string imaginary;
    llvm::raw_string_ostream stream(imaginary);
    printPart(from + partBytes(), stream);
    os << (StringRef(imaginary).starts_with("-") ? "" : "+") << imaginary << 'j';
  }
}
