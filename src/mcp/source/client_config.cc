#include "mcp/source/client_config.h"

#include <boost/json/parse.hpp>
#include <optional>

#include "base/errors.h"
#include "base/printable.h"
#include "base/suggest.h"

namespace cordon::mcp {
namespace {

namespace json = boost::json;

constexpr std::size_t kDeepest = 32;

// What a message of this file is about.
class Reader {
 public:
  Reader(std::string_view file, std::string_view name) : file_(file), name_(name) {}

  [[nodiscard]] Result<ServerEntry> read(std::string_view text) const {
    const auto whole = parse(text);
    if (!whole) return std::unexpected(whole.error());
    const json::object& servers = *servers_of(*whole);
    const json::value* const found = servers.if_contains(name_);
    if (found == nullptr) return no_such_server(servers);
    return read_entry(*found);
  }

  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view text) const {
    const auto whole = parse(text);
    if (!whole) return std::unexpected(whole.error());
    std::vector<std::string> names;
    for (const auto& [name, entry] : *servers_of(*whole)) names.emplace_back(name);
    return names;
  }

 private:
  // A file that has servers.
  [[nodiscard]] Result<json::value> parse(std::string_view text) const {
    json::parse_options options;
    options.allow_comments = true;
    options.allow_trailing_commas = true;
    options.max_depth = kDeepest;
    json::error_code error;
    json::value whole = json::parse(text, error, {}, options);
    if (error) {
      return wrong("is not JSON, or nested too deep (" + error.message() + ")");
    }
    if (servers_of(whole) == nullptr) {
      return wrong("has neither an object \"mcpServers\" nor an object \"servers\"");
    }
    return whole;
  }

  [[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::string_view what) const {
    return base::fail(code, "client config", base::printable(file_) + " " + std::string(what));
  }
  [[nodiscard]] std::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid_argument, what);
  }
  [[nodiscard]] std::unexpected<Error> wrong_server(ErrorCode code, std::string_view what) const {
    return fail(code, "says of the server \"" + base::printable(name_) + "\" " + std::string(what));
  }

  static const json::object* servers_of(const json::value& whole) {
    const json::object* const top = whole.if_object();
    if (top == nullptr) return nullptr;
    for (const char* const key : {"mcpServers", "servers"}) {
      if (const json::value* const found = top->if_contains(key)) return found->if_object();
    }
    return nullptr;
  }

  [[nodiscard]] std::unexpected<Error> no_such_server(const json::object& servers) const {
    std::string known;
    std::vector<std::string_view> names;
    for (const auto& [name, entry] : servers) {
      known += (known.empty() ? "" : ", ") + base::printable(name);
      names.emplace_back(name);
    }
    const std::string_view near = base::nearest(name_, names);
    return fail(ErrorCode::not_found,
                "has no server \"" + base::printable(name_) + "\"; " +
                    (known.empty() ? "it has none" : "it has " + known) +
                    (near.empty() ? "" : " (did you mean " + base::printable(near) + "?)"));
  }

  [[nodiscard]] Result<ServerEntry> read_entry(const json::value& value) const {
    const json::object* const entry = value.if_object();
    if (entry == nullptr) {
      return wrong_server(ErrorCode::invalid_argument, "something that is not an object");
    }
    if (entry->contains("url") && !entry->contains("command")) {
      return wrong_server(ErrorCode::unsupported,
                          "that it is reached by a URL: there is nothing to be run here");
    }
    ServerEntry server{.name = std::string(name_)};
    auto command = text_of(*entry, "command");
    if (!command) return std::unexpected(std::move(command.error()));
    if (!*command || (*command)->empty()) {
      return wrong_server(ErrorCode::invalid_argument, "no \"command\"");
    }
    server.command = **std::move(command);
    auto cwd = text_of(*entry, "cwd");
    if (!cwd) return std::unexpected(std::move(cwd.error()));
    server.cwd = (*cwd).value_or("");
    if (auto read = read_args(*entry, server); !read) return std::unexpected(read.error());
    if (auto read = read_env(*entry, server); !read) return std::unexpected(read.error());
    return server;
  }

  [[nodiscard]] Result<void> read_args(const json::object& entry, ServerEntry& server) const {
    const json::value* const args = entry.if_contains("args");
    if (args == nullptr) return {};
    const json::array* const all = args->if_array();
    if (all == nullptr) {
      return wrong_server(ErrorCode::invalid_argument, "\"args\" that are no array");
    }
    for (const json::value& each : *all) {
      const json::string* const text = each.if_string();
      if (text == nullptr) {
        return wrong_server(ErrorCode::invalid_argument, "an argument that is no string");
      }
      auto complete = completed(*text);
      if (!complete) return std::unexpected(std::move(complete.error()));
      server.args.push_back(*std::move(complete));
    }
    return {};
  }

  [[nodiscard]] Result<void> read_env(const json::object& entry, ServerEntry& server) const {
    const json::value* const env = entry.if_contains("env");
    if (env == nullptr) return {};
    const json::object* const all = env->if_object();
    if (all == nullptr) {
      return wrong_server(ErrorCode::invalid_argument, "an \"env\" that is no object");
    }
    for (const auto& [name, value] : *all) {
      const json::string* const text = value.if_string();
      if (text == nullptr) {
        return wrong_server(ErrorCode::invalid_argument,
                            "a variable " + base::printable(name) + " that is no string");
      }
      auto complete = completed(*text);
      if (!complete) return std::unexpected(std::move(complete.error()));
      server.env.emplace_back(name, *std::move(complete));
    }
    return {};
  }

  [[nodiscard]] Result<std::optional<std::string>> text_of(const json::object& entry,
                                                           std::string_view key) const {
    const json::value* const found = entry.if_contains(key);
    if (found == nullptr) return std::nullopt;
    const json::string* const text = found->if_string();
    if (text == nullptr) {
      return wrong_server(ErrorCode::invalid_argument,
                          "a \"" + std::string(key) + "\" that is no string");
    }
    auto complete = completed(*text);
    if (!complete) return std::unexpected(std::move(complete.error()));
    return *std::move(complete);
  }

  // What the client would have to fill in must not reach the server as it stands here.
  [[nodiscard]] Result<std::string> completed(std::string_view text) const {
    if (text.find("${") == std::string_view::npos) return std::string(text);
    return wrong_server(
        ErrorCode::unsupported,
        "\"" + base::printable(text) +
            "\", in which the client fills something in: name the program and its "
            "arguments behind -- instead, with --env or --secret for its variables");
  }

  std::string_view file_;
  std::string_view name_;
};

}  // namespace

Result<ServerEntry> read_client_config(std::string_view text, std::string_view file,
                                       std::string_view name) {
  return Reader(file, name).read(text);
}

Result<std::vector<std::string>> list_client_config(std::string_view text, std::string_view file) {
  return Reader(file, "").list(text);
}

}  // namespace cordon::mcp
