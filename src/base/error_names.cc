#include "cordon/error.h"

namespace cordon {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::not_executable:
      return "not_executable";
    case ErrorCode::not_permitted:
      return "not_permitted";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::wrong_state:
      return "wrong_state";
    case ErrorCode::closed:
      return "closed";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::limit_not_applied:
      return "limit_not_applied";
    case ErrorCode::resource_exhausted:
      return "resource_exhausted";
    case ErrorCode::system:
      return "system";
  }
  return "unknown";
}

}  // namespace cordon
