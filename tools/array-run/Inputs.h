// What the command line says of arrays, `--input` and `--expect`: which argument or result, and where it comes from.
// After Values, Npy and Random; before Run and Compare.
#ifndef ARRAY_RUN_INPUTS_H
#define ARRAY_RUN_INPUTS_H

#include "Values.h"

namespace arrayrun {

/// What a list of words is for, for messages: "input", "argument", "@main".
struct Role {
  llvm::StringRef option, noun, entry;
};

/// The words for each of `count` arguments or results; empty for those of which none are given. Words come in order,
/// or say a number ("1=x.npy"): what comes without a number goes to the first that has none yet.
llvm::Expected<std::vector<std::string>> assignWords(llvm::ArrayRef<std::string> given, size_t count, const Role &role);

/// The array that the words describe: a file of the format .npy, a literal, "fill:VALUE" or "random:...".
llvm::Expected<Array> makeArray(llvm::StringRef words, const ArrayType &type, size_t number, const Role &role);

} // namespace arrayrun

#endif // ARRAY_RUN_INPUTS_H
