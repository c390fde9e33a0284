#include "cordon/tenant.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"

namespace cordon {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool may_be_in_a_name(char c) {
  constexpr std::string_view kOthers = "._-@:";
  return is_letter_or_digit(c) || kOthers.find(c) != std::string_view::npos;
}

}  // namespace

Result<Tenant> Tenant::named(std::string name) {
  const bool right = !name.empty() && name.size() <= kLongestTenant &&
                     is_letter_or_digit(name.front()) &&
                     std::ranges::all_of(name, may_be_in_a_name);
  if (right) return Tenant(std::move(name));
  return base::fail(ErrorCode::invalid_argument, "tenant",
                    "\"" + base::printable(name.substr(0, kLongestTenant)) +
                        "\" names no tenant: take 1 to " + std::to_string(kLongestTenant) +
                        " letters, digits and . _ - @ : with a letter or a digit first");
}

}  // namespace cordon
