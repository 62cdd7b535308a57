// The shared functions that the build compiled. Their table and their objects are linked into every user of this
// library.
#include "array/Target/BuiltFunctions.h"

asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".local arrayFunctionObjects\n"
    "arrayFunctionObjects:\n"
    ".incbin \"" ARRAY_FUNCTION_OBJECTS "\"\n"
    ".popsection\n");
extern "C" {
extern const char arrayFunctionObjects[] __attribute__((visibility("hidden")));
}

namespace mlir::array {

void useFunctionsOfBuild() {
  const struct {
    const char *name;
    unsigned level;
    size_t offset, bytes;
  } rows[] = {
#define ARRAY_FUNCTION(name, level, offset, bytes) {name, level, offset, bytes},
#include ARRAY_FUNCTION_ROWS
#undef ARRAY_FUNCTION
  };
  std::vector<BuiltFunction> functions;
  for (const auto &row : rows)
    functions.push_back({row.name, row.level, {arrayFunctionObjects + row.offset, row.bytes}});
  useBuiltFunctions(functions);
}

} // namespace mlir::array
