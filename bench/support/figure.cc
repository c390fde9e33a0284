#include "support/figure.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace cordon::bench {

void report(const Figure& figure) {
  const char* verdict = !figure.met ? "" : *figure.met ? "pass" : "MISS";
  fmt::print("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", figure.name, figure.goal, figure.measured,
             figure.baseline, figure.ratio ? fmt::format("{:.2f}", *figure.ratio) : "",
             figure.samples, verdict);
  std::fflush(stdout);
}

void give_up(const std::string& why) {
  fmt::print(stderr, "bench: {}\n", why);
  std::exit(1);
}

}  // namespace cordon::bench
