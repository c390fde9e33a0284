#include "cordon/manager.h"

#include <utility>

namespace cordon {

Result<std::shared_ptr<Process>> Manager::create(std::string program,
                                                 std::vector<std::string> args) {
  Request request;
  request.program = std::move(program);
  request.args = std::move(args);
  return create(std::move(request));
}

}  // namespace cordon
