#include "mcp/source/bundle_manifest.h"

#include <algorithm>
#include <array>

#include "mcp/source/json_reader.h"

namespace cordon::mcp {
namespace {

constexpr auto kVersions = std::to_array<std::string_view>({"0.1", "0.2", "0.3", "0.4"});

Setting::Kind kind_named(JsonReader& reader, const JsonAt& at) {
  const std::string type = reader.required(at, "type");
  if (type == "number") return Setting::Kind::number;
  if (type == "boolean") return Setting::Kind::boolean;
  if (type == "file") return Setting::Kind::file;
  if (type == "directory") return Setting::Kind::directory;
  if (type != "string") {
    reader.wrong(place_of(at, "type"), "is none of string, number, boolean, file and directory");
  }
  return Setting::Kind::text;
}

void read_settings(JsonReader& reader, const JsonAt& top, BundleManifest& manifest) {
  const auto all = reader.object(top, "user_config");
  if (!all) return;
  for (const auto& [name, value] : *all->object) {
    const auto at = reader.object(*all, name);
    if (!at) return;
    Setting setting{.name = std::string(name), .kind = kind_named(reader, *at)};
    setting.about = reader.text(*at, "title").value_or("");
    setting.required = reader.flag(*at, "required");
    setting.secret = reader.flag(*at, "sensitive");
    setting.multiple = reader.flag(*at, "multiple");
    setting.fallback = reader.scalars(*at, "default");
    setting.min = reader.number(*at, "min");
    setting.max = reader.number(*at, "max");
    manifest.settings.push_back(std::move(setting));
  }
}

void read_command(JsonReader& reader, const JsonAt& at, BundleManifest& manifest) {
  if (auto command = reader.text(at, "command")) manifest.command = *std::move(command);
  if (at.object->contains("args")) manifest.args = reader.texts(at, "args");
  for (auto& [name, value] : reader.text_members(at, "env")) {
    const auto known =
        std::ranges::find(manifest.env, name, &std::pair<std::string, std::string>::first);
    if (known == manifest.env.end()) {
      manifest.env.emplace_back(name, std::move(value));
    } else {
      known->second = std::move(value);
    }
  }
}

void read_server(JsonReader& reader, const JsonAt& top, BundleManifest& manifest) {
  const auto server = reader.object(top, "server");
  if (!server) return reader.wrong("server", "is missing: it says what to run");
  const std::string type = reader.required(*server, "type");
  const std::string entry = reader.text(*server, "entry_point").value_or("");
  const auto config = reader.object(*server, "mcp_config");
  if (config) {
    read_command(reader, *config, manifest);
    if (const auto others = reader.object(*config, "platform_overrides")) {
      if (const auto here = reader.object(*others, "linux")) read_command(reader, *here, manifest);
    }
  } else if (type == "uv" && !entry.empty()) {
    manifest.command = "uv";
    manifest.args = {"run", "--directory", "${__dirname}", "${__dirname}/" + entry};
  }
  if (type != "node" && type != "python" && type != "binary" && type != "uv") {
    reader.wrong("server.type", "is none of node, python, binary and uv", ErrorCode::unsupported);
  }
  if (manifest.command.empty()) {
    reader.wrong("server.mcp_config.command", "is missing: it says what to run");
  }
}

void check_for_us(JsonReader& reader, const JsonAt& top) {
  auto version = reader.text(top, "manifest_version");
  if (!version) version = reader.text(top, "dxt_version");
  if (!version) return reader.wrong("manifest_version", "is missing");
  if (std::ranges::find(kVersions, *version) == kVersions.end()) {
    reader.wrong("manifest_version", "is not known: there are 0.1, 0.2, 0.3 and 0.4",
                 ErrorCode::unsupported);
  }
  const auto compatible = reader.object(top, "compatibility");
  if (!compatible || !compatible->object->contains("platforms")) return;
  const auto platforms = reader.texts(*compatible, "platforms");
  if (std::ranges::find(platforms, "linux") == platforms.end()) {
    reader.wrong("compatibility.platforms", "does not have linux: the server is not for here",
                 ErrorCode::unsupported);
  }
}

// Fills in "${…}".
class Filler {
 public:
  Filler(const BundleManifest& manifest, const BundlePlace& place, const Given& given,
         JsonReader& reader)
      : manifest_(manifest), place_(place), given_(given), reader_(reader) {}

