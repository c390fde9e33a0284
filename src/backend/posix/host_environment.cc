#include "backend/posix/host_environment.h"

#include <unistd.h>

#include <string_view>

#include "request/environment.h"

namespace cordon::posix {

std::vector<std::string> environment_for(const Request& request) {
  std::vector<std::string_view> host;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    host.emplace_back(*entry);
  }
  return request::resolve_environment(request, host);
}

}  // namespace cordon::posix
