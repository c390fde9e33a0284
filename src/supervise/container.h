// What a backend of long-lived sandboxes provides. Which operation is legal when, names, records
// and clients are the business of src/sandbox, done once for all of them.
//
// An Engine makes Containers. A Container is what one create() or restore() brought to life: a main
// program and the programs executed beside it, all behind the same isolation. Destroyed, it ends
// everything inside and leaves nothing behind. Both are thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cordon/error.h"
#include "cordon/manager.h"
#include "cordon/process.h"
#include "cordon/request.h"

namespace cordon::supervise {

struct ContainerSpec {
  std::string sandbox_id;    // its user's name for it
  std::string container_id;  // of this life alone
  Request request;  // the main program; its grants, network and limits bound everybody inside
  std::filesystem::path state;  // a private directory for what the engine keeps; exists, is empty
};

struct CheckpointAsk {
  std::filesystem::path image;  // a directory that does not exist yet, or is empty
  bool leave_running = false;
  std::function<void(std::uint64_t written_bytes)> progress{};  // called now and then; may be empty
};

class Container {
 public:
  virtual ~Container() = default;

  // Started. Its end is the end of the container: everything else inside ends with it.
  [[nodiscard]] virtual std::shared_ptr<Process> main() = 0;
  // Makes processes inside, as restricted as the main one. A request may ask for less than the
  // container has, never for more (Error: not_permitted, naming the field). Errors of create() and
  // start() say so when the container has ended.
  [[nodiscard]] virtual Manager& inside() = 0;
  // The image is complete, or there is none and the container goes on. Errors: unsupported (the
  // engine cannot), invalid_argument (the directory is not empty), those of the disk.
  [[nodiscard]] virtual Result<void> checkpoint(const CheckpointAsk& ask) = 0;
  // Why it can be used no more although nobody stopped it and its main program has not ended;
  // empty: it can.
  [[nodiscard]] virtual std::string broken() const = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "gvisor", "linux", "memory"
  // Why containers of this engine cannot be checkpointed; empty: they can.
  [[nodiscard]] virtual std::string no_checkpoint() const = 0;
  // Error: what keeps the main program from starting, in the words of whoever refused.
  [[nodiscard]] virtual Result<std::unique_ptr<Container>> create(ContainerSpec spec) = 0;
  // From an image that a container of this engine wrote, for the same sandbox_id and request.
  // Errors: unsupported, invalid_argument (not such an image, damaged, or of another kind of host).
  [[nodiscard]] virtual Result<std::unique_ptr<Container>> restore(
      ContainerSpec spec, const std::filesystem::path& image) = 0;
};

}  // namespace cordon::supervise
