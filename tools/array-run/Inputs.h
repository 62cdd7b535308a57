// The arrays of the command line, `--input` and `--expect`: the argument or result, and the source of its elements.
// After Values, Npy and Random; before Run and Compare.
#ifndef ARRAY_RUN_INPUTS_H
#define ARRAY_RUN_INPUTS_H

#include "Values.h"

namespace arrayrun {

/// The purpose of a list of words, for messages: "input", "argument", "@main".
struct Role {
  llvm::StringRef option, noun, entry;
};

/// The words for each of `count` arguments or results; empty for those without words. Words come in order, or have a
/// number ("1=x.npy"): a word without a number belongs to the first one that has none yet.
llvm::Expected<std::vector<std::string>> assignWords(llvm::ArrayRef<std::string> given, size_t count, const Role &role);

/// The array that the words describe: a file of the format .npy, a literal, "fill:VALUE" or "random:...".
llvm::Expected<Array> makeArray(llvm::StringRef words, const ArrayType &type, size_t number, const Role &role);

} // namespace arrayrun

#endif // ARRAY_RUN_INPUTS_H
