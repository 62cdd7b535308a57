// The format: a magic string, a version, the length of a header, and the header: a dictionary as Python prints it.
#include "Npy.h"
#include "Failure.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cstring>

using namespace arrayrun;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using pcrt::DType;

static constexpr char magicText[] = "\x93NUMPY";
static constexpr StringRef magic(magicText, 6);

//===-- Types ----------------------------------------------------------------------------------------------------===//

namespace {
/// NumPy's name of an element type: its kind and its bytes.
struct Descr {
  char kind;
  unsigned bytes;
};
} // namespace

/// Types that NumPy does not know are raw bytes, as ml_dtypes writes them.
static Descr descrOf(const ElementType &type) {
  auto bytes = static_cast<unsigned>(type.bytes());
  switch (type.dtype()) {
  case DType::Bool:
    return {'b', bytes};
  case DType::Int8:
  case DType::Int16:
  case DType::Int32:
  case DType::Int64:
    return {'i', bytes};
  case DType::UInt8:
  case DType::UInt16:
  case DType::UInt32:
  case DType::UInt64:
    return {'u', bytes};
  case DType::Float16:
  case DType::Float32:
  case DType::Float64:
    return {'f', bytes};
  case DType::Complex64:
  case DType::Complex128:
    return {'c', bytes};
  default:
    return {'V', bytes};
  }
}

static std::string nameOf(Descr descr) {
  const char *kind = descr.kind == 'b'   ? "bool"
                     : descr.kind == 'i' ? "int"
                     : descr.kind == 'u' ? "uint"
                     : descr.kind == 'f' ? "float"
                     : descr.kind == 'c' ? "complex"
                                         : "void";
  return descr.kind == 'b' ? kind : kind + std::to_string(8 * descr.bytes);
}

/// The name of float8_e5m2 in ml_dtypes is "<f1".
static bool holds(Descr descr, const ElementType &type) {
  Descr expected = descrOf(type);
  bool isSame = descr.kind == expected.kind || (expected.kind == 'V' && descr.kind == 'f' && descr.bytes == 1);
  return isSame && descr.bytes == expected.bytes;
}

//===-- The header -----------------------------------------------------------------------------------------------===//

namespace {

struct Header {
  Descr descr{'?', 0};
  bool isBigEndian = false, isFortran = false;
  std::vector<int64_t> shape;
  StringRef data;
};

/// Parses the dictionary in the header: only the form of numpy.lib.format.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  Error parse(Header &header) {
    unsigned found = 0;
    if (!take("{"))
      return damaged("no dictionary");
    while (!take("}")) {
      StringRef key;
      if (!takeString(key) || !take(":"))
        return damaged("no key");
      unsigned number =
          llvm::StringSwitch<unsigned>(key).Case("descr", 1).Case("fortran_order", 2).Case("shape", 4).Default(0);
      if (!number || (found & number))
        return damaged("the key '" + key + "'");
      found |= number;
      bool isRead = number == 1   ? takeDescr(header)
                    : number == 2 ? takeBool(header.isFortran)
                                  : takeShape(header.shape);
      if (!isRead)
        return damaged("the value of '" + key + "': '" + rest.take_front(30).rtrim() + "'");
      take(",");
    }
    return found == 7 ? Error::success() : damaged("a key is missing");
  }

private:
  static Error damaged(const llvm::Twine &what) {
    return failure("its header is not one of an array of numbers: " + what);
  }
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool takeString(StringRef &text) {
    rest = rest.ltrim();
    char quote = rest.empty() ? 0 : rest.front();
    size_t end = quote == '\'' || quote == '"' ? rest.find(quote, 1) : StringRef::npos;
    if (end == StringRef::npos)
      return false;
    text = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return true;
  }
  bool takeDescr(Header &header) {
    StringRef text;
    if (!takeString(text) || text.size() < 3 || !StringRef("<>|=").contains(text[0]))
      return false;
    header.isBigEndian = text[0] == '>';
    header.descr.kind = text[1];
    return !text.drop_front(2).getAsInteger(10, header.descr.bytes);
  }
  bool takeBool(bool &value) {
    value = take("True");
    return value || take("False");
  }
  bool takeShape(std::vector<int64_t> &shape) {
    if (!take("("))
      return false;
    while (!take(")")) {
      rest = rest.ltrim();
      int64_t dim;
      if (rest.consumeInteger(10, dim) || dim < 0)
        return false;
      shape.push_back(dim);
      take(",");
    }
    return true;
  }

  StringRef rest;
};

} // namespace

