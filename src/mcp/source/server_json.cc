#include "mcp/source/server_json.h"

#include <algorithm>

#include "base/errors.h"
#include "base/printable.h"
#include "mcp/source/json_reader.h"

namespace cordon::mcp {
namespace {

Setting read_setting(JsonReader& reader, const JsonAt& at, std::string name) {
  Setting setting{.name = std::move(name)};
  setting.about = reader.text(at, "description").value_or("");
  setting.required = reader.flag(at, "isRequired");
  setting.secret = reader.flag(at, "isSecret");
  setting.multiple = reader.flag(at, "isRepeated");
  setting.fallback = reader.scalars(at, "default");
  setting.choices = reader.texts(at, "choices");
  const std::string format = reader.text(at, "format").value_or("string");
  if (format == "number") setting.kind = Setting::Kind::number;
  if (format == "boolean") setting.kind = Setting::Kind::boolean;
  if (format == "filepath") setting.kind = Setting::Kind::file;
  return setting;
}

void add_setting(JsonReader& reader, const JsonAt& at, Package& package, Setting setting) {
  const auto known = std::ranges::find(package.settings, setting.name, &Setting::name);
  if (known == package.settings.end()) {
    package.settings.push_back(std::move(setting));
  } else {
    reader.wrong(at.place, "has the name \"" + setting.name + "\", which another setting has, too");
  }
}

PackageInput read_input(JsonReader& reader, const JsonAt& at, Package& package, std::string name,
                        std::string setting) {
  PackageInput input{.name = std::move(name)};
  const auto value = reader.text(at, "value");
  if (!value) {
    input.setting = setting;
    add_setting(reader, at, package, read_setting(reader, at, std::move(setting)));
    return input;
  }
  input.value = *value;
  if (const auto variables = reader.object(at, "variables")) {
    for (const auto& [variable, unused] : *variables->object) {
      const auto inner = reader.object(*variables, variable);
      if (!inner) break;
      add_setting(reader, *inner, package, read_setting(reader, *inner, std::string(variable)));
    }
  }
  return input;
}

std::vector<PackageInput> read_arguments(JsonReader& reader, const JsonAt& at, Package& package,
                                         std::string_view key) {
  std::vector<PackageInput> all;
  for (const JsonAt& each : reader.objects(at, key)) {
    const std::string type = reader.required(each, "type");
    if (type == "named") {
      std::string name = reader.required(each, "name");
      std::string setting = name.substr(std::min(name.find_first_not_of('-'), name.size()));
      all.push_back(read_input(reader, each, package, std::move(name), std::move(setting)));
      continue;
    }
    if (type != "positional") {
      reader.wrong(place_of(each, "type"), "is neither named nor positional");
      break;
    }
    std::string hint = reader.text(each, "valueHint").value_or("");
    if (hint.empty()) hint = "arg" + std::to_string(all.size() + 1);
    all.push_back(read_input(reader, each, package, "", std::move(hint)));
  }
  return all;
}

void read_type(JsonReader& reader, const JsonAt& at, Package& package) {
  package.type_name = reader.required(at, "registryType");
  if (package.type_name == "npm") {
    package.type = Package::Type::npm;
  } else if (package.type_name == "pypi") {
    package.type = Package::Type::pypi;
  } else if (package.type_name == "nuget") {
    package.type = Package::Type::nuget;
  } else if (package.type_name == "mcpb") {
    package.type = Package::Type::mcpb;
  } else if (package.type_name == "oci") {
    package.type = Package::Type::oci;
  } else if (!package.type_name.empty()) {
    reader.wrong(place_of(at, "registryType"), "is none of npm, pypi, nuget, mcpb and oci",
                 ErrorCode::unsupported);
  }
}

// Both become part of one argument of a program that takes options.
void check_word(JsonReader& reader, const JsonAt& at, std::string_view key,
                const std::string& word) {
  const bool odd = std::ranges::any_of(word, [](unsigned char c) { return c <= ' ' || c == 0x7F; });
  if (odd || word.starts_with('-')) {
    reader.wrong(place_of(at, key), "begins with \"-\", or has a blank or control character in it");
  }
}

Package read_package(JsonReader& reader, const JsonAt& at) {
  Package package{.place = at.place};
  read_type(reader, at, package);
  package.identifier = reader.required(at, "identifier");
  package.version = reader.text(at, "version").value_or("");
  check_word(reader, at, "identifier", package.identifier);
  check_word(reader, at, "version", package.version);
  package.sha256 = reader.text(at, "fileSha256").value_or("");
  const bool hex = package.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!package.sha256.empty() && (!hex || package.sha256.size() != 64)) {
    reader.wrong(place_of(at, "fileSha256"), "is not 64 digits 0-9 and a-f");
  }
  package.runtime = reader.text(at, "runtimeHint").value_or("");
  if (const auto transport = reader.object(at, "transport")) {
    package.stdio = reader.required(*transport, "type") == "stdio";
  } else {
    reader.wrong(place_of(at, "transport"), "is missing");
  }
  package.runtime_arguments = read_arguments(reader, at, package, "runtimeArguments");
  package.arguments = read_arguments(reader, at, package, "packageArguments");
  for (const JsonAt& each : reader.objects(at, "environmentVariables")) {
    std::string name = reader.required(each, "name");
    std::string setting = name;
    package.variables.push_back(
        read_input(reader, each, package, std::move(name), std::move(setting)));
  }
  return package;
}

// Why it cannot be run here, or "".
std::string_view obstacle(const Package& package) {
  if (!package.stdio) return "is not talked to through stdin and stdout";
  if (package.type == Package::Type::oci) return "is an image, and those are not run by this";
  return "";
}

}  // namespace

