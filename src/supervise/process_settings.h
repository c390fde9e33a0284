// What processes of every kind, real and scripted, answer alike: settings before the start, and
// operations that come at the wrong time.
#pragma once

#include <expected>
#include <string_view>
#include <utility>

#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::supervise {

// For what has to be done before start(). The error is wrong_state and names `operation`.
[[nodiscard]] std::unexpected<Error> already_started(const Request& request,
                                                     std::string_view operation);
// For what needs a running program.
[[nodiscard]] std::unexpected<Error> not_running(const Request& request, bool ended,
                                                 std::string_view operation);

// Sets a field of the request, or leaves it as it was if no backend could run the request then.
template <typename Field>
[[nodiscard]] Result<void> set_field(Request& request, Field Request::* field, Field value) {
  Field before = std::exchange(request.*field, std::move(value));
  if (auto ok = validate(request); !ok) {
    request.*field = std::move(before);
    return ok;
  }
  return {};
}

}  // namespace cordon::supervise
