// The shared functions (lib/Entry/SharedFunctions.h) that the build has compiled, for levels of the instruction
// set: tools/array-functions writes their objects, and ArrayBuiltFunctions takes them in. A program that calls one is
// joined with its object. Without them, and for other machines, a module defines what it calls.
#ifndef ARRAY_TARGET_BUILTFUNCTIONS_H
#define ARRAY_TARGET_BUILTFUNCTIONS_H

#include "array/Target/Compile.h"

namespace mlir::array {

/// A CPU that functions are compiled for, and what another one must have to run them.
struct FunctionLevel {
  llvm::StringRef cpu, features;
};

/// The levels on this kind of machine, the most capable first.
llvm::ArrayRef<FunctionLevel> functionLevels();

/// The object of a function, compiled for a level.
struct BuiltFunction {
  llvm::StringRef name;
  unsigned level;
  llvm::ArrayRef<char> object;
};

/// Has all compilations from now on use these functions.
void useBuiltFunctions(llvm::ArrayRef<BuiltFunction> functions);

/// The same with those that the build has compiled: of the library ArrayBuiltFunctions, which who compiles programs
/// links.
void useFunctionsOfBuild();

/// The names of those that code for a CPU calls; none where there is no such CPU.
std::vector<std::string> builtFunctions(const std::string &cpu);

/// Compiles the common shared functions for a level: what useBuiltFunctions takes, in the form of names and objects. On
/// failure a diagnostic has been emitted.
FailureOr<std::vector<std::pair<std::string, std::vector<char>>>> compileCommonFunctions(MLIRContext *context,
                                                                                         const FunctionLevel &level);

} // namespace mlir::array

#endif // ARRAY_TARGET_BUILTFUNCTIONS_H
