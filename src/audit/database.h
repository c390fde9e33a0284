// The little of SQLite that the index needs. Every failure is an Error of stage "index".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cordon/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cordon::audit {

// A prepared statement. Values are bound by their place, from 1 on; texts must outlive the step.
class Statement {
 public:
  void bind(int place, std::int64_t value);
  void bind(int place, std::string_view text);
  // True: there is a row. False: done.
  [[nodiscard]] Result<bool> step();
  void reset();
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] std::string text(int column) const;

 private:
  friend class Database;
  Statement(sqlite3* database, sqlite3_stmt* statement);

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
};

class Database {
 public:
  // ":memory:" is one in memory. Has a function glob_matches(glob, text).
  [[nodiscard]] static Result<Database> open(const std::string& path);

  [[nodiscard]] Result<void> execute(const std::string& sql) const;
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const;

 private:
  explicit Database(sqlite3* database);

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
};

}  // namespace cordon::audit
