// Small matrices in vectors of 64 bytes.
#define PCRT_LANES avx512
#define PCRT_LANES_BYTES 64
#include "lanes/Entries.h"
#include "lanes/Tables.h"

const pcrt::lanes::Tables pcrt::lanes::tablesAvx512 = {avx512::entries<float>, avx512::entries<double>};
