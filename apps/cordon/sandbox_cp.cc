#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "base/write.h"
#include "concat.h"
#include "message.h"
#include "option_values.h"
#include "outcome/decide.h"
#include "sandbox_attend.h"
#include "sandbox_command.h"
#include "sandbox_options.h"
#include "sandbox_pack.h"
#include "sandbox_remote.h"
#include "sandbox_unpack.h"
#include "sandbox_verbs.h"
#include "verdict_line.h"
#include "write_all.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "cp";
constexpr std::size_t kMostSaid = 4096;

struct Place {
  std::string parent;
  std::string name;
};

std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return base::fail(code, kStage, std::move(message));
}

// "DIR/NAME", without what does not matter. Error: there is no name.
Result<Place> split(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::size_t slash = path.rfind('/');
  Place place{.parent = slash == std::string::npos ? "." : path.substr(0, slash + 1),
              .name = path.substr(slash == std::string::npos ? 0 : slash + 1)};
  while (place.parent.size() > 1 && place.parent.ends_with('/')) place.parent.pop_back();
  if (place.name.empty() || place.name == "." || place.name == "..") {
    return fail(ErrorCode::invalid_argument,
                concat("'", path, "' does not end in a name: give the name of what is copied"));
  }
  return place;
}

// One program inside, and what it says.
class Inside {
 public:
  Inside(std::string name, Record record) : name_(std::move(name)), record_(std::move(record)) {}

  // Gives its output to `take`, to its end. Error: it could not be run, or has failed.
  [[nodiscard]] Result<Outcome> run(std::string program, std::vector<std::string> arguments,
                                    Input in,
                                    const std::function<Result<void>(std::string_view)>& take) {
    RunOptions options;
    options.request.program = std::move(program);
    options.request.args = std::move(arguments);
    std::optional<JudgedRun> judged;
    std::optional<RecordedRun> record;
    if (auto ok = admit_inside(options, record_, {.judged = judged, .record = record}); !ok) {
      return std::unexpected(std::move(ok.error()));
    }
    auto channel = reach(name_, "cp");
    if (!channel) return std::unexpected(std::move(channel.error()));
    RemoteManager manager(*std::move(channel), record_.backend, options.request.env.size(), "");
    Request request = carried(std::move(options.request));
    request.in = std::move(in);
    auto recorded = record->in_sandbox(concat("cp ", name_));
    if (recorded) recorded = record->started();
    if (!recorded) return std::unexpected(std::move(recorded.error()));
    auto process = manager.create(std::move(request));
    if (!process) return std::unexpected(std::move(process.error()));
    if (auto started = (*process)->start(); !started) {
      return std::unexpected(std::move(started.error()));
    }
    said_.clear();
    for (const Event& event : (*process)->events()) {
      if (event.kind == Event::Kind::err && said_.size() < kMostSaid) said_ += event.data.view();
      if (event.kind != Event::Kind::out) continue;
      if (auto taken = take(event.data.view()); !taken) {
        (void)(*process)->kill();
        return std::unexpected(std::move(taken.error()));
      }
    }
    auto outcome = (*process)->wait();
    if (outcome) (void)record->ended(*outcome);
    return outcome;
  }
  // On stderr.
  [[nodiscard]] const std::string& said() const { return said_; }

 private:
  const std::string name_;
  const Record record_;
  std::string said_;
};

Result<void> succeeded(const Result<Outcome>& outcome, const Inside& inside) {
  if (!outcome && outcome.error().code == ErrorCode::not_found && outcome.error().os_error != 0) {
    return fail(ErrorCode::unsupported,
                "cp needs a 'tar' in the sandbox, and there is none: share a directory by --write "
                "or --bind instead");
  }
  if (!outcome) return std::unexpected(outcome.error());
  if (outcome->exit_code == 0) return {};
  std::string why = inside.said();
  while (why.ends_with('\n')) why.pop_back();
  if (why.empty()) why = verdict_line(*outcome);
  return fail(ErrorCode::system, concat("in the sandbox: ", why));
}

