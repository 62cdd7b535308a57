// The relocations in compiled objects, with one function for each machine. Only ObjectLinker uses them. Both are built
// on every machine, so that a test can run them on bytes.
#ifndef PYCOMPILER_RUNTIME_LIB_RELOCATIONS_H
#define PYCOMPILER_RUNTIME_LIB_RELOCATIONS_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace pcrt {

/// One relocation with its operands as addresses.
struct RelocationSite {
  uint32_t type;
  char *place;      ///< the address to patch
  size_t room;      ///< bytes of the section from there on
  uint64_t symbol;  ///< S: the symbol's address
  uint64_t branch;  ///< S for calls: the symbol, or a stub that reaches it
  uint64_t gotSlot; ///< the address of the pointer to the symbol
  int64_t addend;   ///< A
};

/// Patches one place; a failure names the relocation, without the symbol.
Status relocateX86(const RelocationSite &site);
Status relocateAArch64(const RelocationSite &site);

/// The code that jumps to `target` from anywhere, `stubBytes` long.
inline constexpr size_t stubBytes = 16;
void writeStubX86(char *place, uint64_t target);
void writeStubAArch64(char *place, uint64_t target);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_RELOCATIONS_H
