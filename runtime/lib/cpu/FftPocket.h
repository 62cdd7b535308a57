// pocketfft, with the settings of all files here.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_FFTPOCKET_H
#define PYCOMPILER_RUNTIME_LIB_CPU_FFTPOCKET_H

// No threads of its own (the pool's threads share the rows), and a cache for plans of repeated lengths.
#define POCKETFFT_NO_MULTITHREADING
#define POCKETFFT_CACHE_SIZE 16
#include "pocketfft/pocketfft_hdronly.h"

#endif // PYCOMPILER_RUNTIME_LIB_CPU_FFTPOCKET_H
