// Arrays from words of the command line.
#include "Inputs.h"
#include "Failure.h"
#include "Npy.h"
#include "Random.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace arrayrun;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

/// Removes "12=" from the words.
static std::optional<size_t> takeNumber(StringRef &words) {
  StringRef digits = words.take_while(llvm::isDigit);
  size_t number;
  if (digits.empty() || !words.drop_front(digits.size()).starts_with("=") || digits.getAsInteger(10, number))
    return std::nullopt;
  words = words.drop_front(digits.size() + 1);
  return number;
}

static std::string plural(size_t count, StringRef noun) {
  return (llvm::Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

Expected<std::vector<std::string>> arrayrun::assignWords(llvm::ArrayRef<std::string> given, size_t count,
                                                         const Role &role) {
  std::vector<std::string> assigned(count);
  auto place = [&](size_t number, StringRef words) -> Error {
    if (number >= count)
      return failure("--" + role.option + "=" + words + " is for " + role.noun + " #" + llvm::Twine(number) +
                     ", but @" + role.entry + " has " + plural(count, role.noun));
    if (!assigned[number].empty())
      return failure("--" + role.option + " gives " + role.noun + " #" + llvm::Twine(number) + " of @" + role.entry +
                     " twice");
    assigned[number] = words.str();
    return words.empty() ? failure("--" + role.option + " for " + role.noun + " #" + llvm::Twine(number) + " is empty")
                         : Error::success();
  };
  std::vector<StringRef> inOrder;
  for (StringRef words : given) {
    std::optional<size_t> number = takeNumber(words);
    if (!number)
      inOrder.push_back(words);
    else if (Error error = place(*number, words))
      return error;
  }
  size_t next = 0;
  for (StringRef words : inOrder) {
    while (next < count && !assigned[next].empty())
      ++next;
    if (Error error = place(next, words))
      return error;
  }
  return assigned;
}

static Expected<Array> fillWith(StringRef text, const ArrayType &type) {
  Expected<Array> array = Array::make(type);
  if (!array)
    return array.takeError();
  char element[16];
  if (Error error = type.element.parse(text, element))
    return error;
  for (int64_t i = 0, count = type.count(); i < count; ++i)
    std::copy_n(element, type.element.bytes(), array->at(i));
  return array;
}

static bool startsLiteral(StringRef words) {
  return words.starts_with("[") || llvm::isDigit(words[0]) || StringRef("+-.").contains(words[0]) ||
         llvm::is_contained({"nan", "inf", "true", "false"}, words);
}

static Expected<Array> readWords(StringRef words, const ArrayType &type, size_t number) {
  if (words.ends_with(".npy"))
    return readNpy(words, type);
  StringRef rest = words;
  if (rest.consume_front("random"))
    if (rest.empty() || rest.consume_front(":"))
      return makeRandom(rest.empty() ? "uniform" : rest, type, number);
  if (rest.consume_front("fill:"))
    return fillWith(rest, type);
  if (startsLiteral(words))
    return parseLiteral(words, type);
  return failure("is neither a file NAME.npy, nor a literal such as [[1, 2], [3, 4]], nor fill:VALUE, nor "
                 "random:uniform or random:normal");
}

Expected<Array> arrayrun::makeArray(StringRef words, const ArrayType &type, size_t number, const Role &role) {
  Expected<Array> made = readWords(words, type, number);
  if (made)
    return made;
  std::string where = (role.noun + " #" + llvm::Twine(number) + " of @" + role.entry).str();
  return failure("--" + role.option + "=" + words + ": " + llvm::toString(made.takeError()) + " (" + where + " is " +
                 type.describe() + ")");
}
