// The library routine of the special functions: values in closed form or with 17 digits, the edges of every function's
// domain, and arguments that must give neither an exception nor an endless loop.
#include "Check.h"
#include "Operands.h"
#include "runtime/HostLibrary.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace test;

#define CODE(name, code, inputs) name = code,
enum class Code : int64_t { PCRT_SPECIAL_FUNCTIONS(CODE) };
#undef CODE

struct Function {
  Code code;
  size_t inputs;
  const char *name;
};
#define FUNCTION(name, code, inputs) {Code::name, inputs, #name},
static const Function functions[] = {PCRT_SPECIAL_FUNCTIONS(FUNCTION)};
#undef FUNCTION

static constexpr double eulerGamma = 0.5772156649015329;

/// A function of vectors of arguments, element by element.
template <typename T> static std::vector<T> evaluate(Code code, const std::vector<std::vector<T>> &arguments) {
  Dims dims = {static_cast<int64_t>(arguments[0].size())};
  std::vector<Operand<T>> operands;
  for (const std::vector<T> &argument : arguments)
    operands.emplace_back(dims, argument);
  Operand<T> result(dims);
  std::vector<PcrtTensor> inputs(operands.begin(), operands.end());
  CHECK(call(pcrt::libraryTable().special, inputs, {result}, {static_cast<int64_t>(code)}) == PCRT_OK);
  return result.values;
}

static double at(Code code, const std::vector<double> &arguments) {
  std::vector<std::vector<double>> vectors;
  for (double argument : arguments)
    vectors.push_back({argument});
  return evaluate(code, vectors)[0];
}

struct Case {
  Code code;
  std::vector<double> arguments;
  double value;
};

static const Case cases[] = {
    {Code::lgamma, {5}, std::log(24.0)},
    {Code::lgamma, {-0.5}, std::log(2 * std::sqrt(M_PI))},
    {Code::digamma, {1}, -eulerGamma},
    {Code::digamma, {2.5}, 0.7031566406452432},
    {Code::gamma, {5}, 24},
    {Code::gamma, {0.5}, std::sqrt(M_PI)},
    {Code::polygamma, {1, 1}, M_PI * M_PI / 6},
    {Code::polygamma, {2, 1.5}, -0.8287966442343201},
    {Code::zeta, {2, 1}, M_PI * M_PI / 6},
    {Code::zeta, {3, 1.5}, 0.41439832211716005},
    {Code::zeta_grad_x, {3, 1.5}, -0.2664423182974845},
    {Code::igamma, {1, 2}, -std::expm1(-2.0)},
    {Code::igamma, {2.5, 1.5}, 0.3000141641213724},
    {Code::igammac, {1, 2}, std::exp(-2.0)},
    {Code::igamma_grad_a, {2.5, 1.5}, -0.25217540042362785},
    {Code::random_gamma_grad, {2.5, 1.5}, 0.8177936859539098},
    {Code::betainc, {1, 3, 0.5}, 0.875},
    {Code::betainc, {1.5, 2.5, 0.25}, 0.3333333333333335},
    {Code::betaln, {1, 4}, -std::log(4.0)},
    {Code::betaln, {1.5, 2.5}, -1.6278588363903812},
    {Code::bessel_i0e, {2.5}, 0.27004644161220276},
    {Code::bessel_i1e, {-2.5}, -0.20658464953126654},
    {Code::bessel_j, {3, 2.5}, 0.21660039103911358},
    {Code::exp1, {1.5}, 0.10001958240663265},
    {Code::expi, {1.5}, 3.301285449129798},
    {Code::expn, {3, 1.5}, 0.056739490170354324},
    {Code::expn, {0, 2}, std::exp(-2.0) / 2},
    {Code::erfcx, {1.5}, 0.3215854164543176},
    {Code::dawsn, {1.5}, 0.42824907108539867},
    {Code::log_ndtr, {0}, -std::log(2.0)},
    {Code::log_ndtr, {-1.5}, -2.7059444008238898},
    {Code::ndtri, {0.25}, -0.6744897501960817},
    {Code::wofz_real, {1.5, 0.5}, 0.19663603224358198},
    {Code::wofz_imag, {1.5, 0.5}, 0.3377203183468881},
    {Code::fresnel_sin, {1.75}, 0.49938467459067454},
    {Code::fresnel_cos, {-1.75}, -0.32193504614953783},
    {Code::sin_integral, {2.5}, 1.7785201734438267},
    {Code::cos_integral, {2.5}, 0.2858711963653835},
    {Code::spence, {0}, M_PI * M_PI / 6},
    {Code::spence, {2}, -M_PI * M_PI / 12},
    {Code::spence, {2.5}, -1.1473806603755703},
    {Code::owens_t, {0, 1}, 0.125},
    {Code::owens_t, {0.5, 1.5}, 0.12958398461826812},
    {Code::sph_legendre, {0, 0, 1}, 0.5 / std::sqrt(M_PI)},
    {Code::sph_legendre, {3, 2, 0.5}, 0.20614605996878715},
    {Code::hyp1f1, {1.5, 1.5, 2}, std::exp(2.0)},
    {Code::hyp1f1, {1.5, 2.5, 0.75}, 1.5980796310683973},
    {Code::hyp1f1_grad_a, {1.5, 2.5, 0.75}, 0.46683584660506331},
    {Code::hyp1f1_grad_b, {1.5, 2.5, 0.75}, -0.28849432773817848},
    {Code::hyp2f1, {1, 1, 2, 0.5}, 2 * std::log(2.0)},
    {Code::hyp2f1, {0.5, 1.5, 2.5, 0.25}, 1.087032884472954},
    {Code::hyp2f1_grad_a, {0.5, 1.5, 2.5, 0.25}, 0.18300449667054985},
    {Code::hyp2f1_grad_c, {0.5, 1.5, 2.5, 0.25}, -0.0387714542224660446},
};

