// Arrays on the command line, `--input` and `--expect`: the argument or result, and the source of its elements. It uses
// Values, Npy and Random.
#ifndef ARRAY_RUN_INPUTS_H
#define ARRAY_RUN_INPUTS_H

#include "Values.h"

namespace arrayrun {

/// The purpose of a list of words, for messages: "input", "argument", "@main".
struct Role {
  llvm::StringRef option, noun, entry;
};

/// The words for each of `count` arguments or results; empty if none are given. Words come in order, or with a number
/// ("1=x.npy"). Words without a number go to the first place without words.
llvm::Expected<std::vector<std::string>> assignWords(llvm::ArrayRef<std::string> given, size_t count, const Role &role);

/// The array that the words describe: a file of the format .npy, a literal, "fill:VALUE" or "random:...".
llvm::Expected<Array> makeArray(llvm::StringRef words, const ArrayType &type, size_t number, const Role &role);

} // namespace arrayrun

#endif // ARRAY_RUN_INPUTS_H
