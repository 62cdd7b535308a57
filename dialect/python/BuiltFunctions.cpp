// The shared functions that the build compiled: their table and their objects become part of the module.
#include "array/Target/BuiltFunctions.h"
#include "Binding.h"

asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".local arrayFunctionObjects\n"
    "arrayFunctionObjects:\n"
    ".incbin \"" ARRAY_FUNCTION_OBJECTS "\"\n"
    ".popsection\n");
extern "C" {
extern const char arrayFunctionObjects[] __attribute__((visibility("hidden")));
}

namespace pycompiler {

void takeBuiltFunctions() {
  const struct {
    const char *name;
    unsigned level;
    size_t offset, bytes;
  } rows[] = {
#define ARRAY_FUNCTION(name, level, offset, bytes) {name, level, offset, bytes},
#include ARRAY_FUNCTION_ROWS
#undef ARRAY_FUNCTION
  };
  std::vector<mlir::array::BuiltFunction> functions;
  for (const auto &row : rows)
    functions.push_back({row.name, row.level, {arrayFunctionObjects + row.offset, row.bytes}});
  mlir::array::useBuiltFunctions(functions);
}

} // namespace pycompiler
