// Remarks of passes go to a file, in the requested form. (No pass here makes one.)
// RUN: rm -f %t.yaml && array-opt %s --canonicalize --remarks-filter=".*" --remark-format=yaml --remarks-output-file=%t.yaml \
// RUN:   | FileCheck %s
// RUN: ls %t.yaml
// RUN: rm -f %t.bits && array-opt %s --canonicalize --remarks-filter-missed=".*" --remark-format=bitstream \
// RUN:   --remarks-output-file=%t.bits | FileCheck %s
// RUN: ls %t.bits
// CHECK: func.func @main
// RUN: not array-opt %s --remarks-filter=".*" --remark-format=poem 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: for the --remark-format option: Cannot find option named 'poem'!
// RUN: not array-opt %s --remarks-filter=".*" --remark-format=yaml --remarks-output-file=%t.nowhere/out.yaml
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
