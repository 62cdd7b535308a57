// The shared functions (lib/Entry/SharedFunctions.h) that the build compiles, for several levels of the instruction
// set. tools/array-functions writes their objects, and ArrayBuiltFunctions embeds them. A program that calls one is
// linked with its object. Without them, and for other machines, a module defines the functions that it calls.
#ifndef ARRAY_TARGET_BUILTFUNCTIONS_H
#define ARRAY_TARGET_BUILTFUNCTIONS_H

#include "array/Target/Compile.h"

namespace mlir::array {

/// A CPU for which functions are compiled, and the features that a machine needs to run them.
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

/// Makes all later compilations use these functions.
void useBuiltFunctions(llvm::ArrayRef<BuiltFunction> functions);

/// The same with the functions that the build compiled: those of the library ArrayBuiltFunctions, which every program
/// with a compiler links.
void useFunctionsOfBuild();

/// The names of the functions that code for a CPU calls; none if no level fits the CPU.
std::vector<std::string> builtFunctions(const std::string &cpu);

/// Compiles the common shared functions for a level, as names and objects for useBuiltFunctions. On failure a
/// diagnostic has been emitted.
FailureOr<std::vector<std::pair<std::string, std::vector<char>>>> compileCommonFunctions(MLIRContext *context,
                                                                                         const FunctionLevel &level);

} // namespace mlir::array

#endif // ARRAY_TARGET_BUILTFUNCTIONS_H
