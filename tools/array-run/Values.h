// An array in the host's memory, with its input from the command line and its output. Includes Elements. The parts that
// create arrays (Npy, Random, Inputs) or take them (Run, Compare) include it.
#ifndef ARRAY_RUN_VALUES_H
#define ARRAY_RUN_VALUES_H

#include "Elements.h"

#include "mlir/IR/BuiltinTypes.h"
#include <cstdlib>
#include <memory>
#include <vector>

namespace arrayrun {

/// The type of an argument or a result: a tensor of a static shape, whose elements the runtime supports.
struct ArrayType {
  static llvm::Expected<ArrayType> get(mlir::Type type);

  int64_t count() const;
  size_t bytes() const { return static_cast<size_t>(count()) * element.bytes(); }
  /// "float32[2,3]".
  std::string describe() const;

  mlir::RankedTensorType tensor;
  ElementType element;
  std::vector<int64_t> shape;
};

/// "[2,3]".
std::string describeShape(llvm::ArrayRef<int64_t> shape);

struct Array {
  /// An array of zeros, or an error without enough memory.
  static llvm::Expected<Array> make(const ArrayType &type);

  char *at(int64_t index) { return data.data() + static_cast<size_t>(index) * type.element.bytes(); }
  const char *at(int64_t index) const { return data.data() + static_cast<size_t>(index) * type.element.bytes(); }

  ArrayType type;
  /// The elements, in row-major order.
  llvm::MutableArrayRef<char> data;
  struct Free {
    void operator()(char *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<char, Free> memory;
};

/// "[[1, 2], [3, 4]]", a scalar without brackets. The rows must agree with each other and with the type.
llvm::Expected<Array> parseLiteral(llvm::StringRef text, const ArrayType &type);

/// The form that parseLiteral reads. Unless `isWhole`, each dimension of an array with more than 1000 elements is
/// abbreviated to its first and last three.
void printArray(const Array &array, bool isWhole, llvm::raw_ostream &os);

} // namespace arrayrun

#endif // ARRAY_RUN_VALUES_H
