// Small matrices in vectors of 16 bytes.
#define PCRT_LANES baseline
#define PCRT_LANES_BYTES 16
#include "lanes/Entries.h"
#include "lanes/Tables.h"

const pcrt::lanes::Tables pcrt::lanes::tablesBaseline = {baseline::entries<float>, baseline::entries<double>};
