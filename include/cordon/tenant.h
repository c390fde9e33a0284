// Tenant: whose runs may use again what an earlier one of them has left.
//
// Runs are one-shot unless a request names a tenant (Request::reuse). Two tenants share nothing,
// and no tenant shares with runs that name none. docs/pool.md says what is used again, and how it
// is seen that nothing of the earlier run is in it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "cordon/error.h"

namespace cordon {

inline constexpr std::size_t kLongestTenant = 64;

class Tenant {
 public:
  // Letters, digits and . _ - @ : with a letter or a digit first; 1 to kLongestTenant of them.
  // Error: invalid_argument.
  [[nodiscard]] static Result<Tenant> named(std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  friend bool operator==(const Tenant&, const Tenant&) = default;

 private:
  explicit Tenant(std::string name) : name_(std::move(name)) {}

  std::string name_;
};

}  // namespace cordon
