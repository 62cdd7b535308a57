// The functions that the build has compiled (array/Target/BuiltFunctions.h), for the compilation of a program.
#ifndef ARRAY_LIB_TARGET_BUILTLEVEL_H
#define ARRAY_LIB_TARGET_BUILTLEVEL_H

#include "Units.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::array {

/// The objects of a level, by the names of their functions.
using BuiltLevel = llvm::StringMap<llvm::ArrayRef<char>>;

/// The functions that code for a target may call; null for none.
const BuiltLevel *findBuiltLevel(const HostTarget &target);

/// Makes the passes declare these functions instead of defining them.
void declareBuilt(ModuleOp module, const BuiltLevel &level);

/// Appends the objects of the functions that the units call.
void addBuiltObjects(llvm::ArrayRef<Unit> units, const BuiltLevel &level,
                     SmallVectorImpl<llvm::ArrayRef<char>> &objects);

} // namespace mlir::array

#endif // ARRAY_LIB_TARGET_BUILTLEVEL_H
