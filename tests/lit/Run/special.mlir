// Special functions, in double precision, against SciPy and mpmath.

// RUN: array-run %s --entry=unary0 --rtol=1e-10 --input='[0.5, 1.25, 4]' \
// RUN:   --expect='[0.572364942925, -0.0982718364218, 1.79175946923]' \
// RUN:   --expect='[-1.96351002602, -0.227453533376, 1.25611766843]' --expect='[1.77245385091, 0.906402477055, 6]' \
// RUN:   --expect='[0.645035270449, 0.409836149386, 0.207001921224]' \
// RUN:   --expect='[0.156420803185, 0.216391749334, 0.178750839502]' \
// RUN:   --expect='[0.559773594776, 0.146413372526, 0.00377935240985]' \
// RUN:   --expect='[0.454219904863, 2.58104797436, 19.6308744701]' \
// RUN:   --expect='[0.615690344193, 0.367822916452, 0.136999457625]'
func.func @unary0(%x: tensor<3xf64>)
    -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>,
       tensor<3xf64>) {
  %0 = array.lgamma %x : tensor<3xf64>
  %1 = array.digamma %x : tensor<3xf64>
  %2 = array.gamma %x : tensor<3xf64>
  %3 = array.bessel_i0e %x : tensor<3xf64>
  %4 = array.bessel_i1e %x : tensor<3xf64>
  %5 = array.exp1 %x : tensor<3xf64>
  %6 = array.expi %x : tensor<3xf64>
  %7 = array.erfcx %x : tensor<3xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7
      : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>,
        tensor<3xf64>
}

// RUN: array-run %s --entry=unary1 --rtol=1e-10 --input='[0.5, 1.25, 4]' \
// RUN:   --expect='[0.424436383502, 0.495827073964, 0.129348001236]' \
// RUN:   --expect='[-0.368946415289, -0.111657828473, -3.16717433775e-05]' \
// RUN:   --expect='[0.06473243286, 0.658655511637, 0.420515754247]' \
// RUN:   --expect='[0.492344225871, 0.680090741075, 0.498426033038]' \
// RUN:   --expect='[0.493107418043, 1.14644641567, 1.75820313895]' \
// RUN:   --expect='[-0.177784078807, 0.434300724034, -0.140981697887]' \
// RUN:   --expect='[0.582240526465, -0.235900297686, -1.93937542077]'
func.func @unary1(%x: tensor<3xf64>)
    -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
  %0 = array.dawsn %x : tensor<3xf64>
  %1 = array.log_ndtr %x : tensor<3xf64>
  %2 = array.fresnel_sin %x : tensor<3xf64>
  %3 = array.fresnel_cos %x : tensor<3xf64>
  %4 = array.sin_integral %x : tensor<3xf64>
  %5 = array.cos_integral %x : tensor<3xf64>
  %6 = array.spence %x : tensor<3xf64>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
}

// RUN: array-run %s --entry=quantiles --rtol=1e-10 --input='[0.025, 0.5, 0.9]' \
// RUN:   --expect='[-1.95996398454, 0, 1.28155156554]'
func.func @quantiles(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = array.ndtri %x : tensor<3xf64>
  return %0 : tensor<3xf64>
}

