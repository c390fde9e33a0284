#include "mcp/tools/argument_check.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <variant>

#include "base/paths.h"
#include "base/printable.h"
#include "mcp/json_view.h"
#include "request/environment.h"

namespace cordon::mcp {
namespace {

using policy::ArgumentCondition;
using policy::ArgumentValue;

bool is_number(std::string_view value) {
  return !value.empty() && (value.front() == '-' || (value.front() >= '0' && value.front() <= '9'));
}

// Nothing: no number, or one beyond what can be compared.
template <typename T>
std::optional<T> number(std::string_view value) {
  if (!is_number(value)) return std::nullopt;
  T result{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return result;
}

bool same(const ArgumentValue& wanted, std::string_view value) {
  if (const auto* const text = std::get_if<std::string>(&wanted)) {
    return is_string(value) && unescaped(value) == *text;
  }
  if (const auto* const truth = std::get_if<bool>(&wanted)) {
    return value == (*truth ? "true" : "false");
  }
  if (const auto* const whole = std::get_if<std::int64_t>(&wanted)) {
    return is_integer(value) ? number<std::int64_t>(value) == *whole
                             : number<double>(value) == static_cast<double>(*whole);
  }
  return number<double>(value) == std::get<double>(wanted);
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string text_of(double number) {
  std::string text(32, '\0');
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  text.resize(error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0);
  return text;
}

std::optional<std::string> text_fault(const ArgumentCondition& condition, std::string_view value) {
  const bool needed = condition.matches || condition.min_length || condition.max_length ||
                      condition.beneath.has_value();
  if (!needed) return std::nullopt;
  if (!is_string(value)) return "is not a text";
  const std::string text = unescaped(value);
  if (condition.matches && !request::glob_matches(*condition.matches, text)) {
    return "does not match " + base::printable(*condition.matches);
  }
  if (condition.min_length && characters(text) < *condition.min_length) {
    return "is shorter than " + std::to_string(*condition.min_length) + " characters";
  }
  if (condition.max_length && characters(text) > *condition.max_length) {
    return "is longer than " + std::to_string(*condition.max_length) + " characters";
  }
  if (!condition.beneath) return std::nullopt;
  const auto path = text.contains('\0') ? std::nullopt : base::normalise(text);
  if (!path) return "is not an absolute path without \"..\"";
  const bool below = std::ranges::any_of(
      *condition.beneath, [&](const std::string& top) { return base::at_or_below(*path, top); });
  if (below) return std::nullopt;
  return "is not below " + base::printable(condition.beneath->front());
}

std::optional<std::string> number_fault(const ArgumentCondition& condition,
                                        std::string_view value) {
  if (!condition.min && !condition.max) return std::nullopt;
  const auto found = number<double>(value);
  if (!found) return "is not a number that can be compared";
  if (condition.min && !(*found >= *condition.min))
    return "is less than " + text_of(*condition.min);
  if (condition.max && !(*found <= *condition.max))
    return "is more than " + text_of(*condition.max);
  return std::nullopt;
}

std::optional<std::string> value_fault(const ArgumentCondition& condition, std::string_view value) {
  if (condition.absent) return "must not be there";
  if (condition.optional && is_null(value)) return std::nullopt;
  if (condition.one_of && std::ranges::none_of(*condition.one_of, [&](const ArgumentValue& one) {
        return same(one, value);
      })) {
    return "is not among the values that are allowed";
  }
  if (auto fault = text_fault(condition, value)) return fault;
  return number_fault(condition, value);
}

using Fault = std::optional<std::string>;

class Walk {
 public:
  explicit Walk(const ArgumentCondition& condition) : condition_(condition) {}

  [[nodiscard]] std::optional<std::string> from(std::string_view value,
                                                std::span<const std::string> steps) const {
    if (steps.empty()) return value_fault(condition_, value);
    const auto rest = steps.subspan(1);
    if (is_object(value)) return in_object(value, steps.front(), rest);
    if (is_array(value)) return in_array(value, steps.front(), rest);
    // Where a container belongs there is something else: nothing that is asked for can be in it.
    if (condition_.absent) return std::nullopt;
    return condition_.optional && is_null(value) ? Fault() : Fault("is not there");
  }

 private:
  [[nodiscard]] Fault missing() const {
    if (condition_.absent || condition_.optional) return std::nullopt;
    return "is missing";
  }

  [[nodiscard]] Fault in_object(std::string_view object, const std::string& step,
                                std::span<const std::string> rest) const {
    const std::string like = policy::folded(step);
    std::optional<std::string_view> found;
    Members all(object);
    while (const auto each = all.next()) {
      if (step == "*") {
        if (auto fault = from(each->value, rest)) return fault;
      } else if (each->name == step) {
        found = each->value;
      } else if (policy::folded(each->name) == like) {
        return "is there under a name that some take for the same, " + base::printable(each->name);
      }
    }
    if (step == "*") return std::nullopt;
    return found ? from(*found, rest) : missing();
  }

  [[nodiscard]] Fault in_array(std::string_view array, const std::string& step,
                               std::span<const std::string> rest) const {
    std::size_t index = 0;
    Elements all(array);
    while (const auto each = all.next()) {
      if (step == "*" || step == std::to_string(index)) {
        if (auto fault = from(*each, rest)) return fault;
        if (step != "*") return std::nullopt;
      }
      ++index;
    }
    return step == "*" ? std::nullopt : missing();
  }

  const ArgumentCondition& condition_;
};

}  // namespace

std::optional<std::string> argument_fault(const ArgumentCondition& condition,
                                          std::string_view arguments) {
  auto fault = Walk(condition).from(arguments, condition.path);
  if (!fault) return std::nullopt;
  return "its argument " + base::printable(condition.at.value) + " " + *fault;
}

}  // namespace cordon::mcp
