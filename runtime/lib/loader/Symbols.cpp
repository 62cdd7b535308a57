// The static table of symbols that loaded objects may reference: the names of Symbols.def with their addresses.
#include "runtime/Executable.h"

#include <unordered_map>

// Declared under other C++ names, so that no declaration clashes with the compiler's own idea of the functions' types.
#define PCRT_SYMBOL(name) extern "C" void pcrtSymbol_##name() __asm__(#name);
#include "runtime/Symbols.def"

void *pcrt::findSymbol(std::string_view name) {
  static const auto *const table = [] {
    auto *entries = new std::unordered_map<std::string_view, void *>{
#define PCRT_SYMBOL(name) {#name, reinterpret_cast<void *>(&pcrtSymbol_##name)},
#include "runtime/Symbols.def"
    };
    return entries;
  }();
  auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}
