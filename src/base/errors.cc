#include "base/errors.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace cordon::base {

std::unexpected<Error> fail(ErrorCode code, std::string_view stage, std::string message) {
  return std::unexpected(Error{code, std::string(stage), 0, std::move(message)});
}

std::unexpected<Error> fail_os(std::string_view stage, int os_error, std::string message) {
  return std::unexpected(Error{code_of_errno(os_error), std::string(stage), os_error,
                               std::move(message) + ": " + errno_text(os_error)});
}

std::string errno_text(int os_error) { return std::generic_category().message(os_error); }

ErrorCode code_of_errno(int os_error) {
  switch (os_error) {
    case ENOENT:
      return ErrorCode::not_found;
    case EPERM:
    case EACCES:
      return ErrorCode::not_permitted;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return ErrorCode::resource_exhausted;
    case EPIPE:
      return ErrorCode::closed;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorCode::unsupported;
    default:
      return ErrorCode::system;
  }
}

}  // namespace cordon::base