static void values() {
  for (const Function &function : functions) {
    bool isCovered = false;
    for (const Case &known : cases)
      if (known.code == function.code) {
        isCovered = true;
        double value = at(known.code, known.arguments), error = std::fabs(value - known.value);
        // The derivatives of the hypergeometric functions are differences.
        double tolerance = std::strstr(function.name, "hyp") && std::strstr(function.name, "_grad_") ? 2e-14 : 4e-15;
        if (!CHECK(error <= tolerance * std::fabs(known.value)))
          std::fprintf(stderr, "%s: %.17g, expected %.17g\n", function.name, value, known.value);
      }
    CHECK(isCovered);
  }
}

/// f32 is computed in f64 and rounded once.
static void singlePrecision() {
  for (const Case &known : cases) {
    std::vector<std::vector<float>> narrow;
    std::vector<double> wide;
    for (double argument : known.arguments) {
      narrow.push_back({static_cast<float>(argument)});
      wide.push_back(static_cast<float>(argument));
    }
    CHECK(evaluate(known.code, narrow)[0] == static_cast<float>(at(known.code, wide)));
  }
}

static void edges() {
  auto isNan = [](double x) { return x != x; };
  CHECK(at(Code::lgamma, {0}) == inf && at(Code::lgamma, {-3}) == inf && at(Code::lgamma, {-inf}) == inf);
  CHECK(at(Code::digamma, {0.0}) == -inf && at(Code::digamma, {-0.0}) == inf && isNan(at(Code::digamma, {-2})));
  CHECK(at(Code::zeta, {1, 2}) == inf && isNan(at(Code::zeta, {0.5, 2})) && at(Code::zeta, {inf, 1}) == 1);
  CHECK(at(Code::igamma, {0, 1}) == 1 && at(Code::igammac, {0, 1}) == 0 && isNan(at(Code::igamma, {0, 0})));
  CHECK(at(Code::betainc, {2, 3, 0}) == 0 && at(Code::betainc, {2, 3, 1}) == 1 && isNan(at(Code::betainc, {2, 3, 2})));
  CHECK(at(Code::bessel_i0e, {0}) == 1 && at(Code::bessel_i1e, {0}) == 0 && at(Code::bessel_i0e, {inf}) == 0);
  CHECK(at(Code::bessel_j, {0, 0}) == 1 && isNan(at(Code::bessel_j, {0.5, 1})) &&
        isNan(at(Code::bessel_j, {notANumber, 1})));
  CHECK(at(Code::exp1, {0}) == inf && isNan(at(Code::exp1, {-1})) && at(Code::expi, {0}) == -inf);
  CHECK(at(Code::expn, {3, 0}) == 0.5 && isNan(at(Code::expn, {1.5, 1})) && at(Code::expn, {2, inf}) == 0);
  CHECK(at(Code::erfcx, {-30}) == inf && at(Code::log_ndtr, {-inf}) == -inf && at(Code::log_ndtr, {inf}) == 0);
  CHECK(at(Code::ndtri, {0}) == -inf && at(Code::ndtri, {1}) == inf && isNan(at(Code::ndtri, {1.5})));
  CHECK(at(Code::fresnel_sin, {inf}) == 0.5 && at(Code::fresnel_cos, {-inf}) == -0.5);
  CHECK(at(Code::cos_integral, {0}) == -inf && isNan(at(Code::cos_integral, {-1})));
  CHECK(at(Code::spence, {inf}) == -inf && isNan(at(Code::spence, {-1})) && at(Code::owens_t, {inf, 1}) == 0);
  CHECK(at(Code::sph_legendre, {2, 3, 1}) == 0 && isNan(at(Code::sph_legendre, {2.5, 1, 1})));
  CHECK(at(Code::hyp1f1, {1, -2, 3}) == inf && at(Code::hyp2f1, {1, 1, -2, 0.5}) == inf);
  CHECK(at(Code::hyp1f1, {1, 2, inf}) == inf && isNan(at(Code::hyp1f1, {1, 2, -inf})));
  CHECK(at(Code::hyp2f1, {-1, 2, 4, 3}) == -0.5 && at(Code::hyp2f1, {1, 1, 3, 1}) == 2);
}

