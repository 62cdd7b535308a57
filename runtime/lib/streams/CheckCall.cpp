// The library routine `check` of a run; the run's error has its text.
#include "cpu/Check.h"
#include "runtime/RunContext.h"
#include "support/LibraryCalls.h"

using namespace pcrt;

int32_t library::check(const PcrtFrame *frame, const PcrtTensor *, int32_t, const PcrtTensor *, int32_t,
                       const int64_t *params) {
  std::string objection = objectionOf(params);
  if (objection.empty())
    return PCRT_OK;
  return RunContext::of(frame).fail(Status(Code::InvalidArgument, std::move(objection)));
}
