// Everyday programs run under the filters as without them. One that is not installed is skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "backend/linux/filtered_run.h"
#include "backend/linux/seccomp.h"

namespace cordon::linux_backend {
namespace {

struct Everyday {
  const char* name;
  const char* program;  // that it needs
  const char* script;   // for sh; ends with 0 and prints "fine" last
};

void PrintTo(const Everyday& everyday, std::ostream* out) { *out << everyday.name; }

constexpr Everyday kEveryday[] = {
    {"ShellPipeline", "sort", "seq 1000 | sort -rn | head -n 1 | grep -q 1000 && echo fine"},
    {"ShellJobControl", "bash",
     "bash -c 'set -m; sleep 30 & kill -STOP %1; kill -CONT %1; kill %1; wait %1; "
     "test $? = 143' 2>&1 && echo fine"},
    {"Files", "find",
     "mkdir -p a/b && echo x > a/b/c && ln -s b a/l && cp -a a d && mv d e && chmod 1777 e && "
     "touch -d 2001-01-01 e/b/c && find e -type f | xargs ls -l && rm -r a e && echo fine"},
    {"Tar", "tar",
     "mkdir t && echo x > t/f && tar czf t.tgz t && rm -r t && tar xzf t.tgz && "
     "grep -q x t/f && echo fine"},
    {"Id", "id", "id && date && uname -a && df . && echo fine"},
    {"Perl", "perl", "perl -e 'my $x = `echo in`; print \"fine\\n\" if $x eq \"in\\n\"'"},
    {"Gcc", "gcc",
     "printf '#include <stdio.h>\\nint main(void){puts(\"fine\");}' > h.c && gcc h.c -o h && ./h"},
    {"Make", "make",
     "printf 'all: a b\\n\\t@echo fine\\na b:\\n\\t@true\\n' > Makefile && "
     "env -u MAKEFLAGS -u MAKELEVEL make -j2"},
    {"Git", "git",
     "git init -q g && cd g && echo x > f && git add f && "
     "git -c user.name=n -c user.email=e@x commit -qm m && git gc -q && git log --oneline && "
     "echo fine"},
    {"PythonThreads", "python3",
     "python3 -c 'import threading as t; l=[t.Thread(target=sum,args=([1],)) for _ in range(8)]; "
     "[x.start() for x in l]; [x.join() for x in l]; print(\"fine\")'"},
    {"PythonSubprocess", "python3",
     "python3 -c 'import subprocess as s; assert s.run([\"true\"]).returncode==0; "
     "assert s.check_output(\"echo hi\",shell=True)==b\"hi\\n\"; print(\"fine\")'"},
    {"PythonMultiprocessing", "python3",
     "python3 -c 'import multiprocessing as m; p=m.Pool(2); "
     "assert p.map(abs,[-1,-2])==[1,2]; p.close(); p.join(); print(\"fine\")'"},
    {"PythonAsyncio", "python3",
     "python3 -c 'import asyncio as a\nasync def f():\n p=await "
     "a.create_subprocess_exec(\"true\")\n"
     " assert await p.wait()==0\na.run(f())\nprint(\"fine\")'"},
    {"PythonSqlite", "python3",
     "python3 -c 'import sqlite3 as s; c=s.connect(\"d.db\"); c.execute(\"create table t(a)\"); "
     "c.execute(\"insert into t values(1)\"); c.commit(); print(\"fine\")'"},
    {"PythonTempfileSockets", "python3",
     "python3 -c 'import socket as s,tempfile as t; t.NamedTemporaryFile().write(b\"x\"); "
     "l=s.create_server((\"127.0.0.1\",0)); c=s.create_connection(l.getsockname()); "
     "s.socketpair(); print(\"fine\")'"},
    {"Node", "node",
     "node -e 'require(\"child_process\").execSync(\"true\"); "
     "require(\"fs\").writeFileSync(\"n\",\"x\");"
     "new (require(\"worker_threads\").Worker)(\"1\",{eval:true}).on(\"exit\",()=>console.log("
     "\"fine\"))'"},
    {"Npm", "npm", "HOME=$PWD npm init -y >/dev/null && test -f package.json && echo fine"},
    {"Java", "javac",
     "echo 'class H{public static void main(String[] a) throws Exception{Thread t=new Thread("
     "()->System.out.println(\"fine\"));t.start();t.join();}}' > H.java && javac H.java && java H"},
};

// A fresh directory, removed with all that is in it.
class WorkDirectory {
 public:
  WorkDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "cordon-seccomp-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~WorkDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class SeccompCompatibilityTest : public testing::TestWithParam<Everyday> {
 protected:
  WorkDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Everyday, SeccompCompatibilityTest, testing::ValuesIn(kEveryday),
                         [](const auto& everyday) { return std::string(everyday.param.name); });

TEST_P(SeccompCompatibilityTest, RunsUnchanged) {
  ASSERT_FALSE(directory_.path().empty());
  const std::string program = GetParam().program;
  const std::vector<std::string> argv{"sh", "-c", GetParam().script};
  if (run_filtered({}, {"sh", "-c", "command -v " + program}).exit_code != 0) {
    GTEST_SKIP() << program << " is not installed";
  }
  const auto filters = compile_seccomp({});
  ASSERT_TRUE(filters);
  const auto run = run_filtered(*filters, argv, directory_.path());
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_FALSE(run.timed_out);
  EXPECT_TRUE(run.output.ends_with("fine\n")) << run.output;
}

}  // namespace
}  // namespace cordon::linux_backend
