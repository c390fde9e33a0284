#include "backend/memory/start_error.h"

#include <cerrno>
#include <string>

#include "base/errors.h"

namespace cordon::memory {
namespace {

// As the OS backends judge a failed exec.
ErrorCode code_of_exec(int os_error) {
  switch (os_error) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::not_found;
    case ENOMEM:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
      return ErrorCode::resource_exhausted;
    default:
      return ErrorCode::not_executable;
  }
}

}  // namespace

Error exec_error(int os_error) { return {code_of_exec(os_error), "exec", os_error, ""}; }

Error name_program(Error error, std::string_view program) {
  if (!error.message.empty()) return error;
  const std::string name(program);
  switch (error.code) {
    case ErrorCode::not_found:
      error.message =
          "program " + name + " was not found: check its name, or add it to this memory::Manager";
      break;
    case ErrorCode::resource_exhausted:
      error.message =
          "executing " + name + ": " + base::errno_text(error.os_error) + "; try again later";
      break;
    default:
      error.message = "program " + name + " cannot be run: " + base::errno_text(error.os_error);
      break;
  }
  return error;
}

}  // namespace cordon::memory
