// A library of MPI that does nothing, in one of the three ABIs: MpiLibraryTest compiles it into shared objects, and the
// transport loads them as it loads a real one. FAKE_ABI is 1 for the standard ABI, 2 for MPICH's, 3 for Open MPI's.

#if FAKE_ABI == 2
typedef int Handle;
#else
typedef void *Handle;
#endif

#include <string.h>

static int started;

int MPI_Initialized(int *flag) { return *flag = started, 0; }
int MPI_Finalized(int *flag) { return *flag = 0, 0; }
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  (void)argc, (void)argv;
  started = 1;
  return *provided = required, 0;
}
int MPI_Query_thread(int *provided) { return *provided = 0, 0; }
int MPI_Finalize(void) { return 0; }
int MPI_Comm_dup(Handle from, Handle *to) { return *to = from, 0; }
int MPI_Comm_free(Handle *communicator) { return (void)communicator, 0; }
int MPI_Comm_rank(Handle communicator, int *rank) { return (void)communicator, *rank = 0, 0; }
int MPI_Comm_size(Handle communicator, int *size) { return (void)communicator, *size = 1, 0; }
int MPI_Comm_set_errhandler(Handle communicator, Handle handler) { return (void)communicator, (void)handler, 0; }
int MPI_Comm_split_type(Handle from, int type, int key, Handle info, Handle *to) {
  (void)key, (void)info;
  return *to = from, type == (FAKE_ABI == 1 ? 221 : FAKE_ABI == 2 ? 1 : 0) ? 0 : 5;
}
int MPI_Win_allocate_shared(long bytes, int unit, Handle info, Handle communicator, void *start, Handle *window) {
  return (void)bytes, (void)unit, (void)info, (void)communicator, (void)start, (void)window, 5;
}
int MPI_Win_shared_query(Handle window, int rank, long *bytes, int *unit, void *start) {
  return (void)window, (void)rank, (void)bytes, (void)unit, (void)start, 5;
}
int MPI_Win_free(Handle *window) { return (void)window, 0; }
int MPI_Barrier(Handle communicator) { return (void)communicator, 0; }
int MPI_Bcast(void *data, int count, Handle type, int root, Handle communicator) {
  return (void)data, (void)count, (void)type, (void)root, (void)communicator, 0;
}
/* One message at a time, from this process to itself: what is sent is what is received. */
static char kept[1 << 20];
static int keptCount = -1;
int MPI_Isend(const void *data, int count, Handle type, int to, int tag, Handle communicator, Handle *request) {
  (void)type, (void)to, (void)tag, (void)communicator;
  memcpy(kept, data, (unsigned)count);
  keptCount = count;
  return *request = (Handle)7, 0;
}
int MPI_Irecv(void *data, int count, Handle type, int from, int tag, Handle communicator, Handle *request) {
  (void)count, (void)type, (void)from, (void)tag, (void)communicator;
  if (keptCount >= 0)
    memcpy(data, kept, (unsigned)keptCount);
  keptCount = -1;
  return *request = (Handle)7, 0;
}
int MPI_Recv(void *data, int count, Handle type, int from, int tag, Handle communicator, void *status) {
  (void)count, (void)type, (void)from, (void)tag, (void)communicator, (void)status;
  memcpy(data, kept, (unsigned)keptCount);
  keptCount = -1;
  return 0;
}
int MPI_Iprobe(int from, int tag, Handle communicator, int *flag, void *status) {
  (void)tag, (void)communicator;
#if FAKE_ABI == 2
  if (from != -2 || status != (void *)1)
    return 5;
#else
  if (from != -1 || status != (void *)0)
    return 5;
#endif
  return *flag = keptCount >= 0, 0;
}
int MPI_Test(Handle *request, int *flag, void *status) { return (void)status, *flag = *request == (Handle)7, 0; }
int MPI_Error_string(int code, char *text, int *length) {
  return (void)code, strcpy(text, "no such source"), *length = (int)strlen(text), 0;
}
int MPI_Get_library_version(char *text, int *length) {
  return strcpy(text, "Fake MPI 1.0\nof tests"), *length = (int)strlen(text), 0;
}
#if FAKE_ABI == 1
int MPI_Abi_get_version(int *major, int *minor) { return *major = 1, *minor = 0, 0; }
#elif FAKE_ABI == 3
int ompi_mpi_comm_world, ompi_mpi_byte, ompi_mpi_errors_return, ompi_request_null, ompi_mpi_info_null;
#endif
