#include "sandbox/engines.h"

#include <array>
#include <string>

#include "backend/gvisor/gvisor_engine.h"
#include "backend/linux/linux_engine.h"
#include "base/errors.h"
#include "base/printable.h"
#include "base/suggest.h"

namespace cordon::sandbox {
namespace {

using Made = Result<std::unique_ptr<supervise::Engine>>;

Made linux_engine() { return linux_backend::make_engine(); }
Made gvisor_engine() { return gvisor_backend::gvisor_engine(); }

struct Entry {
  std::string_view name;
  Made (*make)();
};
constexpr std::array<Entry, 2> kEngines = {
    {{.name = "linux", .make = linux_engine}, {.name = "gvisor", .make = gvisor_engine}}};
constexpr std::array<std::string_view, 2> kNames = {kEngines[0].name, kEngines[1].name};

}  // namespace

Made make_engine(std::string_view name) {
  for (const Entry& entry : kEngines) {
    if (entry.name == name) return entry.make();
  }
  std::string message = "there is no backend " + base::printable(name) + " of sandboxes: use";
  for (const std::string_view known : kNames) {
    message += known == kNames.front() ? " " : " or ";
    message += known;
  }
  if (const auto near = base::nearest(name, kNames); !near.empty()) {
    message += "; did you mean " + std::string(near) + "?";
  }
  return base::fail(ErrorCode::invalid_argument, "backend", std::move(message));
}

}  // namespace cordon::sandbox
