// The errors of array-run: an llvm::Error with a message. It includes no other part.
#ifndef ARRAY_RUN_FAILURE_H
#define ARRAY_RUN_FAILURE_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace arrayrun {

inline llvm::Error failure(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

} // namespace arrayrun

#endif // ARRAY_RUN_FAILURE_H
