// arc4random for LLVM's archives, which call glibc's version: glibc has it from 2.36 on, and the wheel also runs with
// older ones, for example on Ubuntu 22.04. LLVM uses it for unique file names.
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" uint32_t arc4random() {
  uint32_t bits;
  if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
    abort(); // As in glibc: this few bytes are always available.
  return bits;
}
