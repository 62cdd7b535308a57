// The elements of arrays: their storage, parsing and printing by type. Before Values; does not access files.
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

/// Holds every integer element.
using WideInteger = __int128;

class ElementType {
public:
  /// None for types that the runtime's ABI does not support.
  static std::optional<ElementType> get(mlir::Type type);

  pcrt::DType dtype() const { return code; }
  size_t bytes() const { return pcrt::byteSize(code); }
  /// "float32".
  llvm::StringRef name() const { return pcrt::name(code); }
  bool isBool() const { return code == pcrt::DType::Bool; }
  /// Bools are not.
  bool isInteger() const { return !semantics && !isBool(); }
  /// A float, or a complex number of two.
  bool isInexact() const { return semantics != nullptr; }
  bool isComplex() const { return code == pcrt::DType::Complex64 || code == pcrt::DType::Complex128; }

  /// For integers and bools.
  WideInteger lowest() const;
  WideInteger highest() const;

  /// For a float: the largest finite number; and whether the type has a zero (a float8_e8m0fnu is a power of two).
  double largest() const;
  bool hasZero() const;

  /// Writes the element for the text to `to`: "true", "-3", "2.5", "nan", "-inf", "1.5-2j". Fails if it is not a number
  /// of this type or beyond its range; a float is rounded to the nearest one.
  llvm::Error parse(llvm::StringRef text, char *to) const;
  /// The shortest text that parse reads as the same element.
  void print(const char *from, llvm::raw_ostream &os) const;

  /// For integers and bools.
  WideInteger loadInteger(const char *from) const;
  void storeInteger(WideInteger value, char *to) const;
  /// For floats and complex numbers; a float's imaginary part is 0.
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
  /// Of a float, or of a part of a complex number; null for other types.
  const llvm::fltSemantics *semantics;
  /// Of an integer.
  unsigned bits;
  bool isSigned;
};

} // namespace arrayrun

#endif // ARRAY_RUN_ELEMENTS_H