/// Arguments for which a series or a recurrence takes a number of steps proportional to the argument.
static void manySteps() {
  CHECK(at(Code::zeta, {1e9, 1}) == 1 && at(Code::zeta, {1e300, 3}) == 0 && at(Code::zeta_grad_x, {1e9, 1}) == 0);
  CHECK(at(Code::polygamma, {1e9, 1}) == -inf && at(Code::polygamma, {1e9 + 1, 1}) == inf);
  CHECK(at(Code::bessel_j, {1e9, 1}) == 0 && at(Code::bessel_j, {-1e300, 2}) == 0);
  CHECK(std::fabs(at(Code::bessel_j, {120, 60}) / 1.2343010706523016e-25 - 1) < 1e-12); // small, but not 0
  double far = at(Code::bessel_j, {2e6, 1e7});
  CHECK(far != far);
}

/// Every combination of a few extreme arguments; a nan gives a nan.
static void extremes() {
  const std::vector<double> many = {0,       -0.0,  1,      -1,      0.5, -0.5,  2,         -2.5,  5e-324,
                                    -1e-300, 1e-8,  3.7,    10,      -20, 150.5, -1000,     1.5e4, 1e9,
                                    -1e15,   1e300, -1e300, 1.7e308, inf, -inf,  notANumber};
  const std::vector<double> some = {0, 1, -1, 0.5, -2.5, 1e-300, 30.25, -70, 1e5, inf, notANumber};
  const std::vector<double> few = {-2, 0.5, 1, 25.75, 1e10, -inf, notANumber};
  for (const Function &function : functions) {
    const std::vector<double> &from = function.inputs <= 2 ? many : function.inputs == 3 ? some : few;
    size_t count = 1;
    for (size_t i = 0; i < function.inputs; ++i)
      count *= from.size();
    std::vector<std::vector<double>> arguments(function.inputs);
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0, rest = i; j < function.inputs; ++j, rest /= from.size())
        arguments[j].push_back(from[rest % from.size()]);
    std::vector<double> results = evaluate(function.code, arguments);
    CHECK(results.size() == count);
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < function.inputs; ++j)
        if (arguments[j][i] != arguments[j][i] && !CHECK(results[i] != results[i]))
          std::fprintf(stderr, "%s: %g with a nan for argument %zu\n", function.name, results[i], j);
  }
}

