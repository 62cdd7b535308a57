// The routines of one instruction set (Vectors.h).
#include "lanes/Symmetric.h"
#include "lanes/Systems.h"

namespace pcrt::lanes::PCRT_LANES {

template <typename T>
inline constexpr SmallMatrices<T> entries = {cholesky<T>,      solveTriangular<T>, lu<T>,
                                             solveFactored<T>, symmetric<T>,       qr<T>};

} // namespace pcrt::lanes::PCRT_LANES
