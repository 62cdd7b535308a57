// RUN: not array-reduce %s --array-reduction="test=%S/Inputs/has-tanh.sh" 2>&1 | FileCheck %s --check-prefix=DULL
// DULL: error: array-reduction: the module is not interesting to begin with: '{{.*}}has-tanh.sh' must end with the status 1 for it
// RUN: not array-reduce %s --array-reduction="test=nowhere.sh" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: array-reduction: test='nowhere.sh' is no script that can be run
// RUN: not array-reduce %t.nothing --array-reduction="test=%S/Inputs/has-tanh.sh" 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: cannot open input file
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