static void shapes() {
  Operand<double> matrix({2, 3}, {1, 2, 3, 4, 5, 6}), result({2, 3});
  auto special = pcrt::libraryTable().special;
  CHECK(call(special, {matrix}, {result}, {int64_t(Code::gamma)}) == PCRT_OK);
  CHECK((result.values == std::vector<double>{1, 1, 2, 6, 24, 120}));
  CHECK(call(special, {matrix}, {matrix}, {int64_t(Code::gamma)}) == PCRT_OK && matrix.values == result.values);
  Operand<float> scalar(Dims{}, {3}), one(Dims{}), empty({0, 3}), alsoEmpty({0, 3});
  CHECK(call(special, {scalar}, {one}, {int64_t(Code::gamma)}) == PCRT_OK && one.values[0] == 2);
  CHECK(call(special, {empty, empty}, {alsoEmpty}, {int64_t(Code::betaln)}) == PCRT_OK);
}

static void refusesNonsense() {
  Operand<double> x({3}), y({3}), other({4}), column({3, 1});
  Operand<float> narrow({3});
  auto status = [&](std::vector<PcrtTensor> inputs, std::vector<PcrtTensor> outputs, int64_t code) {
    return call(pcrt::libraryTable().special, inputs, outputs, {code});
  };
  auto gamma = int64_t(Code::gamma), zeta = int64_t(Code::zeta);
  for (int64_t code : {int64_t(-1), int64_t(std::size(functions)), int64_t(1) << 40})
    CHECK(status({x}, {y}, code) == PCRT_INVALID_ARGUMENT);
  CHECK(status({x, x}, {y}, gamma) == PCRT_INVALID_ARGUMENT && status({x}, {y}, zeta) == PCRT_INVALID_ARGUMENT);
  CHECK(status({x}, {y, y}, gamma) == PCRT_INVALID_ARGUMENT && status({x}, {}, gamma) == PCRT_INVALID_ARGUMENT);
  CHECK(status({x}, {other}, gamma) == PCRT_INVALID_ARGUMENT && status({x, other}, {y}, zeta) == PCRT_INVALID_ARGUMENT);
  CHECK(status({x}, {column}, gamma) == PCRT_INVALID_ARGUMENT);
  CHECK(status({x}, {narrow}, gamma) == PCRT_INVALID_ARGUMENT);
  for (DType dtype : {DType::Float16, DType::BFloat16, DType::Int64, DType::Complex64, DType::Key})
    CHECK(status({x.as(dtype)}, {y.as(dtype)}, gamma) == PCRT_INVALID_ARGUMENT);
  CHECK(y.values == std::vector<double>(3, 7));
}

static void manyThreads() {
  std::vector<double> expected;
  for (const Case &known : cases)
    expected.push_back(at(known.code, known.arguments));
  CHECK(holdsConcurrently([&](int thread) {
    bool holds = true;
    for (size_t i = 0; i < expected.size(); ++i) {
      size_t k = (i + 13 * static_cast<size_t>(thread)) % expected.size();
      holds &= at(cases[k].code, cases[k].arguments) == expected[k];
    }
    return holds;
  }));
}

int main() {
  RUN(values);
  RUN(singlePrecision);
  RUN(edges);
  RUN(manySteps);
  RUN(extremes);
  RUN(shapes);
  RUN(refusesNonsense);
  RUN(manyThreads);
  return test::failures() != 0;
}
