// gVisor: what Cordon adds to runsc itself. A program that ends at once, and the checkpoint and
// restore of one that holds 256 MB, against runsc called by hand with the same bundle.
// BENCH_SAMPLES: launches of each (40).
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "backend/gvisor/gvisor_engine.h"
#include "backend/gvisor/runsc.h"
#include "base/fd.h"
#include "cordon/manager.h"
#include "cordon/sandbox.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/launches.h"
#include "support/samples.h"

namespace {

using namespace cordon;         // NOLINT(google-build-using-namespace)
using namespace cordon::bench;  // NOLINT(google-build-using-namespace)
namespace fs = std::filesystem;

constexpr std::size_t kSamples = 40;
constexpr std::size_t kGroup = 2;
constexpr std::size_t kCycles = 6;
constexpr double kMilli = 1e3;
constexpr double kMostForARun = 1.05;
constexpr double kMostForAnImage = 1.10;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "cordon-bench.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) give_up("cannot make " + name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

template <typename T>
T must(Result<T> result, const std::string& what) {
  if (!result) give_up(what + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// The bundle that Cordon makes for `request`, kept for others.
void take_bundle(supervise::Engine& engine, const Request& request, const Folder& folder,
                 const fs::path& bundle) {
  Request waits = request;
  waits.program = "/bin/sleep";
  waits.args = {"100"};
  const fs::path state = folder / "state";
  fs::create_directory(state);
  {
    const auto container = must(engine.create({.sandbox_id = "bench",
                                               .container_id = "bench-bundle",
                                               .request = waits,
                                               .state = state}),
                                "making a bundle");
    fs::copy(state / "bundle", bundle,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
  fs::remove_all(state);
  const fs::path config = bundle / "config.json";
  std::ifstream in(config);
  boost::json::value text = boost::json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
  text.at("process").at("args") = boost::json::array{boost::json::string(request.program)};
  std::ofstream(config) << boost::json::serialize(text);
}

// Nobody limits the processors of what is run by hand, and runsc uses all there are.
Request unhurried(const std::string& path) {
  Request request = limited_request(path);
  request.limits.cpu_millicores.reset();
  return request;
}

// runsc by hand.
class Raw {
 public:
  Raw(const gvisor_backend::Runsc& runsc, const Folder& folder)
      : path_(runsc.path), words_(runsc.command(folder / "raw", folder / "raw.log")) {
    words_.erase(words_.begin());
  }
  [[nodiscard]] BareSpawn spawn(std::vector<std::string> more) const {
    std::vector<std::string> all = words_;
    all.insert(all.end(), more.begin(), more.end());
    return BareSpawn(path_, std::move(all));
  }
  void call(std::vector<std::string> more) const {
    const std::string what = more.front();
    const BareSpawn command = spawn(std::move(more));
    if (BareSpawn::wait(command.start()) != 0) give_up("runsc " + what + " failed");
  }

 private:
  std::string path_;
  std::vector<std::string> words_;
};

void report_ratio(const std::string& name, const Samples& ours, const Samples& raw, double most) {
  report({.name = name + ", p50",
          .goal = fmt::format("≤ {:.2f} × runsc", most),
          .measured = fmt::format("{:.1f} ms", ours.p50() * kMilli),
          .baseline = fmt::format("{:.1f} ms", raw.p50() * kMilli),
          .ratio = ours.p50() / raw.p50(),
          .samples = ours.size(),
          .met = ours.p50() <= most * raw.p50()});
}

void compare_runs(Manager& manager, supervise::Engine& engine, const Raw& raw, const Folder& folder,
                  std::size_t samples) {
  const Request request = unhurried(program("exits"));
  const fs::path bundle = folder / "exits";
  take_bundle(engine, request, folder, bundle);
  const BareSpawn by_hand = raw.spawn({"run", "-bundle", bundle, "bench-exits"});
  Samples ours;
  Samples theirs;
  interleave(
      samples / kGroup, kGroup,
      [&] {
        theirs.add(seconds([&] {
          if (BareSpawn::wait(by_hand.start()) != 0) give_up("runsc run failed");
        }));
      },
      [&] { ours.add(seconds([&] { (void)launch(manager, request); })); });
  report_ratio("gvisor: launch + wait", ours, theirs, kMostForARun);
}

// A pipe that runsc writes the program's output to.
struct Pipe {
  base::Fd in;
  base::Fd out;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) give_up("no pipe");
    in = base::Fd(ends[0]);
    out = base::Fd(ends[1]);
  }
  void wait_for_a_sign() const {
    pollfd waiting{.fd = in.get(), .events = POLLIN, .revents = 0};
    std::array<char, 4096> buffer{};
    if (::poll(&waiting, 1, 60'000) != 1 || ::read(in.get(), buffer.data(), buffer.size()) <= 0) {
      give_up("runsc's program does not run");
    }
  }
};

struct Times {
  Samples checkpoint;
  Samples restore;  // until it goes on
};

void cycle_by_hand(const Raw& raw, const Folder& folder, const fs::path& bundle, Times& times) {
  const fs::path image = folder / "raw.image";
  fs::create_directory(image);
  {
    const Pipe pipe;
    BareSpawn run = raw.spawn({"run", "-bundle", bundle, "bench-holds"});
    run.set_stdio({-1, pipe.out.get(), -1});
    const pid_t pid = run.start();
    pipe.wait_for_a_sign();
    times.checkpoint.add(
        seconds([&] { raw.call({"checkpoint", "-image-path", image, "bench-holds"}); }));
    (void)BareSpawn::wait(pid);
  }
  const Pipe pipe;
  BareSpawn run =
      raw.spawn({"restore", "-bundle", bundle, "-image-path", image, "bench-holds-again"});
  run.set_stdio({-1, pipe.out.get(), -1});
  pid_t pid = -1;
  times.restore.add(seconds([&] {
    pid = run.start();
    pipe.wait_for_a_sign();
  }));
  raw.call({"kill", "bench-holds-again", "KILL"});
  (void)BareSpawn::wait(pid);
  fs::remove_all(image);
}

void wait_for_a_sign(Process& process) {
  EventStream events = process.events();
  for (const Event& event : events) {
    if (event.kind == Event::Kind::out) return;
  }
  give_up("the program in the sandbox does not run");
}

Request holding() {
  Request request = unhurried(program("holds"));
  request.limits.memory_bytes = std::uint64_t{1} << 30;
  request.out = Output::events();
  request.overflow = Overflow::drop_oldest;
  return request;
}

void cycle_ours(const Folder& folder, Times& times) {
  const fs::path image = folder / "image";
  const auto make = [&](const std::string& state) {
    return must(
        Sandbox::make(holding(), {.id = "bench", .backend = "gvisor", .state = folder / state}),
        "a sandbox");
  };
  {
    Sandbox sandbox = make("one");
    must(sandbox.create(), "create");
    wait_for_a_sign(*sandbox.main());
    times.checkpoint.add(seconds([&] { must(sandbox.checkpoint(image), "checkpoint"); }));
  }
  Sandbox sandbox = make("other");
  times.restore.add(seconds([&] {
    must(sandbox.restore(image), "restore");
    wait_for_a_sign(*sandbox.main());
  }));
  must(sandbox.remove(), "remove");
  fs::remove_all(image);
}

void compare_images(supervise::Engine& engine, const Raw& raw, const Folder& folder) {
  const fs::path bundle = folder / "holds";
  take_bundle(engine, holding(), folder, bundle);
  Times ours;
  Times theirs;
  interleave(
      kCycles, 1, [&] { cycle_by_hand(raw, folder, bundle, theirs); },
      [&] { cycle_ours(folder, ours); });
  report_ratio("gvisor: checkpoint of 256 MB", ours.checkpoint, theirs.checkpoint, kMostForAnImage);
  report_ratio("gvisor: restore of 256 MB", ours.restore, theirs.restore, kMostForAnImage);
}

}  // namespace

int main() {
  const char* const asked = std::getenv("BENCH_SAMPLES");
  const std::size_t samples = asked == nullptr ? kSamples : std::strtoul(asked, nullptr, 10);
  if (samples == 0) give_up(std::string("BENCH_SAMPLES is not a number of launches: ") + asked);
  reduce_environment();
  fs::current_path(fs::path(program("exits")).parent_path());
  const auto manager = must(gvisor_manager(), "gVisor");
  auto runsc = must(gvisor_backend::find_runsc(), "gVisor");
  runsc.pins = false;  // bundles that others can use, too
  gvisor_backend::GvisorEngine engine(runsc);
  const Folder folder;
  const Raw raw(runsc, folder);
  (void)launch(*manager, limited_request(program("exits")));
  compare_runs(*manager, engine, raw, folder, samples);
  compare_images(engine, raw, folder);
}
