// How long passes take. Of Debian's LLVM, which has no assertions, passes count nothing: the report of statistics is empty.
// RUN: array-opt %s --canonicalize --cse --mlir-timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: Execution time report
// LIST: Canonicalizer
// LIST: CSE
// LIST: Total
// RUN: array-opt %s --canonicalize --mlir-timing --mlir-timing-display=list -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FLAT
// FLAT: ----Name----
// RUN: array-opt %s --canonicalize --mlir-timing --mlir-output-format=json -o /dev/null 2>&1 \
// RUN:   | %python -c "import json, sys; print([row['name'] for row in json.load(sys.stdin)])" \
// RUN:   | FileCheck %s --check-prefix=JSON
// JSON: 'Parser', 'Canonicalizer', 'Output', 'Rest', 'Total'
// RUN: array-opt %s --cse --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=STATISTICS
// STATISTICS: Pass statistics report
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
