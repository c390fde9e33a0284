// Takes the values of a table out by name and type, and notices what nobody asked for.
//
// The first thing wrong is kept; what is read after it does not matter any more. Call finish()
// last: it reports that, or a name that is not known, with the nearest one that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "policy/node.h"

namespace cordon::policy {

using Texts = std::vector<Placed<std::string>>;

class TableReader {
 public:
  // `name` is how errors call the table: "limits", "" for the file itself.
  TableReader(const Node& table, std::string name);

  // Each: nothing if the name is not there.
  [[nodiscard]] const Node* any(std::string_view name);
  [[nodiscard]] const Node* table(std::string_view name);
  [[nodiscard]] std::optional<Placed<std::string>> text(std::string_view name);
  [[nodiscard]] std::optional<Placed<bool>> boolean(std::string_view name);
  [[nodiscard]] std::optional<Placed<std::uint64_t>> count(std::string_view name);
  // An integer, or a text such as "64M".
  [[nodiscard]] std::optional<Placed<std::uint64_t>> size(std::string_view name);
  // A text such as "5m".
  [[nodiscard]] std::optional<Placed<Duration>> duration(std::string_view name);
  // … or "none".
  [[nodiscard]] std::optional<Placed<Duration>> duration_or_none(std::string_view name);
  // A list of texts without NUL bytes.
  [[nodiscard]] std::optional<Placed<Texts>> texts(std::string_view name);

  // "FILE:LINE:COLUMN: what".
  void wrong(const Place& place, const std::string& what);
  void wrong_type(std::string_view name, const Node& value, std::string_view expected);
  void failed(Error error);
  [[nodiscard]] Result<void> finish();

 private:
  [[nodiscard]] const Node* find(std::string_view name, Node::Kind kind, std::string_view expected);
  [[nodiscard]] std::string full_name(std::string_view name) const;

  const Node& table_;
  std::string name_;
  std::vector<std::string_view> known_;
  std::optional<Error> error_;
};

}  // namespace cordon::policy
