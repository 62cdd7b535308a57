// arc4random for LLVM's archives, which call glibc's: glibc has it from 2.36 on, and the wheel runs with older ones, as
// Ubuntu 22.04's. LLVM takes unique names of files from it.
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" uint32_t arc4random() {
  uint32_t bits;
  if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
    abort(); // As glibc's does: so few bytes are always given.
  return bits;
}
