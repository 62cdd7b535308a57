// An array in the host's memory, its parsing from words of the command line, and its printing. After Elements; before
// the parts that make arrays (Npy, Random, Inputs) or take them (Run, Compare).
#ifndef ARRAY_RUN_VALUES_H
#define ARRAY_RUN_VALUES_H

#include "Elements.h"

#include "mlir/IR/BuiltinTypes.h"
#include <vector>

namespace arrayrun {

/// The type of an argument or a result: a tensor of a static shape with an element type that the runtime supports.
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
  explicit Array(ArrayType type) : type(std::move(type)), data(this->type.bytes()) {}

  char *at(int64_t index) { return data.data() + static_cast<size_t>(index) * type.element.bytes(); }
  const char *at(int64_t index) const { return data.data() + static_cast<size_t>(index) * type.element.bytes(); }

  ArrayType type;
  /// In row-major order.
  std::vector<char> data;
};

/// "[[1, 2], [3, 4]]", a scalar without brackets. The rows have to agree with each other and with the type.
llvm::Expected<Array> parseLiteral(llvm::StringRef text, const ArrayType &type);

/// In the form that parseLiteral reads. Unless `isWhole`, an array of more than 1000 elements shows only the first and
/// last three of a dimension.
void printArray(const Array &array, bool isWhole, llvm::raw_ostream &os);

} // namespace arrayrun

#endif // ARRAY_RUN_VALUES_H
