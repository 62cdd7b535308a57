// The library routines that compiled code reaches through its call frame, on a CPU: a table of all of them.
#ifndef PYCOMPILER_RUNTIME_HOSTLIBRARY_H
#define PYCOMPILER_RUNTIME_HOSTLIBRARY_H

#include "runtime/Abi.h"

namespace pcrt {

const PcrtTable &libraryTable();

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_HOSTLIBRARY_H
