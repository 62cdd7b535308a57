// Functions of math.h by element, in single and in double precision, and their infinities and nans.

// RUN: array-run %s --entry=exponentials --atol=0 --input='[0, 1, -2.5, -inf, 100]' \
// RUN:   --expect='[1, 2.718282, 0.082085, 0, inf]' --expect='[1, 2, 0.1767767, 0, 1.267651e+30]' \
// RUN:   --expect='[0, 1.718282, -0.917915, -1, inf]' --expect='[0.5, 0.7310586, 0.07585818, 0, 1]'
func.func @exponentials(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = array.exp %x : tensor<5xf32>
  %1 = array.exp2 %x : tensor<5xf32>
  %2 = array.expm1 %x : tensor<5xf32>
  %3 = array.logistic %x : tensor<5xf32>
  return %0, %1, %2, %3 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// RUN: array-run %s --entry=logarithms --input='[1, 0.5, 8, 0, -2]' --expect='[0, -0.6931472, 2.079442, -inf, nan]' \
// RUN:   --expect='[0.6931472, 0.4054651, 2.197225, 0, nan]' --expect='[0, -1, 3, -inf, nan]' \
// RUN:   --expect='[0, -0.30103, 0.90309, -inf, nan]'
func.func @logarithms(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = array.log %x : tensor<5xf32>
  %1 = array.log1p %x : tensor<5xf32>
  %2 = array.log2 %x : tensor<5xf32>
  %3 = array.log10 %x : tensor<5xf32>
  return %0, %1, %2, %3 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// RUN: array-run %s --entry=angles --input='[0.5, -1.25, 3, 100]' \
// RUN:   --expect='[0.4794255, -0.9489846, 0.14112, -0.5063657]' \
// RUN:   --expect='[0.8775826, 0.3153224, -0.9899925, 0.8623189]' \
// RUN:   --expect='[0.5463025, -3.00957, -0.1425465, -0.5872139]' \
// RUN:   --expect='[0.4636476, -0.8960554, 1.249046, 1.560797]'
func.func @angles(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = array.sin %x : tensor<4xf32>
  %1 = array.cos %x : tensor<4xf32>
  %2 = array.tan %x : tensor<4xf32>
  %3 = array.atan %x : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// RUN: array-run %s --entry=inverse_angles --input='[-1, -0.25, 0.75, 1.5]' \
// RUN:   --expect='[-1.570796, -0.2526802, 0.8480621, nan]' --expect='[3.141593, 1.823477, 0.7227343, nan]' \
// RUN:   --expect='[-inf, -0.2554128, 0.972955, nan]'
func.func @inverse_angles(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = array.asin %x : tensor<4xf32>
  %1 = array.acos %x : tensor<4xf32>
  %2 = array.atanh %x : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// RUN: array-run %s --entry=hyperbolic --input='[0.5, -1.5, 2, 1]' \
// RUN:   --expect='[0.5210953, -2.129279, 3.62686, 1.175201]' --expect='[1.127626, 2.35241, 3.762196, 1.543081]' \
// RUN:   --expect='[0.4621172, -0.9051483, 0.9640276, 0.7615942]' \
// RUN:   --expect='[0.4812118, -1.194763, 1.443635, 0.8813736]' --expect='[nan, nan, 1.316958, 0]'
func.func @hyperbolic(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = array.sinh %x : tensor<4xf32>
  %1 = array.cosh %x : tensor<4xf32>
  %2 = array.tanh %x : tensor<4xf32>
  %3 = array.asinh %x : tensor<4xf32>
  %4 = array.acosh %x : tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// RUN: array-run %s --entry=roots --input='[4, 0.25, 27, 0, -8]' --expect='[2, 0.5, 5.196152, 0, nan]' \
// RUN:   --expect='[0.5, 2, 0.1924501, inf, nan]' --expect='[1.587401, 0.6299605, 3, 0, -2]'
func.func @roots(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = array.sqrt %x : tensor<5xf32>
  %1 = array.rsqrt %x : tensor<5xf32>
  %2 = array.cbrt %x : tensor<5xf32>
  return %0, %1, %2 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// RUN: array-run %s --entry=errors --atol=0 --input='[0, 0.5, -1, 3]' \
// RUN:   --expect='[0, 0.5204999, -0.8427008, 0.9999779]' --expect='[1, 0.4795001, 1.842701, 2.20905e-05]'
func.func @errors(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = array.erf %x : tensor<4xf32>
  %1 = array.erfc %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// RUN: array-run %s --entry=inverse_error --input='[0, 0.5, -0.9, 1]' --expect='[0, 0.4769363, -1.163087, inf]'
func.func @inverse_error(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.erf_inv %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Accurate near zero.
// RUN: array-run %s --entry=small --atol=0 --input='[1e-06, -1e-09]' --expect='[1e-06, -1e-09]' \
// RUN:   --expect='[9.999995e-07, -1e-09]' --expect='[1e-06, -1e-09]' --expect='[1e-06, -1e-09]'
func.func @small(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = array.expm1 %x : tensor<2xf32>
  %1 = array.log1p %x : tensor<2xf32>
  %2 = array.sin %x : tensor<2xf32>
  %3 = array.tanh %x : tensor<2xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// RUN: array-run %s --entry=double_exponentials --rtol=1e-11 --atol=1e-12 --input='[0.5, 2.75]' \
// RUN:   --expect='[1.6487212707, 15.6426318842]' --expect='[1.41421356237, 6.72717132203]' \
// RUN:   --expect='[0.6487212707, 14.6426318842]' --expect='[0.622459331202, 0.939913349826]' \
// RUN:   --expect='[-0.69314718056, 1.01160091168]' --expect='[0.405465108108, 1.32175583998]' \
// RUN:   --expect='[-1, 1.45943161864]' --expect='[-0.301029995664, 0.43933269383]'
func.func @double_exponentials(%x: tensor<2xf64>)
    -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>,
       tensor<2xf64>) {
  %0 = array.exp %x : tensor<2xf64>
  %1 = array.exp2 %x : tensor<2xf64>
  %2 = array.expm1 %x : tensor<2xf64>
  %3 = array.logistic %x : tensor<2xf64>
  %4 = array.log %x : tensor<2xf64>
  %5 = array.log1p %x : tensor<2xf64>
  %6 = array.log2 %x : tensor<2xf64>
  %7 = array.log10 %x : tensor<2xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7
      : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>,
        tensor<2xf64>
}

// RUN: array-run %s --entry=double_angles --rtol=1e-11 --atol=1e-12 --input='[0.5, -0.75]' \
// RUN:   --expect='[0.479425538604, -0.681638760023]' --expect='[0.87758256189, 0.731688868874]' \
// RUN:   --expect='[0.546302489844, -0.931596459944]' --expect='[0.463647609001, -0.643501108793]' \
// RUN:   --expect='[0.523598775598, -0.848062078981]' --expect='[1.0471975512, 2.41885840578]'
func.func @double_angles(%x: tensor<2xf64>)
    -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %0 = array.sin %x : tensor<2xf64>
  %1 = array.cos %x : tensor<2xf64>
  %2 = array.tan %x : tensor<2xf64>
  %3 = array.atan %x : tensor<2xf64>
  %4 = array.asin %x : tensor<2xf64>
  %5 = array.acos %x : tensor<2xf64>
  return %0, %1, %2, %3, %4, %5
      : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}

// RUN: array-run %s --entry=double_hyperbolic --rtol=1e-11 --atol=1e-12 --input='[0.5, -0.75]' \
// RUN:   --expect='[0.521095305494, -0.822316731936]' --expect='[1.12762596521, 1.29468328468]' \
// RUN:   --expect='[0.46211715726, -0.635148952387]' --expect='[0.48121182506, -0.69314718056]' \
// RUN:   --expect='[0.549306144334, -0.972955074528]' --expect='[0.520499877813, -0.711155633654]' \
// RUN:   --expect='[0.479500122187, 1.71115563365]' --expect='[0.476936276204, -0.813419847598]' \
// RUN:   --expect='[0.793700525984, -0.908560296416]'
func.func @double_hyperbolic(%x: tensor<2xf64>)
    -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>,
       tensor<2xf64>, tensor<2xf64>) {
  %0 = array.sinh %x : tensor<2xf64>
  %1 = array.cosh %x : tensor<2xf64>
  %2 = array.tanh %x : tensor<2xf64>
  %3 = array.asinh %x : tensor<2xf64>
  %4 = array.atanh %x : tensor<2xf64>
  %5 = array.erf %x : tensor<2xf64>
  %6 = array.erfc %x : tensor<2xf64>
  %7 = array.erf_inv %x : tensor<2xf64>
  %8 = array.cbrt %x : tensor<2xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8
      : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>,
        tensor<2xf64>, tensor<2xf64>
}

// RUN: array-run %s --entry=double_roots --rtol=1e-11 --atol=1e-12 --input='[2, 1.5]' \
// RUN:   --expect='[1.41421356237, 1.22474487139]' --expect='[0.707106781187, 0.816496580928]' \
// RUN:   --expect='[1.31695789692, 0.962423650119]'
func.func @double_roots(%x: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %0 = array.sqrt %x : tensor<2xf64>
  %1 = array.rsqrt %x : tensor<2xf64>
  %2 = array.acosh %x : tensor<2xf64>
  return %0, %1, %2 : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}