static Expected<Header> parseHeader(StringRef file) {
  if (!file.starts_with(magic) || file.size() < 10)
    return failure("it is no .npy file: it does not begin with \\x93NUMPY");
  unsigned version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3)
    return failure("its format has the version " + llvm::Twine(version) + ", known are 1 to 3");
  size_t begin = version == 1 ? 10 : 12;
  if (file.size() < begin)
    return failure("it ends within its header");
  size_t length = version == 1 ? llvm::support::endian::read16le(file.data() + 8)
                               : llvm::support::endian::read32le(file.data() + 8);
  if (file.size() - begin < length)
    return failure("it ends within its header");
  Header header;
  if (Error error = HeaderParser(file.substr(begin, length)).parse(header))
    return error;
  header.data = file.drop_front(begin + length);
  return header;
}

//===-- The elements ---------------------------------------------------------------------------------------------===//

/// Copies elements from the order in which the first dimension is contiguous.
static void copyFromFortranOrder(StringRef from, Array &to) {
  size_t bytes = to.type.element.bytes();
  const std::vector<int64_t> &shape = to.type.shape;
  for (int64_t target = 0, count = to.type.count(); target < count; ++target) {
    int64_t rest = target, source = 0, stride = count;
    // The last dimension has the largest stride in the file.
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      stride /= shape[d];
      source += rest % shape[d] * stride;
    }
    std::memcpy(to.at(target), from.data() + source * bytes, bytes);
  }
}

static void swapBytes(Array &array) {
  size_t parts = array.type.element.isComplex() ? 2 : 1;
  size_t bytes = array.type.element.bytes() / parts;
  for (size_t at = 0; at < array.data.size(); at += bytes)
    std::reverse(array.data.begin() + at, array.data.begin() + at + bytes);
}

Expected<Array> arrayrun::readNpy(StringRef path, const ArrayType &type) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return failure("can't be read: " + file.getError().message());
  Expected<Header> header = parseHeader((*file)->getBuffer());
  if (!header)
    return header.takeError();
  if (!holds(header->descr, type.element) || header->shape != type.shape)
    return failure("holds " + nameOf(header->descr) + describeShape(header->shape));
  if (header->data.size() != type.bytes())
    return failure("it has " + llvm::Twine(header->data.size()) + " bytes of elements, expected " +
                   llvm::Twine(type.bytes()) + " for " + type.describe());
  Expected<Array> array = Array::make(type);
  if (!array)
    return array.takeError();
  if (header->isFortran && array->type.count() > 0)
    copyFromFortranOrder(header->data, *array);
  else
    std::copy(header->data.begin(), header->data.end(), array->data.begin());
  if (header->isBigEndian != llvm::sys::IsBigEndianHost)
    swapBytes(*array);
  return array;
}

Error arrayrun::writeNpy(StringRef path, const Array &array) {
  Descr descr = descrOf(array.type.element);
  bool hasOrder = descr.bytes > 1 || descr.kind == 'V';
  std::string header = std::string("{'descr': '") + (hasOrder ? '<' : '|') + descr.kind + std::to_string(descr.bytes) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : array.type.shape)
    header += std::to_string(dim) + ",";
  header += "), }";
  // The elements begin at a multiple of 64 bytes. The header ends with a newline.
  constexpr size_t begin = 10, alignment = 64;
  size_t padding = alignment - (begin + header.size() + 1) % alignment;
  header += std::string(padding % alignment, ' ') + '\n';

  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return failure("can't be written: " + error.message());
  char length[2];
  llvm::support::endian::write16le(length, static_cast<uint16_t>(header.size()));
  os << magic << '\1' << '\0' << StringRef(length, 2) << header << StringRef(array.data.data(), array.data.size());
  os.close();
  if (!os.has_error())
    return Error::success();
  std::string why = os.error().message();
  os.clear_error();
  return failure("can't be written: " + why);
}
