// A library of MPI, loaded at run time: its functions, and the constants of its ABI. There are three ABIs. Their
// functions have the same parameters, but handles are 32-bit numbers in MPICH's and addresses in the others. Both are
// passed here as a uintptr_t: a callee that takes a number reads its low half. After the OS; before MpiTransport.
#ifndef PYCOMPILER_RUNTIME_LIB_MPILIBRARY_H
#define PYCOMPILER_RUNTIME_LIB_MPILIBRARY_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>

namespace pcrt {

/// A handle, and the room of one that MPI writes. On the machines here, a number is written to the low half.
using MpiHandle = uintptr_t;

class MpiLibrary {
public:
  static Result<MpiLibrary *> open(const std::string &path);
  /// The loaded one, or null.
  static MpiLibrary *loaded();

  /// Of one ABI.
  struct Constants {
    const char *abi;
    MpiHandle world, byte, errorsReturn, nullRequest, nullInfo;
    int anySource, threadSerialized, threadMultiple, typeShared;
    void *ignoredStatus;
  };
  Constants constants{};
  std::string version;

#define PCRT_MPI_FUNCTIONS(X)                                                                                          \
  X(Initialized, (int *))                                                                                              \
  X(Finalized, (int *))                                                                                                \
  X(Init_thread, (int *, char ***, int, int *))                                                                        \
  X(Query_thread, (int *))                                                                                             \
  X(Finalize, ())                                                                                                      \
  X(Comm_dup, (MpiHandle, MpiHandle *))                                                                                \
  X(Comm_free, (MpiHandle *))                                                                                          \
  X(Comm_rank, (MpiHandle, int *))                                                                                     \
  X(Comm_size, (MpiHandle, int *))                                                                                     \
  X(Comm_set_errhandler, (MpiHandle, MpiHandle))                                                                       \
  X(Comm_split_type, (MpiHandle, int, int, MpiHandle, MpiHandle *))                                                    \
  X(Win_allocate_shared, (intptr_t, int, MpiHandle, MpiHandle, void *, MpiHandle *))                                   \
  X(Win_shared_query, (MpiHandle, int, intptr_t *, int *, void *))                                                     \
  X(Win_free, (MpiHandle *))                                                                                           \
  X(Barrier, (MpiHandle))                                                                                              \
  X(Bcast, (void *, int, MpiHandle, int, MpiHandle))                                                                   \
  X(Isend, (const void *, int, MpiHandle, int, int, MpiHandle, MpiHandle *))                                           \
  X(Irecv, (void *, int, MpiHandle, int, int, MpiHandle, MpiHandle *))                                                 \
  X(Recv, (void *, int, MpiHandle, int, int, MpiHandle, void *))                                                       \
  X(Iprobe, (int, int, MpiHandle, int *, void *))                                                                      \
  X(Test, (MpiHandle *, int *, void *))                                                                                \
  X(Error_string, (int, char *, int *))                                                                                \
  X(Get_library_version, (char *, int *))

#define PCRT_MPI_POINTER(name, parameters) int(*name) parameters = nullptr;
  PCRT_MPI_FUNCTIONS(PCRT_MPI_POINTER)
#undef PCRT_MPI_POINTER

  /// The text of an error.
  Status failed(const char *function, int code) const;

private:
  MpiLibrary() = default;
  Status load(const std::string &path);
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_MPILIBRARY_H
