// What a program sees of the file system and the network.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "cordon/sandbox.h"

using namespace std::chrono_literals;
namespace fs = std::filesystem;

int main() {
  std::string made = fs::temp_directory_path() / "cordon-example-XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) return 1;
  const fs::path top = fs::canonical(made);
  for (const char* name : {"in", "out", "other"}) fs::create_directory(top / name);
  std::ofstream(top / "in/data") << "text\n";
  const std::string in = top / "in";
  const std::string out = top / "out";
  const std::string script = "cp " + in + "/data " + out + "/copy; ls " + top.string();

  // [doc]
  cordon::Request config;
  config.timeout = 5s;
  config.cwd = out;
  config.grants = {cordon::Grant::read(in), cordon::Grant::write(out)};
  config.network = cordon::Network::none;  // the default; Network::host is the caller's

  auto sandbox = cordon::Sandbox::make(config);
  if (!sandbox) return 1;
  const cordon::Outcome result = sandbox->execute("sh", {"-c", script});
  // [/doc]
  std::cout << result.out << result.err;
  const bool copied = fs::exists(top / "out/copy");
  const bool blind = result.out == "in\nout\n";  // "other" is not there
  fs::remove_all(top);
  return copied && blind && result.exit_code == 0 ? 0 : 1;
}
