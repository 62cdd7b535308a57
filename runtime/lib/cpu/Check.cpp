// See Check.h.
#include "Check.h"

#include "runtime/SizeChecks.h"

using namespace pcrt;

namespace {

std::string listed(const int64_t *sizes, int64_t rank) {
  std::string text;
  for (int64_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(sizes[i]);
  return "[" + text + "]";
}

std::string objectionTo(const int64_t *params) {
  std::string of = params[1] < 0 ? "the result" : "operand #" + std::to_string(params[1]);
  std::string dimension = "dimension " + std::to_string(params[2]) + " of " + of;
  const int64_t *p = params + 3;
  auto number = [&](int i) { return std::to_string(p[i]); };
  switch (params[0]) {
  case PCRT_CHECK_EQUAL:
    return dimension + " has the size " + number(0) + ", expected " + number(1);
  case PCRT_CHECK_AT_MOST:
    return "takes " + number(0) + " elements of " + dimension + ", expected 0 to " + number(1) + ", its size";
  case PCRT_CHECK_INDEX:
    return "the index in " + dimension + " is " + number(0) + ", expected 0 <= index < " + number(1) + ", its size";
  case PCRT_CHECK_SLICE:
    return "takes " + number(1) + " elements of " + dimension + " from " + number(0) + " on with the stride " +
           number(2) + ", which do not lie within its size, " + number(3);
  case PCRT_CHECK_SHAPE:
    return "makes an array of the shape " + listed(p + 2, p[1]) +
           ", expected sizes of at least 0, and no more than 2**63 - 1 bytes";
  case PCRT_CHECK_COUNT:
    return dimension + " has the size " + number(0) + ", which can't be cut into " + listed(p + 2, p[1]);
  case PCRT_CHECK_STEP:
    return "the step is " + number(0) + ", expected at least 1";
  case PCRT_CHECK_RESHAPE: {
    const int64_t *q = p + 1 + p[0];
    return of + " has the shape " + listed(p + 1, p[0]) + ", which can't be reshaped to " + listed(q + 1, q[0]);
  }
  default:
    return "asks for the unknown check " + std::to_string(params[0]);
  }
}

} // namespace

std::string pcrt::objectionOf(const int64_t *params) {
  return sizechecks::holds(params[0], params + 3) ? std::string() : objectionTo(params);
}
