// Arithmetic on sizes. See SizeValues.h.
#include "SizeValues.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array::stablehlo {

SizeValues::SizeValues(func::FuncOp entry, unsigned count)
    : entry(entry), context(entry.getContext()), facts(entry), arguments(count) {
  for (unsigned symbol = 0; symbol < symbolCount(); ++symbol) {
    meanings.push_back(symbolExpr(symbol));
    sources.push_back(symbolExpr(symbol));
  }
  Builder builder(context);
  entry->setAttr(kSymbolsAttr,
                 builder.getArrayAttr(SmallVector<Attribute>(symbolCount(), builder.getDictionaryAttr({}))));
}

Attribute SizeValues::of(AffineExpr expression) {
  return AffineMapAttr::get(AffineMap::get(/*dimCount=*/0, symbolCount() + kMostDerived, simplified(expression)));
}
Attribute SizeValues::number(int64_t value) { return of(constant(value)); }
Attribute SizeValues::symbol(unsigned number) { return of(symbolExpr(number)); }

AffineExpr SizeValues::resolved(AffineExpr expression) {
  return expression ? simplified(expression.replaceSymbols(meanings)) : expression;
}

AffineExpr SizeValues::inArguments(AffineExpr expression) { return resolved(expression).replaceSymbols(sources); }

AffineExpr SizeValues::expressionOf(Attribute value) {
  auto map = dyn_cast_or_null<AffineMapAttr>(value);
  return map ? resolved(map.getValue().getResult(0)) : AffineExpr();
}

/// `c * (x floordiv c)` as `x - x mod c`, whose bounds are closer to those of x.
static AffineExpr withRemainders(AffineExpr expression) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return expression;
  AffineExpr lhs = withRemainders(binary.getLHS()), rhs = withRemainders(binary.getRHS());
  auto division = dyn_cast<AffineBinaryOpExpr>(lhs);
  auto factor = dyn_cast<AffineConstantExpr>(rhs);
  auto divisor = division && division.getKind() == AffineExprKind::FloorDiv
                     ? dyn_cast<AffineConstantExpr>(division.getRHS())
                     : AffineConstantExpr();
  if (binary.getKind() == AffineExprKind::Mul && factor && divisor && divisor.getValue() > 0 &&
      factor.getValue() % divisor.getValue() == 0)
    return (division.getLHS() - division.getLHS() % divisor.getValue()) * (factor.getValue() / divisor.getValue());
  return getAffineBinaryOpExpr(binary.getKind(), lhs, rhs);
}

SizeFacts SizeValues::factsOf(AffineExpr expression) { return factsByCases(expression, /*depth=*/4); }