  void settle_all(std::string_view file) {
    std::map<std::string, std::set<std::string>> secret_by;
    for (const auto& [variable, text] : manifest_.env) {
      for (const Setting& setting : manifest_.settings) {
        if (setting.secret && text.contains(reference(setting.name))) {
          secret_by[setting.name].insert(variable);
        }
      }
    }
    std::vector<Setting> settings = manifest_.settings;
    for (Setting& setting : settings) {
      if (!setting.fallback) continue;
      for (std::string& value : *setting.fallback) value = plain(value, "user_config default");
    }
    auto settled = settle(settings, given_, file, secret_by);
    if (settled) {
      settled_ = *std::move(settled);
    } else {
      error_ = std::move(settled.error());
    }
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const Settled& settled() const { return settled_; }

  // One argument may become several, or none.
  void add_argument(std::vector<std::string>& args, const std::string& text) {
    if (const Setting* const only = whole_setting(text)) {
      if (only->secret && given_.secrets.contains(only->name)) return secret_elsewhere(*only);
      const auto values = settled_.values.find(only->name);
      if (values != settled_.values.end()) {
        args.insert(args.end(), values->second.begin(), values->second.end());
      }
      return;
    }
    args.push_back(plain(text, "args"));
  }

  void add_variable(Launch& launch, const std::string& name, const std::string& text) {
    if (given_.secrets.contains(name)) return;  // said by the user, as a whole
    if (const Setting* const only = whole_setting(text)) {
      if (only->secret && given_.secrets.contains(only->name)) {
        launch.secrets.push_back({.variable = name, .secret = only->name});
        return;
      }
      if (!settled_.values.contains(only->name)) return;
    }
    launch.env.emplace_back(name, plain(text, name));
  }

  [[nodiscard]] std::string plain(const std::string& text, std::string_view where) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = text.find("${", at);
      result += text.substr(at, std::min(begin, text.size()) - at);
      if (begin == std::string::npos) break;
      const std::size_t end = text.find('}', begin);
      if (end == std::string::npos) {
        reader_.wrong(where, "has a \"${\" without a \"}\"");
        break;
      }
      result += value_of(text.substr(begin + 2, end - begin - 2), where);
      at = end + 1;
    }
    return result;
  }

 private:
  static std::string reference(std::string_view name) {
    return "${user_config." + std::string(name) + "}";
  }

  [[nodiscard]] const Setting* whole_setting(const std::string& text) const {
    const auto found = std::ranges::find_if(manifest_.settings, [&](const Setting& setting) {
      return text == reference(setting.name);
    });
    return found == manifest_.settings.end() ? nullptr : &*found;
  }

  void secret_elsewhere(const Setting& setting) {
    reader_.wrong("user_config." + setting.name,
                  "is a secret that is wanted in an argument or within a longer text, where others "
                  "could see it: give the whole variable by --secret, if it is one",
                  ErrorCode::unsupported);
  }

  [[nodiscard]] std::string value_of(const std::string& name, std::string_view where) {
    constexpr std::string_view kSetting = "user_config.";
    if (name == "__dirname") return place_.directory;
    if (name == "/" || name == "pathSeparator") return "/";
    if (name == "HOME") return home("", where);
    if (name == "DESKTOP") return home("/Desktop", where);
    if (name == "DOCUMENTS") return home("/Documents", where);
    if (name == "DOWNLOADS") return home("/Downloads", where);
    if (!name.starts_with(kSetting)) {
      reader_.wrong(where, "has \"${" + name + "}\", which is not known", ErrorCode::unsupported);
      return {};
    }
    const std::string key = name.substr(kSetting.size());
    const auto setting = std::ranges::find(manifest_.settings, key, &Setting::name);
    if (setting == manifest_.settings.end()) {
      reader_.wrong(where, "has \"${" + name + "}\", and there is no such user_config");
      return {};
    }
    if (setting->secret && given_.secrets.contains(key)) {
      secret_elsewhere(*setting);
      return {};
    }
    const auto values = settled_.values.find(key);
    if (values == settled_.values.end() || values->second.empty()) return {};
    if (values->second.size() > 1) {
      reader_.wrong(where, "has \"${" + name + "}\" within a text, and it has several values");
    }
    return values->second.front();
  }

  [[nodiscard]] std::string home(std::string_view below, std::string_view where) {
    if (place_.home.empty()) reader_.wrong(where, "needs a home directory: set HOME");
    return place_.home + std::string(below);
  }

  const BundleManifest& manifest_;
  const BundlePlace& place_;
  const Given& given_;
  JsonReader& reader_;
  Settled settled_{};
  std::optional<Error> error_{};
};

}  // namespace

Result<BundleManifest> read_bundle_manifest(std::string_view text, std::string_view file) {
  JsonReader reader(file, "bundle");
  BundleManifest manifest;
  if (const auto top = reader.whole(text)) {
    check_for_us(reader, *top);
    manifest.name = reader.required(*top, "name");
    manifest.version = reader.required(*top, "version");
    read_server(reader, *top, manifest);
    read_settings(reader, *top, manifest);
  }
  if (auto finished = reader.finish(); !finished) {
    return std::unexpected(std::move(finished.error()));
  }
  return manifest;
}

Result<Launch> launch_bundle(const BundleManifest& manifest, const BundlePlace& place,
                             const Given& given, std::string_view file) {
  JsonReader reader(file, "bundle");
  Filler filler(manifest, place, given, reader);
  filler.settle_all(file);
  if (filler.error()) return std::unexpected(*filler.error());
  Launch launch{.name = manifest.name, .version = manifest.version};
  launch.command = filler.plain(manifest.command, "command");
  for (const std::string& text : manifest.args) filler.add_argument(launch.args, text);
  for (const auto& [name, text] : manifest.env) filler.add_variable(launch, name, text);
  for (const Setting& setting : manifest.settings) {
    const bool path =
        setting.kind == Setting::Kind::file || setting.kind == Setting::Kind::directory;
    if (!path || !filler.settled().said.contains(setting.name)) continue;
    const auto& values = filler.settled().values.at(setting.name);
    launch.paths.insert(launch.paths.end(), values.begin(), values.end());
  }
  if (auto finished = reader.finish(); !finished) {
    return std::unexpected(std::move(finished.error()));
  }
  return launch;
}

}  // namespace cordon::mcp
