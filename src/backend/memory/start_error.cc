#include "backend/memory/start_error.h"

#include <cerrno>
#include <string>
#include <utility>

#include "base/errors.h"

namespace cordon::memory {
namespace {

// A file that exists but will not run is not_executable, whatever the errno means elsewhere.
ErrorCode code_of_exec(int os_error) {
  switch (os_error) {
    case EACCES:
    case ENOEXEC:
    case EISDIR:
    case ELIBBAD:
      return ErrorCode::not_executable;
    case ENOTDIR:
      return ErrorCode::not_found;
    default:
      return base::code_of_errno(os_error);
  }
}

}  // namespace

Error exec_error(int os_error) { return {code_of_exec(os_error), "exec", os_error, ""}; }

Error name_program(Error error, std::string_view program) {
  if (!error.message.empty()) return error;
  error.message = "executing " + std::string(program) + ": " + base::errno_text(error.os_error);
  if (error.code == ErrorCode::not_found) error.message += "; check the program's name";
  return error;
}

}  // namespace cordon::memory