/// A maximum with 0 is one of two expressions, and no less than either; a quotient q of x by d has d q <= x < d (q +
/// 1).
SizeFacts SizeValues::factsByCases(AffineExpr expression, unsigned depth) {
  SizeFacts found = facts.factsOf(expression), other = facts.factsOf(simplified(withRemainders(expression)));
  auto raise = [&](int64_t least) { found.min = std::max(found.min, least); };
  auto lower = [&](int64_t most) { found.max = std::min(found.max, most); };
  raise(other.min);
  lower(other.max);
  for (unsigned number = 0; depth > 0 && number < derived.size(); ++number) {
    AffineExpr symbol = symbolExpr(symbolCount() + number);
    if (!expression.isFunctionOfSymbol(symbolCount() + number))
      continue;
    DerivedSymbol known = definition(number);
    if (known.isMaximum) {
      auto linear = linearIn(expression, symbolCount() + number);
      SizeFacts a = factsByCases(simplified(expression.replace(symbol, known.lhs)), depth - 1),
                b = factsByCases(simplified(expression.replace(symbol, known.rhs)), depth - 1);
      bool rises = linear && linear->first > 0, falls = linear && linear->first < 0;
      raise(rises ? std::max(a.min, b.min) : std::min(a.min, b.min));
      lower(falls ? std::min(a.max, b.max) : std::max(a.max, b.max));
      continue;
    }
    // k d q + rest, for numbers k: between k x + rest and k (x - d + 1) + rest.
    for (int64_t factor : {1, -1}) {
      AffineExpr whole = simplified(expression - known.rhs * symbol * factor);
      if (whole.isFunctionOfSymbol(symbolCount() + number))
        continue;
      SizeFacts all = factsByCases(simplified(whole + known.lhs * factor), depth - 1),
                less = factsByCases(simplified(whole + (known.lhs - known.rhs + 1) * factor), depth - 1);
      raise(factor > 0 ? less.min : all.min);
      lower(factor > 0 ? all.max : less.max);
    }
    // No more than x.
    auto linear = linearIn(expression, symbolCount() + number);
    if (linear && std::abs(linear->first) < (int64_t(1) << 31)) {
      SizeFacts all = factsByCases(simplified(expression.replace(symbol, known.lhs)), depth - 1);
      if (linear->first > 0)
        lower(all.max);
      else
        raise(all.min);
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Symbols that follow from others
//===----------------------------------------------------------------------===//

DerivedSymbol SizeValues::definition(unsigned number) {
  const DerivedSymbol &known = derived[number];
  return {known.isMaximum, resolved(known.lhs), resolved(known.rhs)};
}

bool SizeValues::hasDerived(AffineExpr expression) {
  for (unsigned number = 0; expression && number < derived.size(); ++number)
    if (expression.isFunctionOfSymbol(symbolCount() + number))
      return true;
  return false;
}

AffineExpr SizeValues::derive(bool isMaximum, AffineExpr lhs, AffineExpr rhs) {
  for (unsigned number = 0; number < derived.size(); ++number)
    if (DerivedSymbol known = definition(number); known.isMaximum == isMaximum && known.lhs == lhs && known.rhs == rhs)
      return symbolExpr(symbolCount() + number);
  if (derived.size() == kMostDerived)
    return {};
  unsigned number = symbolCount() + derived.size();
  Builder builder(context);
  auto both = AffineMapAttr::get(AffineMap::get(/*dimCount=*/0, number, {lhs, rhs}, context));
  derived.push_back({isMaximum, lhs, rhs});
  meanings.push_back(symbolExpr(number));
  sources.push_back(symbolExpr(number));
  SmallVector<Attribute> all(entry->getAttrOfType<ArrayAttr>(kSymbolsAttr).getValue());
  all.push_back(builder.getDictionaryAttr(builder.getNamedAttr(isMaximum ? kMaximumEntry : kQuotientEntry, both)));
  entry->setAttr(kSymbolsAttr, builder.getArrayAttr(all));
  return symbolExpr(number);
}

/// In terms of one maximum with 0 for each difference, so that max(a, b) + min(a, b) is a + b.
AffineExpr SizeValues::maximum(AffineExpr lhs, AffineExpr rhs) {
  AffineExpr difference = simplified(lhs - rhs), opposite = simplified(-difference), zero = constant(0);
  for (unsigned number = 0; number < derived.size(); ++number)
    if (DerivedSymbol known = definition(number); known.isMaximum && known.lhs == opposite && known.rhs == zero)
      return simplified(lhs + symbolExpr(symbolCount() + number));
  AffineExpr positive = derive(/*isMaximum=*/true, difference, zero);
  return positive ? simplified(rhs + positive) : AffineExpr();
}

AffineExpr SizeValues::exactQuotient(AffineExpr lhs, AffineExpr rhs) {
  if (lhs == rhs)
    return constant(1);
  auto binary = dyn_cast<AffineBinaryOpExpr>(lhs);
  if (!binary || (binary.getKind() != AffineExprKind::Add && binary.getKind() != AffineExprKind::Mul))
    return lhs == constant(0) ? lhs : AffineExpr();
  AffineExpr left = exactQuotient(binary.getLHS(), rhs);
  if (binary.getKind() == AffineExprKind::Add) {
    AffineExpr right = left ? exactQuotient(binary.getRHS(), rhs) : AffineExpr();
    return right ? left + right : AffineExpr();
  }
  if (left)
    return left * binary.getRHS();
  AffineExpr right = exactQuotient(binary.getRHS(), rhs);
  return right ? binary.getLHS() * right : AffineExpr();
}

AffineExpr SizeValues::quotient(AffineExpr lhs, AffineExpr rhs) {
  if (AffineExpr exact = exactQuotient(lhs, rhs))
    return simplified(exact);
  if (factsOf(simplified(rhs - lhs)).min >= 1)
    return constant(0);
  return derive(/*isMaximum=*/false, lhs, rhs);
}

bool SizeValues::isFree(unsigned symbol) {
  bool isUsed = symbol < arguments;
  for (AffineExpr meaning : ArrayRef(meanings).take_front(arguments))
    isUsed |= meaning.isFunctionOfSymbol(symbol);
  return isUsed && meanings[symbol] == symbolExpr(symbol);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

AffineExpr SizeValues::foldComparison(StringRef direction, AffineExpr lhs, AffineExpr rhs) {
  SizeFacts difference = factsOf(simplified(lhs - rhs));
  auto decided = [&](bool isTrue, bool isFalse) { return isTrue ? constant(1) : isFalse ? constant(0) : AffineExpr(); };
  bool isZero = difference.min == 0 && difference.max == 0, isNone = difference.min > 0 || difference.max < 0;
  if (direction == "EQ")
    return decided(isZero, isNone);
  if (direction == "NE")
    return decided(isNone, isZero);
  if (direction == "GE")
    return decided(difference.min >= 0, difference.max < 0);
  if (direction == "GT")
    return decided(difference.min > 0, difference.max <= 0);
  if (direction == "LE")
    return decided(difference.max <= 0, difference.min > 0);
  return direction == "LT" ? decided(difference.max < 0, difference.min >= 0) : AffineExpr();
}

AffineExpr SizeValues::fold(StringRef operation, ArrayRef<AffineExpr> given) {
  if (operation.consume_front("compare "))
    return foldComparison(operation, given[0], given[1]);
  auto value = [](AffineExpr expression) {
    auto number = dyn_cast<AffineConstantExpr>(expression);
    return number ? std::optional(number.getValue()) : std::nullopt;
  };
  std::optional<int64_t> first = value(given[0]), second = given.size() > 1 ? value(given[1]) : std::nullopt;
  if (operation == "add")
    return given[0] + given[1];
  if (operation == "subtract")
    return given[0] - given[1];
  if (operation == "multiply")
    return given[0] * given[1];
  if (operation == "negate")
    return -given[0];
  if (operation == "divide" || operation == "remainder") { // of StableHLO: rounded towards zero
    bool isQuotient = operation == "divide";
    if (first && second && *second != 0)
      return constant(isQuotient ? *first / *second : *first % *second);
    SizeFacts known = factsOf(given[0]);
    if (!second && known.min >= 0 && factsOf(given[1]).min >= 1) {
      AffineExpr found = quotient(given[0], given[1]);
      return isQuotient || !found ? found : given[0] - found * given[1];
    }
    if (!second || *second <= 0 || (known.min < 0 && known.max > 0))
      return {};
    AffineExpr quotient = known.min >= 0 ? given[0].floorDiv(*second) : -(-given[0]).floorDiv(*second);
    return isQuotient ? quotient : given[0] - quotient * *second;
  }
  if (operation == "sign") {
    SizeFacts known = factsOf(given[0]);
    return known.min > 0                      ? constant(1)
           : known.max < 0                    ? constant(-1)
           : known.min == 0 && known.max == 0 ? constant(0)
                                              : AffineExpr();
  }
  if (operation == "maximum" || operation == "minimum") {
    SizeFacts difference = factsOf(simplified(given[0] - given[1]));
    unsigned greater = difference.min >= 0 ? 0 : 1;
    if (difference.min < 0 && difference.max > 0) {
      AffineExpr larger = maximum(given[0], given[1]);
      return operation == "maximum" || !larger ? larger : given[0] + given[1] - larger;
    }
    return given[operation == "maximum" ? greater : 1 - greater];
  }
  if (first && operation == "not")
    return constant(1 - *first);
  if (first && second) {
    if (operation == "and")
      return constant(*first & *second);
    if (operation == "or")
      return constant(*first | *second);
    if (operation == "xor")
      return constant(*first ^ *second);
  }
  return {};
}

/// The operands of a term, if it is of this operation.
static ArrayRef<Attribute> operandsOf(Attribute value, StringRef operation) {
  auto term = dyn_cast<ArrayAttr>(value);
  return term && cast<StringAttr>(term[0]).getValue() == operation ? term.getValue().drop_front()
                                                                   : ArrayRef<Attribute>();
}

AffineExpr SizeValues::roundedDown(Attribute condition, AffineExpr less, AffineExpr quotient) {
  if (!less || !quotient || simplified(quotient - less) != constant(1))
    return {};
  // By a size: of x that is not negative, whose sign differs from that of the divisor only if x is 0.
  for (unsigned number = 0; number < derived.size(); ++number)
    if (quotient == symbolExpr(symbolCount() + number)) {
      DerivedSymbol known = definition(number);
      ArrayRef<Attribute> both = operandsOf(condition, "and");
      ArrayRef<Attribute> rest = both.empty() ? both : operandsOf(both[1], "compare NE");
      ArrayRef<Attribute> signs = both.empty() ? both : operandsOf(both[0], "compare NE");
      ArrayRef<Attribute> sign = signs.empty() ? signs : operandsOf(signs[0], "sign");
      bool isOfQuotient = !known.isMaximum && !rest.empty() && !sign.empty() && rest[1] == this->number(0) &&
                          signs[1] == this->number(1) && expressionOf(sign[0]) == known.lhs &&
                          expressionOf(rest[0]) == simplified(known.lhs - quotient * known.rhs);
      return isOfQuotient ? quotient : AffineExpr();
    }
  // Of x that is not negative, or of -x.
  AffineExpr positive = simplified(-quotient);
  auto division = dyn_cast<AffineBinaryOpExpr>(quotient);
  bool isNegative = !division || division.getKind() != AffineExprKind::FloorDiv;
  if (isNegative)
    division = dyn_cast<AffineBinaryOpExpr>(positive);
  auto divisor = division && division.getKind() == AffineExprKind::FloorDiv
                     ? dyn_cast<AffineConstantExpr>(division.getRHS())
                     : AffineConstantExpr();
  if (!divisor || divisor.getValue() < 1 || factsOf(division.getLHS()).min < 0)
    return {};
  AffineExpr x = isNegative ? simplified(-division.getLHS()) : division.getLHS();
  ArrayRef<Attribute> both = operandsOf(condition, "and");
  ArrayRef<Attribute> rest = operandsOf(both.empty() ? condition : both[1], "compare NE");
  if (rest.empty() || rest[1] != number(0) || expressionOf(rest[0]) != simplified(x - quotient * divisor))
    return {};
  if (!both.empty()) {
    ArrayRef<Attribute> signs = operandsOf(both[0], "compare NE");
    ArrayRef<Attribute> sign = signs.empty() ? signs : operandsOf(signs[0], "sign");
    if (sign.empty() || signs[1] != number(1) || expressionOf(sign[0]) != x)
      return {};
    if (!isNegative)
      return quotient;
  }
  return isNegative ? -(division.getLHS() + (divisor.getValue() - 1)).floorDiv(divisor.getValue()) : AffineExpr();
}

Attribute SizeValues::simplify(StringRef operation, ArrayRef<Attribute> given) {
  Attribute zero = number(0), one = number(1);
  if (operation == "and" || operation == "or") {
    Attribute absorbing = operation == "and" ? zero : one, neutral = operation == "and" ? one : zero;
    if (llvm::is_contained(given, absorbing))
      return absorbing;
    for (unsigned side : {0, 1})
      if (given[side] == neutral)
        return given[1 - side];
  }
  // Of a bool that is not known, and false.
  if ((operation == "compare NE" || operation == "xor") && given[1] == zero)
    if (auto term = dyn_cast<ArrayAttr>(given[0]))
      if (StringRef inner = cast<StringAttr>(term[0]).getValue();
          inner.starts_with("compare ") || inner == "and" || inner == "or")
        return given[0];
  if (operation != "select")
    return {};
  if (given[0] == one || given[1] == given[2])
    return given[1];
  if (given[0] == zero)
    return given[2];
  // Quotients and remainders of a division rounded down, as JAX computes them from those rounded towards zero: q - 1
  // where the signs of x and m differ and the remainder is not 0, and r + m where the remainder r has another sign than
  // m, which is positive here.
  ArrayRef<Attribute> division = operandsOf(given[2], "remainder"), condition = operandsOf(given[0], "and"),
                      sum = operandsOf(given[1], "add");
  if (AffineExpr quotient = roundedDown(given[0], expressionOf(given[1]), expressionOf(given[2])))
    return of(quotient);
  if (ArrayRef<Attribute> quotient = operandsOf(given[2], "divide"); !quotient.empty() && condition.size() == 2) {
    // Of x whose sign is not known.
    AffineExpr x = expressionOf(quotient[0]);
    auto m = dyn_cast_or_null<AffineConstantExpr>(expressionOf(quotient[1]));
    bool isLess = apply("subtract", {given[2], one}) == given[1];
    Attribute signs = apply("compare NE", {apply("sign", {quotient[0]}), one});
    Attribute rest = apply("compare NE", {apply("remainder", quotient), zero});
    if (x && m && m.getValue() > 0 && isLess && condition[0] == signs && condition[1] == rest)
      return of(x.floorDiv(m.getValue()));
  }
  if (division.empty() || condition.empty() || sum.empty() || sum[0] != given[2] || sum[1] != division[1])
    return {};
  for (StringRef direction : {"compare LT", "compare NE"})
    if (llvm::none_of(condition, [&](Attribute part) {
          ArrayRef<Attribute> sides = operandsOf(part, direction);
          return !sides.empty() && sides[0] == given[2] && sides[1] == zero;
        }))
      return {};
  AffineExpr x = expressionOf(division[0]), m = expressionOf(division[1]);
  if (!x || !m || factsOf(m).min < 1)
    return {};
  if (auto number = dyn_cast<AffineConstantExpr>(m))
    return of(x % number.getValue());
  if (factsOf(x).min >= 0 && factsOf(simplified(m - x)).min >= 1)
    return of(x);
  return factsOf(x).max < 0 && factsOf(simplified(x + m)).min >= 0 ? of(x + m) : Attribute();
}

Attribute SizeValues::apply(StringRef operation, ArrayRef<Attribute> operands) {
  SmallVector<Attribute> given;
  SmallVector<AffineExpr> expressions;
  for (Attribute operand : operands) {
    AffineExpr expression = expressionOf(operand);
    given.push_back(expression ? of(expression) : operand);
    expressions.push_back(expression);
  }
  if (!llvm::is_contained(expressions, AffineExpr()))
    if (AffineExpr folded = fold(operation, expressions))
      return of(folded);
  if (Attribute simpler = simplify(operation, given))
    return simpler;
  given.insert(given.begin(), StringAttr::get(context, operation));
  return ArrayAttr::get(context, given);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

std::optional<std::pair<int64_t, AffineExpr>> SizeValues::linearIn(AffineExpr expression, unsigned symbol) {
  auto at = [&](int64_t value) { return simplified(expression.replace(symbolExpr(symbol), constant(value))); };
  AffineExpr rest = at(0);
  auto factor = dyn_cast<AffineConstantExpr>(simplified(at(1) - rest));
  if (!factor || factor.getValue() == 0 ||
      simplified(expression - rest - symbolExpr(symbol) * factor.getValue()) != constant(0))
    return std::nullopt;
  return std::pair(factor.getValue(), rest);
}

void SizeValues::mean(unsigned symbol, AffineExpr meaning) {
  for (AffineExpr &known : meanings)
    known = simplified(known.replace(symbolExpr(symbol), meaning));
  for (auto [number, known] : llvm::enumerate(derived)) {
    Builder builder(context);
    known = definition(number);
    auto both =
        AffineMapAttr::get(AffineMap::get(/*dimCount=*/0, symbolCount() + number, {known.lhs, known.rhs}, context));
    setEntry(symbolCount() + number,
             builder.getDictionaryAttr(builder.getNamedAttr(known.isMaximum ? kMaximumEntry : kQuotientEntry, both)));
  }
}

void SizeValues::setFacts(unsigned symbol, int64_t least, int64_t most) {
  Builder builder(context);
  SizeFacts known = factsOf(symbolExpr(symbol));
  SmallVector<NamedAttribute> entries = {
      builder.getNamedAttr("min", builder.getI64IntegerAttr(std::max<int64_t>(known.min, least)))};
  most = std::min(known.max, most);
  if (most != SizeFacts().max)
    entries.push_back(builder.getNamedAttr("max", builder.getI64IntegerAttr(most)));
  setEntry(symbol, builder.getDictionaryAttr(entries));
}

void SizeValues::setEntry(unsigned symbol, DictionaryAttr facts) {
  SmallVector<Attribute> all(entry->getAttrOfType<ArrayAttr>(kSymbolsAttr).getValue());
  all[symbol] = facts;
  entry->setAttr(kSymbolsAttr, ArrayAttr::get(context, all));
}

void SizeValues::assumeAtLeast(AffineExpr lhs, AffineExpr rhs) {
  AffineExpr value = resolved(lhs), difference = simplified(value - resolved(rhs));
  auto least = dyn_cast<AffineConstantExpr>(resolved(rhs));
  // A size that is a sum, such as `n + m` or `n + 2`: JAX states that the rest, the sum without its other terms, is at
  // least 1. From then on the rest is a symbol, if this keeps the bounds of the sum.
  for (unsigned symbol = arguments; least && symbol-- > 0;) {
    auto linear = linearIn(value, symbol);
    if (!linear || linear->first != 1 || (isa<AffineConstantExpr>(linear->second) && least.getValue() != 1) ||
        linear->second == constant(0) || !isFree(symbol))
      continue;
    unsigned rest = arguments + symbol;
    setFacts(rest, least.getValue(), SizeFacts().max);
    AffineExpr sum = simplified(symbolExpr(rest) - linear->second);
    if (factsOf(sum).min < factsOf(symbolExpr(symbol)).min || factsOf(symbolExpr(symbol)).max != SizeFacts().max)
      continue;
    mean(symbol, sum);
    sources[rest] = simplified(symbolExpr(symbol) + linear->second).replaceSymbols(sources);
    return;
  }
  for (unsigned symbol = 0; symbol < symbolCount(); ++symbol) {
    auto linear = linearIn(difference, symbol);
    auto rest = linear ? dyn_cast<AffineConstantExpr>(linear->second) : AffineConstantExpr();
    if (!rest)
      continue;
    if (linear->first > 0)
      setFacts(symbol, llvm::divideCeilSigned(-rest.getValue(), linear->first), SizeFacts().max);
    else if (rest.getValue() >= 0)
      setFacts(symbol, 0, llvm::divideFloorSigned(rest.getValue(), -linear->first));
  }
}

void SizeValues::assumeEqual(AffineExpr lhs, AffineExpr rhs) {
  AffineExpr difference = simplified(resolved(lhs) - resolved(rhs));
  // A size that is a multiple: JAX states this for `2*n` and `2*n + 1`, and for the constraint `mod(n, 2) == 0`.
  SmallVector<std::pair<AffineExpr, int64_t>> divisions;
  difference.walk([&](AffineExpr part) {
    if (part.getKind() == AffineExprKind::Mod || part.getKind() == AffineExprKind::FloorDiv)
      if (auto by = dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(part).getRHS()); by && by.getValue() > 0)
        divisions.emplace_back(cast<AffineBinaryOpExpr>(part).getLHS(), by.getValue());
  });
  for (auto [whole, by] : divisions) {
    AffineExpr rest = whole - whole.floorDiv(by) * by;
    if (simplified(difference - rest) != constant(0) && simplified(difference + rest) != constant(0))
      continue;
    for (unsigned symbol = 0; symbol < arguments; ++symbol) {
      auto linear = linearIn(whole, symbol);
      auto more = linear && linear->first == 1 ? dyn_cast<AffineConstantExpr>(linear->second) : AffineConstantExpr();
      if (!more)
        continue;
      unsigned quotient = arguments + symbol;
      int64_t added = more.getValue();
      SizeFacts known = factsOf(symbolExpr(symbol));
      setFacts(quotient, llvm::divideCeilSigned(known.min + added, by),
               known.max == SizeFacts().max ? known.max : llvm::divideFloorSigned(known.max + added, by));
      mean(symbol, symbolExpr(quotient) * by - added);
      sources[quotient] = (symbolExpr(symbol) + added).floorDiv(by);
      return;
    }
  }
  // The sizes of earlier arguments determine the size of a later one.
  for (unsigned symbol = symbolCount(); symbol-- > 0;)
    if (auto linear = linearIn(difference, symbol); linear && std::abs(linear->first) == 1) {
      mean(symbol, linear->first == 1 ? simplified(-linear->second) : linear->second);
      return;
    }
}

} // namespace mlir::array::stablehlo
