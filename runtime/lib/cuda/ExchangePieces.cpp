// Sources and targets of a collective.
#include "cuda/ExchangePieces.h"

#include "memory/HostOperands.h"

using namespace pcrt;
using namespace pcrt::cuda;

ExchangePieces::ExchangePieces(size_t members, const PcrtTensor &input)
    : members(members), bytes(static_cast<size_t>(bytesOf(input))) {}

bool ExchangePieces::fits(const CollectiveParams &form, const PcrtTensor &input, const PcrtTensor &output) const {
  bool isAlongFirst = form.dimension() == 0 && form.otherDimension() == 0 && input.rank > 0;
  auto results = static_cast<size_t>(bytesOf(output));
  switch (form.code()) {
  case PCRT_ALL_GATHER:
    return isAlongFirst && results == bytes * members;
  case PCRT_ALL_TO_ALL:
    return isAlongFirst && results == bytes && input.dims[0] % static_cast<int64_t>(members) == 0;
  case PCRT_COLLECTIVE_PERMUTE:
    for (int64_t i = 0; i < 2 * form.pairCount(); ++i)
      if (form.pairs()[i] < 0 || form.pairs()[i] >= form.groupSize())
        return false;
    return results == bytes;
  default:
    return false;
  }
}

Piece ExchangePieces::between(const CollectiveParams &form, size_t target, size_t source) const {
  size_t part = bytes / members;
  switch (form.code()) {
  case PCRT_ALL_GATHER:
    return {0, source * bytes, bytes};
  case PCRT_ALL_TO_ALL:
    return {target * part, source * part, part};
  default:
    for (int64_t i = 0; i < form.pairCount(); ++i)
      if (static_cast<size_t>(form.pairs()[2 * i]) == source && static_cast<size_t>(form.pairs()[2 * i + 1]) == target)
        return {0, 0, bytes};
    return {0, 0, 0};
  }
}

bool ExchangePieces::isReceiver(const CollectiveParams &form, size_t target) const {
  for (size_t source = 0; source < members; ++source)
    if (between(form, target, source).bytes > 0)
      return true;
  return false;
}
