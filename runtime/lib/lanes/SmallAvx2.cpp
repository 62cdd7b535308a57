// Small matrices in vectors of 32 bytes.
#define PCRT_LANES avx2
#define PCRT_LANES_BYTES 32
#include "lanes/Entries.h"
#include "lanes/Tables.h"

const pcrt::lanes::Tables pcrt::lanes::tablesAvx2 = {avx2::entries<float>, avx2::entries<double>};
