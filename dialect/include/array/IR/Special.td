// Special functions: elementwise ops on floats that the runtime's routine `special` computes. Their names are those of
// the list PCRT_SPECIAL_FUNCTIONS in runtime/Abi.h; 0, the infinities and nan give SciPy's results.
#ifndef ARRAY_IR_SPECIAL_TD
#define ARRAY_IR_SPECIAL_TD

include "array/IR/Elementwise.td"

class Array_SpecialOp3<string mnemonic, string text> : Array_ElementwiseOp<mnemonic, [], Array_SameElement> {
  let summary = text;
  let description = Array_Doc<[{
    ```mlir
    %y = array.}] # mnemonic # [{ %a, %b, %c : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }], [{
    - C1: each operand is a tensor of floats.
    - C2: the operands have compatible shapes and the same element type.
  }]>.description;
  let arguments = (ins Array_FloatTensor:$a, Array_FloatTensor:$b, Array_FloatTensor:$c);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` functional-type(operands, results)";
}

class Array_SpecialOp4<string mnemonic, string text> : Array_ElementwiseOp<mnemonic, [], Array_SameElement> {
  let summary = text;
  let description = Array_Doc<[{
    ```mlir
    %y = array.}] # mnemonic # [{ %a, %b, %c, %d
           : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }], [{
    - C1: each operand is a tensor of floats.
    - C2: the operands have compatible shapes and the same element type.
  }]>.description;
  let arguments = (ins Array_FloatTensor:$a, Array_FloatTensor:$b, Array_FloatTensor:$c, Array_FloatTensor:$d);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $c `,` $d attr-dict `:` functional-type(operands, results)";
}

def Array_LgammaOp : Array_UnaryOp<"lgamma", Array_FloatTensor, "logarithm of the magnitude of the gamma function">;
def Array_DigammaOp : Array_UnaryOp<"digamma", Array_FloatTensor, "derivative of the logarithm of the gamma function">;
def Array_GammaOp : Array_UnaryOp<"gamma", Array_FloatTensor, "gamma function">;
def Array_BesselI0eOp : Array_UnaryOp<"bessel_i0e", Array_FloatTensor,
    "modified Bessel function of order 0 times exp(-|x|)">;
def Array_BesselI1eOp : Array_UnaryOp<"bessel_i1e", Array_FloatTensor,
    "modified Bessel function of order 1 times exp(-|x|)">;
def Array_Exp1Op : Array_UnaryOp<"exp1", Array_FloatTensor, "exponential integral E1">;
def Array_ExpiOp : Array_UnaryOp<"expi", Array_FloatTensor, "exponential integral Ei">;
def Array_ErfcxOp : Array_UnaryOp<"erfcx", Array_FloatTensor, "exp(x^2) erfc(x)">;
def Array_DawsnOp : Array_UnaryOp<"dawsn", Array_FloatTensor, "Dawson's integral">;
def Array_LogNdtrOp : Array_UnaryOp<"log_ndtr", Array_FloatTensor, "logarithm of the normal distribution function">;
def Array_NdtriOp : Array_UnaryOp<"ndtri", Array_FloatTensor, "inverse of the normal distribution function">;
def Array_FresnelSinOp : Array_UnaryOp<"fresnel_sin", Array_FloatTensor, "Fresnel integral of sin(pi t^2 / 2)">;
def Array_FresnelCosOp : Array_UnaryOp<"fresnel_cos", Array_FloatTensor, "Fresnel integral of cos(pi t^2 / 2)">;
def Array_SinIntegralOp : Array_UnaryOp<"sin_integral", Array_FloatTensor, "integral of sin(t) / t from 0">;
def Array_CosIntegralOp : Array_UnaryOp<"cos_integral", Array_FloatTensor,
    "Euler's constant + log(x) + integral of (cos(t) - 1) / t from 0">;
def Array_SpenceOp : Array_UnaryOp<"spence", Array_FloatTensor, "dilogarithm of one minus the operand">;

def Array_PolygammaOp : Array_BinaryOp<"polygamma", Array_FloatTensor, "derivative of order lhs of digamma, at rhs">;
def Array_ZetaOp : Array_BinaryOp<"zeta", Array_FloatTensor, "Hurwitz zeta function of exponent lhs, from rhs on">;
def Array_ZetaGradXOp : Array_BinaryOp<"zeta_grad_x", Array_FloatTensor, "derivative of zeta by its exponent">;
def Array_IgammaOp : Array_BinaryOp<"igamma", Array_FloatTensor,
    "regularized lower incomplete gamma function of shape lhs up to rhs">;
def Array_IgammacOp : Array_BinaryOp<"igammac", Array_FloatTensor,
    "regularized upper incomplete gamma function of shape lhs from rhs on">;
def Array_IgammaGradAOp : Array_BinaryOp<"igamma_grad_a", Array_FloatTensor, "derivative of igamma by its shape">;
def Array_RandomGammaGradOp : Array_BinaryOp<"random_gamma_grad", Array_FloatTensor,
    "derivative by the shape lhs of a sample rhs of the gamma distribution">;
def Array_BetalnOp : Array_BinaryOp<"betaln", Array_FloatTensor, "logarithm of the magnitude of the beta function">;
def Array_BesselJOp : Array_BinaryOp<"bessel_j", Array_FloatTensor,
    "Bessel function of the first kind of the integral order lhs, at rhs">;
def Array_ExpnOp : Array_BinaryOp<"expn", Array_FloatTensor, "exponential integral of the integral order lhs, at rhs">;
def Array_WofzRealOp : Array_BinaryOp<"wofz_real", Array_FloatTensor,
    "real part of the Faddeeva function of lhs + i rhs">;
def Array_WofzImagOp : Array_BinaryOp<"wofz_imag", Array_FloatTensor,
    "imaginary part of the Faddeeva function of lhs + i rhs">;
def Array_OwensTOp : Array_BinaryOp<"owens_t", Array_FloatTensor, "Owen's T function">;

def Array_BetaincOp : Array_SpecialOp3<"betainc", "regularized incomplete beta function of shapes a and b up to c">;
def Array_SphLegendreOp : Array_SpecialOp3<"sph_legendre",
    "associated Legendre function of degree a and order b of cos(c), normalized on the sphere">;
def Array_Hyp1f1Op : Array_SpecialOp3<"hyp1f1", "confluent hypergeometric function 1F1(a; b; c)">;
def Array_Hyp1f1GradAOp : Array_SpecialOp3<"hyp1f1_grad_a", "derivative of hyp1f1 by a">;
def Array_Hyp1f1GradBOp : Array_SpecialOp3<"hyp1f1_grad_b", "derivative of hyp1f1 by b">;
def Array_Hyp2f1Op : Array_SpecialOp4<"hyp2f1", "hypergeometric function 2F1(a, b; c; d)">;
def Array_Hyp2f1GradAOp : Array_SpecialOp4<"hyp2f1_grad_a", "derivative of hyp2f1 by a">;
def Array_Hyp2f1GradCOp : Array_SpecialOp4<"hyp2f1_grad_c", "derivative of hyp2f1 by c">;

#endif // ARRAY_IR_SPECIAL_TD
