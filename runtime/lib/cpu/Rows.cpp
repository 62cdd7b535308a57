// Blocks of rows: the operands' first dimension is divided, and the routine gets ordinary tensors.
#include "Rows.h"
#include "Elements.h"
#include "support/LibraryCalls.h"

#include <algorithm>

using namespace pcrt;

/// The maximum number of operands and dimensions that are divided: the stack holds copies of them.
static constexpr int32_t mostOperands = 8, mostDims = 16;

namespace {
struct Call {
  PcrtLibraryCall routine;
  const PcrtTensor *inputs, *outputs;
  int32_t inputCount, outputCount;
  const int64_t *params;
  int64_t rows, rowsOfBlock;
};
} // namespace

static int64_t elementsOfRow(const PcrtTensor &tensor) {
  int64_t elements = 1;
  for (int32_t d = 1; d < tensor.rank; ++d)
    elements *= tensor.dims[d];
  return elements;
}

static int32_t callOnRows(const PcrtFrame *frame, const Call &call, int64_t low, int64_t high) {
  PcrtTensor operands[mostOperands];
  int64_t dims[mostOperands][mostDims];
  for (int32_t i = 0; i < call.inputCount + call.outputCount; ++i) {
    const PcrtTensor &whole = i < call.inputCount ? call.inputs[i] : call.outputs[i - call.inputCount];
    int64_t bytes = elementsOfRow(whole) * static_cast<int64_t>(byteSize(static_cast<DType>(whole.dtype)));
    std::copy(whole.dims, whole.dims + whole.rank, dims[i]);
    dims[i][0] = high - low;
    operands[i] = {static_cast<char *>(whole.data) + low * bytes, dims[i], whole.rank, whole.dtype};
  }
  return call.routine(frame, operands, call.inputCount, operands + call.inputCount, call.outputCount, call.params);
}

/// Blocks depend on sizes alone, not on the threads: a routine may process several rows at once.
static int32_t callOnBlocks(const PcrtFrame *frame, const void *captured, int64_t low, int64_t high) {
  const Call &call = *static_cast<const Call *>(captured);
  int32_t status = PCRT_OK;
  for (int64_t block = low; block < high && status == PCRT_OK; ++block)
    status = callOnRows(frame, call, block * call.rowsOfBlock, std::min((block + 1) * call.rowsOfBlock, call.rows));
  return status;
}

int32_t library::overRows(PcrtLibraryCall routine, bool mayCut, double nsOfElement, const PcrtFrame *frame,
                          const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs, int32_t outputCount,
                          const int64_t *params, int64_t together) {
  auto whole = [&] { return routine(frame, inputs, inputCount, outputs, outputCount, params); };
  if (!mayCut || inputCount < 1 || inputCount + outputCount > mostOperands || inputs[0].rank < 1 ||
      inputs[0].dims[0] < 2)
    return whole();
  int64_t rows = inputs[0].dims[0];
  auto isCut = [&](const PcrtTensor &tensor) {
    return tensor.rank >= 1 && tensor.rank <= mostDims && tensor.dims[0] == rows && tensor.dtype >= 0 &&
           tensor.dtype < dtypeCount;
  };
  double rowNs = static_cast<double>(elementsOfRow(inputs[0])) * nsOfElement;
  if (rowNs * static_cast<double>(rows) < sharedNs || !std::all_of(inputs, inputs + inputCount, isCut) ||
      !std::all_of(outputs, outputs + outputCount, isCut))
    return whole();
  int64_t rowsOfBlock = (static_cast<int64_t>(pieceNs / rowNs) / together + 1) * together,
          blocks = (rows + rowsOfBlock - 1) / rowsOfBlock;
  Call call = {routine, inputs, outputs, inputCount, outputCount, params, rows, rowsOfBlock};
  return parallelFor(frame, callOnBlocks, &call, blocks, 1);
}