Result<ServerJson> read_server_json(std::string_view text, std::string_view file) {
  JsonReader reader(file, "server.json");
  ServerJson server;
  if (const auto top = reader.whole(text)) {
    server.name = reader.required(*top, "name");
    server.version = reader.required(*top, "version");
    for (const JsonAt& at : reader.objects(*top, "packages")) {
      server.packages.push_back(read_package(reader, at));
    }
  }
  if (auto finished = reader.finish(); !finished) {
    return std::unexpected(std::move(finished.error()));
  }
  return server;
}

Result<Package> choose_package(const ServerJson& server, std::string_view wanted,
                               std::string_view file) {
  const auto fail = [&](ErrorCode code, const std::string& what) {
    return base::fail(code, "server.json", base::printable(file) + " " + what);
  };
  const Package* chosen = nullptr;
  std::string possible;
  std::string why;
  for (const Package& package : server.packages) {
    if (!wanted.empty() && package.type_name != wanted) continue;
    const std::string own = package.type_name + " " + base::printable(package.identifier);
    if (const std::string_view what = obstacle(package); !what.empty()) {
      why += "\n  " + own + " " + std::string(what);
      continue;
    }
    possible +=
        "\n  --package " + package.type_name + "  (" + base::printable(package.identifier) + ")";
    if (chosen == nullptr) chosen = &package;
  }
  if (std::ranges::count(possible, '\n') > 1) {
    return fail(ErrorCode::invalid_argument,
                wanted.empty() ? "has several packages; choose one by its type:" + possible
                               : "has several packages of this type:" + possible);
  }
  if (chosen != nullptr) return *chosen;
  if (!why.empty()) return fail(ErrorCode::unsupported, "has no package that can be run:" + why);
  if (server.packages.empty()) {
    return fail(ErrorCode::unsupported,
                "has no packages: the server is reached by a URL, and there is nothing to be run");
  }
  return fail(ErrorCode::not_found,
              "has no package of the type " + base::printable(wanted) + " (--package)");
}

}  // namespace cordon::mcp