// RUN: array-run %s --entry=binary --rtol=1e-9 --input='[1.5, 3]' --input='[0.75, 2]' \
// RUN:   --expect='[3.29703413278, 0.20205690316]' --expect='[-3.54534988274, -0.198126242886]' \
// RUN:   --expect='[0.317729669664, 0.323323583817]' --expect='[0.682270330336, 0.676676416183]' \
// RUN:   --expect='[-0.355355782482, -0.231848672044]' --expect='[-0.0423730010963, -2.48490664979]' \
// RUN:   --expect='[0.0280293267609, 0.000674949015535]' --expect='[0.209534257226, 0.0927107664264]' \
// RUN:   --expect='[0.280221224147, 0.128316962228]' --expect='[0.76983660449, 0.856571422098]'
func.func @binary(%a: tensor<2xf64>, %b: tensor<2xf64>)
    -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>,
       tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %0 = array.zeta %a, %b : tensor<2xf64>
  %1 = array.zeta_grad_x %a, %b : tensor<2xf64>
  %2 = array.igamma %a, %b : tensor<2xf64>
  %3 = array.igammac %a, %b : tensor<2xf64>
  %4 = array.igamma_grad_a %a, %b : tensor<2xf64>
  %5 = array.betaln %a, %b : tensor<2xf64>
  %6 = array.owens_t %a, %b : tensor<2xf64>
  %7 = array.wofz_real %a, %b : tensor<2xf64>
  %8 = array.wofz_imag %a, %b : tensor<2xf64>
  %9 = array.random_gamma_grad %a, %b : tensor<2xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9
      : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>,
        tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}

// The first operand is integral.
// RUN: array-run %s --entry=orders --rtol=1e-10 --input='[1, 3]' --input='[0.75, 2]' \
// RUN:   --expect='[2.54187964767, 0.493939402267]' --expect='[0.349243602175, 0.128943249474]' \
// RUN:   --expect='[0.340340812911, 0.0301333797978]'
func.func @orders(%n: tensor<2xf64>, %x: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %0 = array.polygamma %n, %x : tensor<2xf64>
  %1 = array.bessel_j %n, %x : tensor<2xf64>
  %2 = array.expn %n, %x : tensor<2xf64>
  return %0, %1, %2 : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}

// RUN: array-run %s --entry=ternary --rtol=1e-9 --input='[0.5, 2]' --input='[1.5, 3]' --input='[0.25, 0.6]' \
// RUN:   --expect='[0.608997781044, 0.8208]' --expect='[1.08997420837, 1.5064026658]' \
// RUN:   --expect='[0.184537578244, 0.293206544466]' --expect='[-0.0627551669939, -0.199047164837]'
func.func @ternary(%a: tensor<2xf64>, %b: tensor<2xf64>, %c: tensor<2xf64>)
    -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %0 = array.betainc %a, %b, %c : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  %1 = array.hyp1f1 %a, %b, %c : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  %2 = array.hyp1f1_grad_a %a, %b, %c : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  %3 = array.hyp1f1_grad_b %a, %b, %c : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %0, %1, %2, %3 : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}

// RUN: array-run %s --entry=sphere --rtol=1e-10 --input='[1, 3]' --input='[0, 2]' --input='[0.5, 1]' \
// RUN:   --expect='[0.428789044142, 0.390984765696]'
func.func @sphere(%n: tensor<2xf64>, %m: tensor<2xf64>, %t: tensor<2xf64>) -> tensor<2xf64> {
  %0 = array.sph_legendre %n, %m, %t : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

// RUN: array-run %s --entry=quaternary --rtol=1e-9 --input='[0.5, 2]' --input='[1.5, 3]' --input='[2.5, 1.75]' \
// RUN:   --input='[0.3, -0.4]' --expect='[1.10806255106, 0.310786966]' --expect='[0.229881082507, -0.201134773513]' \
// RUN:   --expect='[-0.0493636658539, 0.235760337135]'
func.func @quaternary(%a: tensor<2xf64>, %b: tensor<2xf64>, %c: tensor<2xf64>, %d: tensor<2xf64>)
    -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %0 = array.hyp2f1 %a, %b, %c, %d : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  %1 = array.hyp2f1_grad_a %a, %b, %c, %d : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  %2 = array.hyp2f1_grad_c %a, %b, %c, %d : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %0, %1, %2 : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}

// RUN: array-run %s --entry=single --input='[0.5, 10]' --expect='[0.5723649, 12.80183]' \
// RUN:   --expect='[-1.96351, 2.251753]'
func.func @single(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = array.lgamma %x : tensor<2xf32>
  %1 = array.digamma %x : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
