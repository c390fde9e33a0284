#include "mcp_client.h"

#include <unistd.h>

#include "write_all.h"

namespace cordon::app {
namespace {

constexpr std::size_t kKept = std::size_t{1} << 16;

}  // namespace

void McpClient::send(std::string_view line) {
  const std::scoped_lock guard(mutex_);
  if (broken_) return;
  // One write: a client that reads between two would have to wait.
  text_.assign(line);
  text_ += '\n';
  const auto written = write_all_until(STDOUT_FILENO, text_, abandoned_.fd());
  if (text_.capacity() > kKept) std::string().swap(text_);
  if (written) return;
  broken_ = true;
  control_.cancel();  // nobody is there to hear anything
}

}  // namespace cordon::app
