// The smallest test framework that could work, so that the examples need none.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

inline void expect(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: does not hold\n", where.file_name(), where.line());
  std::exit(EXIT_FAILURE);
}