Result<std::uint64_t> copy_out(Inside& inside, const std::string& from, const std::string& to) {
  auto source = split(from);
  if (!source) return std::unexpected(std::move(source.error()));
  auto local = parse_path(to);
  if (!local) return std::unexpected(std::move(local.error()));
  struct stat found{};
  Place target;
  if (::stat(local->c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
    target = {.parent = *local, .name = source->name};
  } else {
    auto there = split(*local);
    if (!there) return std::unexpected(std::move(there.error()));
    target = *std::move(there);
  }
  base::Fd directory(::open(target.parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return base::fail_os(kStage, errno, concat("opening ", target.parent));
  Unpacker unpacker(std::move(directory), target.parent, source->name, target.name);
  const auto ran =
      inside.run("tar", {"-C", source->parent, "-cf", "-", "--", source->name}, Input::none(),
                 [&](std::string_view bytes) { return unpacker.feed(bytes); });
  if (auto ok = succeeded(ran, inside); !ok) return std::unexpected(std::move(ok.error()));
  if (auto whole = unpacker.finish(); !whole) return std::unexpected(std::move(whole.error()));
  return unpacker.skipped();
}

Result<std::uint64_t> copy_in(Inside& inside, const std::string& from, const std::string& to) {
  const auto nothing = [](std::string_view /*bytes*/) { return Result<void>(); };
  auto local = parse_path(from);
  if (!local) return std::unexpected(std::move(local.error()));
  auto source = split(*local);
  if (!source) return std::unexpected(std::move(source.error()));
  const auto looked = inside.run("test", {"-d", to}, Input::none(), nothing);
  if (!looked) return std::unexpected(looked.error());
  Place target{.parent = to, .name = source->name};
  if (looked->exit_code != 0) {
    auto there = split(to);
    if (!there) return std::unexpected(std::move(there.error()));
    target = *std::move(there);
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::fail_os(kStage, errno, "making a pipe");
  base::Fd read_end(ends[0]);
  base::Fd write_end(ends[1]);
  std::uint64_t skipped = 0;
  Result<void> packed;
  std::thread packer([&] {
    packed = pack(
        *local, target.name,
        [&](std::string_view bytes) { return write_all(write_end.get(), bytes); }, skipped);
    write_end.reset();  // an archive without an end is not taken for one
  });
  const auto ran = inside.run("tar", {"-C", target.parent, "-k", "-xf", "-"},
                              Input::from_fd(read_end.get()), nothing);
  read_end.reset();  // a packer that nobody reads from ends
  packer.join();
  if (!packed && packed.error().os_error != EPIPE) return std::unexpected(packed.error());
  if (auto ok = succeeded(ran, inside); !ok) return std::unexpected(std::move(ok.error()));
  return skipped;
}

// "NAME:PATH"; nothing: it is a path here.
std::optional<std::pair<std::string, std::string>> in_sandbox(const std::string& operand) {
  const std::size_t colon = operand.find(':');
  if (colon == std::string::npos || colon == 0 || operand.find('/') < colon) return std::nullopt;
  return std::pair(operand.substr(0, colon), operand.substr(colon + 1));
}

}  // namespace

int cp_verb(std::vector<std::string> arguments) {
  const Grammar grammar{
      .run_options = {}, .own = {"--json", "--help"}, .name = false, .operands = 2};
  const auto line = parse_line(grammar, std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  if (line->operands.size() != 2) {
    return usage_error("cp needs two places: NAME:PATH and LOCAL, in either order", kSandboxHelp);
  }
  const auto from = in_sandbox(line->operands[0]);
  const auto to = in_sandbox(line->operands[1]);
  if (from.has_value() == to.has_value()) {
    return usage_error(
        "cp needs one place in a sandbox, NAME:PATH, and one here; write ./a:b for "
        "a file here with a colon in its name",
        kSandboxHelp);
  }
  const std::string& name = from ? from->first : to->first;
  if (const auto valid = validate_sandbox_id(name); !valid) {
    return usage_error(valid.error().message, kSandboxHelp);
  }
  if ((from ? from->second : to->second).empty()) {
    return usage_error("the path in the sandbox is missing", kSandboxHelp);
  }
  auto found = look(name);
  if (!found) return failed(found.error());
  Inside inside(name, std::move(found->record));
  const auto copied = from ? copy_out(inside, from->second, line->operands[1])
                           : copy_in(inside, line->operands[0], to->second);
  if (!copied) return failed(copied.error());
  if (line->json) {
    return print(
        concat(R"({"schema":"cordon.sandbox.cp/1","skipped":)", std::to_string(*copied), "}\n"));
  }
  if (*copied > 0) {
    complain(concat(std::to_string(*copied),
                    " devices, sockets or pipes were not copied: only files, directories and "
                    "links are"));
  }
  return 0;
}

}  // namespace cordon::app::sandbox
