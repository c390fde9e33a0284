#include "supervise/process_settings.h"

#include "base/errors.h"

namespace cordon::supervise {

std::unexpected<Error> already_started(const Request& request, std::string_view operation) {
  return base::fail(ErrorCode::wrong_state, operation,
                    request.program + " has been started: do this before start()");
}

std::unexpected<Error> not_running(const Request& request, bool ended, std::string_view operation) {
  return base::fail(ErrorCode::wrong_state, operation,
                    request.program + (ended ? " has ended" : " has not been started"));
}

}  // namespace cordon::supervise
