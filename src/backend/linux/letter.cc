#include "backend/linux/letter.h"

#include <sys/syscall.h>

#include "backend/posix/rlimits.h"

namespace cordon::linux_backend {

using spawner::Op;

int Letter::descriptors() const {
  const auto others = static_cast<int>(secrets.descriptors.size()) + (secrets.variables ? 1 : 0);
  return others == 0 ? 3 : spawner::kFirstLetterFd + others;
}

void write_letter(ScriptBuilder& script, const Letter& letter) {
  for (const int stream : letter.stdio) (void)script.send_fd(stream);
  const SecretSteps secrets(script, letter.secrets);
  script.begin(spawner::Role::program);
  for (const posix::RlimitSetting& limit : letter.limits) {
    script.about("limit:" + std::string(posix::limit_name(limit.resource)),
                 std::to_string(limit.soft));
    const std::uint64_t values[2] = {limit.soft, limit.hard};
    script.call(__NR_prlimit64, {0, limit.resource, script.object(values), 0});
  }
  if (!letter.cwd.empty()) {
    script.about("chdir", letter.cwd);
    script.call(__NR_chdir, {script.text(letter.cwd)});
  }
  const std::uint64_t argv = script.texts(letter.argv);
  const std::uint64_t envp = script.texts(letter.environment, secrets.variable_addresses());
  secrets.map_variables();
  script.about("execute");
  if (letter.pinned) {
    script.op(Op::execute_open, {spawner::kExecutableFd, argv, envp});
  } else {
    for (const std::string& path : letter.paths) {
      script.op(Op::execute, {script.text(path), argv, envp});
    }
  }
  script.op(Op::give_up);
}

}  // namespace cordon::linux_backend
