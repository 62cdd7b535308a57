# A toolchain: what Debian's cross compiler makes for AArch64, run by qemu (packages g++-aarch64-linux-gnu, qemu-user). The
# preset `aarch64` builds the runtime and its C++ tests with it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
# Notes on how pairs were passed before GCC 10.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
