// The elements of arrays: their storage, their input from text, and their output. Values includes it; it does not know
// files.
#ifndef ARRAY_RUN_ELEMENTS_H
#define ARRAY_RUN_ELEMENTS_H

#include "runtime/DType.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <complex>
#include <optional>

namespace arrayrun {

/// Holds the integers of all element types.
using WideInteger = __int128;

class ElementType {
public:
  /// None for types outside of the runtime's ABI.
  static std::optional<ElementType> get(mlir::Type type);

  pcrt::DType dtype() const { return code; }
  size_t bytes() const { return pcrt::byteSize(code); }
  /// "float32".
  llvm::StringRef name() const { return pcrt::name(code); }
  bool isBool() const { return code == pcrt::DType::Bool; }
  /// Bools are not integers.
  bool isInteger() const { return !semantics && !isBool(); }
  /// A float, or a complex number of two floats.
  bool isInexact() const { return semantics != nullptr; }
  bool isComplex() const { return code == pcrt::DType::Complex64 || code == pcrt::DType::Complex128; }

  /// The range of integers and bools.
  WideInteger lowest() const;
  WideInteger highest() const;

  /// For floats: the largest finite number, and whether there is a zero (a float8_e8m0fnu is a power of two).
  double largest() const;
  bool hasZero() const;

  /// Writes the element in the text to `to`: "true", "-3", "2.5", "nan", "-inf", "1.5-2j". Fails for text that is not a
  /// number of this type, or that is out of its range. A float is rounded to the nearest one.
  llvm::Error parse(llvm::StringRef text, char *to) const;
  /// The shortest text that parse reads as the same element.
  void print(const char *from, llvm::raw_ostream &os) const;

  /// For integers and bools.
  WideInteger loadInteger(const char *from) const;
  void storeInteger(WideInteger value, char *to) const;
  /// For floats and complex numbers; the imaginary part of a float is 0.
  std::complex<double> loadNumber(const char *from) const;
  /// Rounds to the nearest element.
  void storeNumber(std::complex<double> value, char *to) const;

private:
  ElementType(pcrt::DType code, const llvm::fltSemantics *semantics, unsigned bits, bool isSigned)
      : code(code), semantics(semantics), bits(bits), isSigned(isSigned) {}

  size_t partBytes() const { return isComplex() ? bytes() / 2 : bytes(); }
  llvm::Error parsePart(llvm::StringRef text, char *to) const;
  void printPart(const char *from, llvm::raw_ostream &os) const;
  double loadPart(const char *from) const;
  void storePart(double value, char *to) const;

  pcrt::DType code;
  /// The format of a float, or of a part of a complex number; null for other types.
  const llvm::fltSemantics *semantics;
  /// The width of an integer.
  unsigned bits;
  bool isSigned;
};

} // namespace arrayrun

#endif // ARRAY_RUN_ELEMENTS_H
