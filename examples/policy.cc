// What a policy allows, and what it says about the rest.
#include "cordon/policy.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "expect.h"

int main() {
  std::string folder = std::filesystem::temp_directory_path() / "cordon-example-XXXXXX";
  expect(::mkdtemp(folder.data()) != nullptr);
  std::ofstream(folder + "/site.toml") << "[limits]\nmemory = \"64M\"\n";

  // [doc]
  const auto policy = cordon::Policy::load({folder + "/site.toml"});
  if (!policy) {
    std::cerr << policy.error().message << '\n';
    return 1;
  }
  cordon::Request request{.program = "true", .cwd = "/usr"};
  auto allowed = policy->apply(request, "linux");  // now with memory = 64M

  request.limits.memory_bytes = 2ULL << 30U;
  const auto refused = policy->apply(request, "linux");
  std::cout << refused.error().message << '\n';  // names --memory and site.toml:2
  // [/doc]

  std::filesystem::remove_all(folder);
  expect(allowed && allowed->request.limits.memory_bytes == 64U * 1024 * 1024);
  expect(!refused && refused.error().code == cordon::ErrorCode::not_permitted);
  return 0;
}
