// Arrays from and to text, as nested brackets.
#include "Values.h"
#include "Failure.h"

#include "array/IR/Bytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <unistd.h>

using namespace arrayrun;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static std::string textOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static int64_t memoryBytes() { return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE); }

Expected<ArrayType> ArrayType::get(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  std::optional<ElementType> element = tensor ? ElementType::get(tensor.getElementType()) : std::nullopt;
  if (!element || !tensor.hasStaticShape())
    return failure("has the type " + textOf(type) +
                   ", expected a tensor of a static shape of the array dialect's elements");
  std::optional<int64_t> bytes = mlir::array::countBytes(tensor);
  if (!bytes)
    return failure("has the type " + textOf(type) + ", which takes more bytes than 2**63 - 1");
  if (int64_t there = memoryBytes(); *bytes > there)
    return failure("has the type " + textOf(type) + ", which takes " + llvm::Twine(*bytes) +
                   " bytes, and this machine has " + llvm::Twine(there));
  return ArrayType{tensor, *element, tensor.getShape().vec()};
}

// LLVM's handler ends the program where operator new fails.
Expected<Array> Array::make(const ArrayType &type) {
  std::unique_ptr<char, Free> memory(static_cast<char *>(std::calloc(std::max<size_t>(type.bytes(), 1), 1)));
  if (!memory)
    return failure("out of memory: cannot allocate " + llvm::Twine(type.bytes()) + " bytes for " + type.describe());
  llvm::MutableArrayRef<char> data(memory.get(), type.bytes());
  return Array{type, data, std::move(memory)};
}

int64_t ArrayType::count() const { return tensor.getNumElements(); }

std::string arrayrun::describeShape(llvm::ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t dim) { return std::to_string(dim); }), ",") + "]";
}

std::string ArrayType::describe() const { return element.name().str() + describeShape(shape); }

//===-- Reading --------------------------------------------------------------------------------------------------===//

namespace {

/// Reads the elements in order, and records the shape. The first row of a depth determines the length of the others.
class LiteralParser {
public:
  LiteralParser(StringRef text, const ArrayType &type, Array *array = nullptr) : rest(text), type(type), array(array) {}

  /// Without an array, the elements are only checked.
  Error parse() {
    if (Error error = parseValue(0))
      return error;
    if (!rest.ltrim().empty())
      return failure("'" + rest.ltrim() + "' stands behind the literal");
    if (shape != type.shape)
      return failure("has the shape " + describeShape(shape));
    return Error::success();
  }

private:
  /// NumPy's limit. The parser recurses for each dimension.
  static constexpr size_t mostDimensions = 64;

  Error parseValue(size_t depth) {
    rest = rest.ltrim();
    return rest.starts_with("[") ? parseRow(depth) : parseElement(depth);
  }

  Error parseRow(size_t depth) {
    if (depth == mostDimensions)
      return failure("it has more than " + llvm::Twine(mostDimensions) + " brackets around an element");
    rest = rest.drop_front();
    // The length of a row is not known before its end.
    bool isFirst = depth == shape.size();
    if (isFirst && hasElements)
      return failure("a row stands where an element was expected, before '" + rest.take_front(20) + "'");
    if (isFirst)
      shape.push_back(-1);
    int64_t length = 0;
    while (true) {
      rest = rest.ltrim();
      if (length == 0 && rest.consume_front("]"))
        break;
      if (Error error = parseValue(depth + 1))
        return error;
      ++length;
      rest = rest.ltrim();
      if (rest.consume_front("]"))
        break;
      if (!rest.consume_front(","))
        return failure(rest.empty() ? llvm::Twine("a ']' is missing at the end")
                                    : "expected ',' or ']' before '" + rest.take_front(20) + "'");
    }
    if (shape[depth] >= 0 && shape[depth] != length)
      return failure("the rows differ: one has " + llvm::Twine(length) + " elements, one before it " +
                     llvm::Twine(shape[depth]));
    shape[depth] = length;
    return Error::success();
  }

  Error parseElement(size_t depth) {
    StringRef text = rest.take_until([](char c) { return c == ',' || c == ']' || c == '['; });
    rest = rest.drop_front(text.size());
    if (depth != shape.size())
      return failure("an element stands where a row was expected: '" + text.rtrim() + "'");
    hasElements = true;
    char ignored[16];
    return type.element.parse(text.trim(), array ? array->at(count++) : ignored);
  }

  StringRef rest;
  const ArrayType &type;
  Array *array;
  std::vector<int64_t> shape;
  int64_t count = 0;
  bool hasElements = false;
};

} // namespace

Expected<Array> arrayrun::parseLiteral(StringRef text, const ArrayType &type) {
  // A type of any size may meet a literal of another size. Memory is allocated only for a literal that fits.
  if (Error error = LiteralParser(text, type).parse())
    return error;
  Expected<Array> array = Array::make(type);
  if (!array)
    return array.takeError();
  if (Error error = LiteralParser(text, type, &*array).parse())
    return error;
  return array;
}

//===-- Printing -------------------------------------------------------------------------------------------------===//

static constexpr int64_t mostElements = 1000, edge = 3;

static void printFrom(const Array &array, size_t depth, int64_t first, int64_t stride, bool isWhole,
                      llvm::raw_ostream &os) {
  if (depth == array.type.shape.size()) {
    array.type.element.print(array.at(first), os);
    return;
  }
  int64_t length = array.type.shape[depth];
  int64_t below = length ? stride / length : 0;
  os << '[';
  for (int64_t i = 0; i < length; ++i) {
    os << (i ? ", " : "");
    if (!isWhole && length > 2 * edge && i == edge) {
      os << "...";
      i = length - edge - 1;
      continue;
    }
    printFrom(array, depth + 1, first + i * below, below, isWhole, os);
  }
  os << ']';
}

void arrayrun::printArray(const Array &array, bool isWhole, llvm::raw_ostream &os) {
  int64_t count = array.type.count(), brackets = 1;
  for (int64_t size : array.type.shape) // also the dimensions of rows without elements
    brackets *= std::max<int64_t>(size, 1);
  printFrom(array, 0, 0, count, isWhole || brackets <= mostElements, os);
}
