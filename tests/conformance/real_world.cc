#include <unistd.h>

#include <filesystem>
#include <utility>

#include "backend/posix/posix_backend.h"
#include "conformance/world.h"
#include "supervise/supervising_manager.h"

namespace cordon::conformance {
namespace {

// Real programs, on any backend that runs such.
class RealWorld final : public World {
 public:
  // `scratch` is a folder that its programs may write to.
  RealWorld(std::unique_ptr<Manager> manager, std::vector<Grant> grants,
            const std::filesystem::path& scratch)
      : manager_(std::move(manager)),
        grants_(std::move(grants)),
        scratch_(scratch / ("cordon-conformance-" + std::to_string(::getpid()))) {}
  ~RealWorld() override {
    std::error_code ignored;
    std::filesystem::remove(scratch_, ignored);
  }

  Manager& manager() override { return *manager_; }
  Request exits(int code) override { return behave({"exit", std::to_string(code)}); }
  Request dies(int signal) override { return behave({"die", std::to_string(signal)}); }
  Request writes(std::string out, std::string err) override {
    return behave({"write", std::move(out), std::move(err)});
  }
  Request echoes() override { return behave({"echo"}); }
  Request hangs() override { return behave({"hang"}); }
  Request ignores_term() override { return behave({"ignore-term"}); }
  Request catches_term(int code) override { return behave({"catch-term", std::to_string(code)}); }
  Request stops_itself() override { return behave({"stop"}); }
  Request closes_stdin() override { return behave({"close-stdin"}); }
  Request stubborn_tree() override { return behave({"tree"}); }
  Request leaves_child() override { return behave({"orphan"}); }
  Request floods() override { return behave({"flood"}); }
  Request writes_blob(std::uint64_t bytes) override {
    return behave({"blob", std::to_string(bytes)});
  }
  Request burns_cpu() override { return behave({"burn"}); }
  Request writes_file(std::uint64_t bytes) override {
    return behave({"file", scratch_.string(), std::to_string(bytes)});
  }
  Request allocates(std::uint64_t bytes) override {
    return behave({"alloc", std::to_string(bytes)});
  }

 private:
  [[nodiscard]] Request behave(std::vector<std::string> args) const {
    return {
        .program = CORDON_TEST_PROGRAMS_DIR "/behave", .args = std::move(args), .grants = grants_};
  }

  const std::unique_ptr<Manager> manager_;
  const std::vector<Grant> grants_;
  const std::filesystem::path scratch_;
};

}  // namespace

Result<std::unique_ptr<World>> make_posix_world(bool use_pidfd) {
  auto manager = std::make_unique<supervise::SupervisingManager>(
      std::make_unique<posix::PosixBackend>(use_pidfd));
  return std::make_unique<RealWorld>(std::move(manager), std::vector<Grant>{},
                                     std::filesystem::temp_directory_path());
}

Result<std::unique_ptr<World>> make_linux_world(Result<std::unique_ptr<Manager>> manager) {
  if (!manager) return std::unexpected(std::move(manager.error()));
  return std::make_unique<RealWorld>(std::move(*manager),
                                     std::vector{Grant::read(CORDON_TEST_PROGRAMS_DIR)},
                                     "/tmp");  // the sandbox's own
}

}  // namespace cordon::conformance
