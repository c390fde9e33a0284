#include <algorithm>
#include <array>

#include "base/errors.h"
#include "base/printable.h"
#include "mcp/source/server_json.h"

namespace cordon::mcp {
namespace {

struct Runtime {
  Package::Type type;
  std::string_view command;  // the first of a type is the usual one
  std::string_view yes;      // so that it does not ask; empty: it never does
  std::string_view behind;   // what separates the package from its arguments
};
constexpr auto kRuntimes = std::to_array<Runtime>({
    {Package::Type::npm, "npx", "-y", ""},
    {Package::Type::npm, "bunx", "", ""},
    {Package::Type::pypi, "uvx", "", ""},
    {Package::Type::nuget, "dnx", "--yes", "--"},
});

class Filler {
 public:
  Filler(const Package& package, const Given& given, std::string_view file)
      : package_(package), given_(given), file_(file) {}

  [[nodiscard]] Result<Launch> fill() {
    auto settled = settle(package_.settings, given_, file_);
    if (!settled) return std::unexpected(std::move(settled.error()));
    settled_ = *std::move(settled);
    Launch launch{.name = package_.identifier, .version = package_.version};
    if (auto filled = add_command(launch); !filled) {
      return std::unexpected(std::move(filled.error()));
    }
    for (const PackageInput& variable : package_.variables) {
      if (auto added = add_variable(launch, variable); !added) {
        return std::unexpected(std::move(added.error()));
      }
    }
    for (const Setting& setting : package_.settings) {
      if (setting.kind != Setting::Kind::file || !settled_.said.contains(setting.name)) continue;
      const auto& values = settled_.values.at(setting.name);
      launch.paths.insert(launch.paths.end(), values.begin(), values.end());
    }
    return launch;
  }

 private:
  [[nodiscard]] std::unexpected<Error> unsupported(std::string_view what) const {
    return base::fail(
        ErrorCode::unsupported, "server.json",
        base::printable(file_) + ": " + base::printable(package_.place) + " " + std::string(what));
  }

  [[nodiscard]] Result<void> add_command(Launch& launch) {
    std::vector<std::string> before;
    std::vector<std::string> behind;
    for (const auto& [from, to] : {std::pair{&package_.runtime_arguments, &before},
                                   std::pair{&package_.arguments, &behind}}) {
      for (const PackageInput& input : *from) {
        if (auto added = add_argument(*to, input); !added) return added;
      }
    }
    if (package_.type == Package::Type::mcpb) {  // a bundle says itself what to run
      launch.args = std::move(behind);
      return {};
    }
    const auto runtime = std::ranges::find_if(kRuntimes, [&](const Runtime& each) {
      return each.type == package_.type &&
             (package_.runtime.empty() || each.command == package_.runtime);
    });
    if (runtime == kRuntimes.end()) {
      return unsupported("wants to be run by \"" + base::printable(package_.runtime) +
                         "\", which is not known for this type: name the command behind --");
    }
    launch.command = runtime->command;
    launch.args = before;
    const std::string package =
        package_.identifier + (package_.version.empty() ? "" : "@" + package_.version);
    const bool named = std::ranges::find(before, package) != before.end();
    if (!runtime->yes.empty() && std::ranges::find(before, runtime->yes) == before.end()) {
      launch.args.insert(launch.args.begin(), std::string(runtime->yes));
    }
    if (!named) launch.args.push_back(package);
    if (!runtime->behind.empty()) launch.args.emplace_back(runtime->behind);
    launch.args.insert(launch.args.end(), behind.begin(), behind.end());
    return {};
  }

  [[nodiscard]] Result<void> add_argument(std::vector<std::string>& args,
                                          const PackageInput& input) const {
    const auto add = [&](std::string value) {
      if (!input.name.empty()) args.push_back(input.name);
      args.push_back(std::move(value));
    };
    if (input.setting.empty()) {
      auto value = replaced(input.value);
      if (!value) return std::unexpected(std::move(value.error()));
      if (value->empty() && !input.name.empty()) {
        args.push_back(input.name);
      } else {
        add(*std::move(value));
      }
      return {};
    }
    if (secret(input.setting)) return secret_argument();
    const auto values = settled_.values.find(input.setting);
    if (values == settled_.values.end()) return {};
    for (const std::string& value : values->second) add(value);
    return {};
  }

  [[nodiscard]] std::unexpected<Error> secret_argument() const {
    return unsupported(
        "wants a secret among its arguments or within a longer text, where others could see it: "
        "name the command behind --, and see how else the server takes its secret");
  }

  [[nodiscard]] Result<void> add_variable(Launch& launch, const PackageInput& input) const {
    if (given_.secrets.contains(input.name)) {
      launch.secrets.push_back({.variable = input.name, .secret = input.name});
      return {};
    }
    if (input.setting.empty()) {
      auto value = replaced(input.value);
      if (!value) return std::unexpected(std::move(value.error()));
      launch.env.emplace_back(input.name, *std::move(value));
      return {};
    }
    const auto values = settled_.values.find(input.setting);
    if (values == settled_.values.end() || values->second.empty()) return {};
    launch.env.emplace_back(input.name, values->second.front());
    return {};
  }

  [[nodiscard]] bool secret(const std::string& name) const {
    const auto found = std::ranges::find(package_.settings, name, &Setting::name);
    return found != package_.settings.end() && found->secret && given_.secrets.contains(name);
  }

  // "{name}" of a setting is its value; other braces are what they are.
  [[nodiscard]] Result<std::string> replaced(const std::string& text) const {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = text.find('{', at);
      const std::size_t end = begin == std::string::npos ? begin : text.find('}', begin);
      if (end == std::string::npos) {
        result += text.substr(at);
        break;
      }
      const std::string name = text.substr(begin + 1, end - begin - 1);
      if (secret(name)) return secret_argument();
      const bool known =
          std::ranges::find(package_.settings, name, &Setting::name) != package_.settings.end();
      result += text.substr(at, begin - at);
      const auto values = settled_.values.find(name);
      if (!known) {
        result += text.substr(begin, end + 1 - begin);
      } else if (values != settled_.values.end() && !values->second.empty()) {
        result += values->second.front();
      }
      at = end + 1;
    }
    return result;
  }

  const Package& package_;
  const Given& given_;
  std::string_view file_;
  Settled settled_{};
};

}  // namespace

Result<Launch> launch_package(const Package& package, const Given& given, std::string_view file) {
  return Filler(package, given, file).fill();
}

}  // namespace cordon::mcp
