// The table of all library routines for compiled code on a CPU.
#ifndef PYCOMPILER_RUNTIME_HOSTLIBRARY_H
#define PYCOMPILER_RUNTIME_HOSTLIBRARY_H

#include "runtime/Abi.h"

namespace pcrt {

const PcrtTable &libraryTable();

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_HOSTLIBRARY_H
