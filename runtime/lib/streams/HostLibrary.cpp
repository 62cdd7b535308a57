// The call frame's table for a run on a CPU; a GPU's (cuda/LibraryTable.cpp) replaces some routines.
#include "runtime/HostLibrary.h"

#include "support/LibraryCalls.h"

using namespace pcrt;

const PcrtTable &pcrt::libraryTable() {
  static const PcrtTable table = {PCRT_ABI_VERSION, library::parallelFor, library::launch, library::read,
#define PCRT_SLOT(name) library::name,
                                  PCRT_LIBRARY_CALLS(PCRT_SLOT)
#undef PCRT_SLOT
  };
  return table;
}
