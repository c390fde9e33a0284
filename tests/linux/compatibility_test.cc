// The compatibility corpus: what people run every day works unchanged in a sandbox under the
// command's default limits, without a network, with one directory to write to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cordon/run.h"
#include "support/must_work.h"

namespace cordon {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kMebibyte = 1024 * 1024;

class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    auto manager = linux_manager();
    if (!manager) CORDON_SKIP_WITHOUT("linux", manager.error().message);
    manager_ = *std::move(manager);
    // As `cordon run` sets them.
    ASSERT_TRUE(manager_->set_default_limits({.cpu_millicores = 1000,
                                              .memory_bytes = 512 * kMebibyte,
                                              .open_files = 1024,
                                              .processes = 128}));
    std::string name = std::filesystem::temp_directory_path() / "cordon-corpus-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  static bool installed(const std::string& program) {
    return ::access(("/usr/bin/" + program).c_str(), X_OK) == 0;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(directory_ / name).rdbuf();
    return text.str();
  }

  // Runs a shell script in the directory; it has to succeed. Returns what it wrote to stdout.
  std::string shell(const std::string& script) {
    Request request;
    request.program = "/bin/sh";
    request.args = {"-euc", script};
    request.cwd = directory_;
    request.grants = {Grant::write(directory_)};
    request.timeout = std::chrono::seconds(100);
    const Outcome outcome = run(*manager_, request);
    EXPECT_EQ(outcome.verdict, Verdict::exited) << to_json(outcome);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return outcome.out;
  }

  std::unique_ptr<Manager> manager_;
  std::filesystem::path directory_;
};

#define NEEDS(program) \
  if (!installed(program)) CORDON_SKIP_WITHOUT("corpus", program " is not installed")

TEST_F(Corpus, ShellPipelines) {
  EXPECT_EQ(shell("find /usr/bin -name 'sor*' | sort | head -n 1"), "/usr/bin/sort\n");
  EXPECT_EQ(shell("printf '3 c\\n1 a\\n2 b\\n' | sort -n | awk '{ print $2 }' | tr '\\n' ,"),
            "a,b,c,");
  EXPECT_EQ(shell("echo one two | sed 's/two/2/' | grep -o '[0-9]'"), "2\n");
  EXPECT_EQ(shell("seq 100000 | wc -l; yes | head -n 3 | uniq -c | xargs"), "100000\n3 y\n");
  EXPECT_EQ(shell("cat <<END\nhere $((6 * 7))\nEND\n"), "here 42\n");
}

TEST_F(Corpus, TarAndGzip) {
  EXPECT_EQ(shell("mkdir a && echo text >a/b && ln -s b a/c && tar -czf a.tgz a && rm -r a && "
                  "tar -xzf a.tgz && cat a/c && gzip -dc a.tgz | tar -tf - | sort"),
            "text\na/\na/b\na/c\n");
}

TEST_F(Corpus, FilesInAWriteGrantComeOutAsTheCallers) {
  shell("umask 022; mkdir d; echo text >d/file; chmod 755 d/file; ln d/file d/hard; mv d/hard e");
  EXPECT_EQ(read("d/file"), "text\n");
  struct stat info{};
  ASSERT_EQ(::stat((directory_ / "d/file").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, ::geteuid());
  EXPECT_EQ(info.st_gid, ::getegid());
}

TEST_F(Corpus, TemporaryFilesAndHomeAreWritable) {
  EXPECT_EQ(shell("f=$(mktemp); echo x >$f; cat $f; cd; echo y >file; cat file; rm file $f"),
            "x\ny\n");
}

TEST_F(Corpus, UsersAndHostnamesResolve) {
  EXPECT_THAT(shell("id -un"), testing::AnyOf("user\n", "nobody\n"));
  EXPECT_EQ(shell("getent hosts localhost | awk '{ print $2 }'"), "localhost\n");
}

TEST_F(Corpus, TablesOfTheSystemAreThere) {
  EXPECT_THAT(shell(". /etc/os-release; echo $ID; date +%Z"), Not(testing::StartsWith("\n")));
  if (::access("/etc/services", R_OK) == 0) {
    EXPECT_THAT(shell("getent services http"), HasSubstr("80/tcp"));
  }
  if (::access("/etc/mime.types", R_OK) == 0 && installed("python3")) {
    EXPECT_THAT(shell("/usr/bin/python3 -m mimetypes a.docx"), HasSubstr("wordprocessingml"));
  }
}

TEST_F(Corpus, Python) {
  NEEDS("python3");
  write("a.py", R"text(
import concurrent.futures, json, os, pathlib, sqlite3, subprocess, tempfile, threading, zlib
assert json.loads(json.dumps({"a": [1, None, "ü"]}))["a"][2] == "ü"
with tempfile.TemporaryDirectory() as d:
    pathlib.Path(d, "f").write_text("x")
    db = sqlite3.connect(pathlib.Path(d, "db"))
    db.execute("create table t(n)")
    db.executemany("insert into t values(?)", [(i,) for i in range(100)])
    db.commit()
    assert db.execute("select sum(n) from t").fetchone()[0] == 4950
    db.close()
assert subprocess.run(["sh", "-c", "cat; exit 3"], input=b"in", capture_output=True).stdout == b"in"
assert subprocess.check_output("echo a | tr a b", shell=True, text=True) == "b\n"
done = []
threads = [threading.Thread(target=lambda: done.append(1)) for _ in range(20)]
[t.start() for t in threads]
[t.join() for t in threads]
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    assert sum(pool.map(lambda n: n * n, range(10))) == 285
db = sqlite3.connect("here.db")
db.execute("pragma journal_mode=wal")
db.execute("create table t(n)")
db.commit()
assert len(os.urandom(8)) == 8 and zlib.crc32(b"a") == 3904355907
print("done", len(done))
)text");
  EXPECT_EQ(shell("/usr/bin/python3 a.py"), "done 20\n");
}

TEST_F(Corpus, PythonMultiprocessing) {
  NEEDS("python3");
  write("a.py", R"text(
import multiprocessing as mp

def square(n):
    return n * n

def put(queue, lock):
    with lock:
        queue.put(1)

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        context = mp.get_context(method)
        with context.Pool(4) as pool:
            assert pool.map(square, range(5)) == [0, 1, 4, 9, 16]
    queue, lock = mp.Queue(), mp.Lock()
    p = mp.Process(target=put, args=(queue, lock))
    p.start()
    assert queue.get() == 1
    p.join()
    with mp.Manager() as manager:
        shared = manager.dict()
        shared["a"] = 1
        assert shared["a"] == 1
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=1000)
    block.buf[0] = 7
    block.close()
    block.unlink()
    print("done")
)text");
  EXPECT_EQ(shell("/usr/bin/python3 a.py"), "done\n");
}

TEST_F(Corpus, PythonAsyncioAndSockets) {
  NEEDS("python3");
  write("a.py", R"text(
import asyncio, signal, socket

a, b = socket.socketpair()
a.send(b"x")
assert b.recv(1) == b"x"

async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: None)
    p = await asyncio.create_subprocess_exec("echo", "child", stdout=asyncio.subprocess.PIPE)
    print((await p.communicate())[0].decode(), end="")
    async def serve(reader, writer):
        writer.write(await reader.readline())
        writer.close()
    server = await asyncio.start_unix_server(serve, "/tmp/socket")
    reader, writer = await asyncio.open_unix_connection("/tmp/socket")
    writer.write(b"echo\n")
    print((await reader.readline()).decode(), end="")
    server.close()

asyncio.run(main())
)text");
  EXPECT_EQ(shell("/usr/bin/python3 a.py"), "child\necho\n");
}

TEST_F(Corpus, Node) {
  NEEDS("node");
  write("a.js", R"text(
const { execFileSync } = require('child_process');
const { Worker } = require('worker_threads');
const crypto = require('crypto');
const fs = require('fs');
const os = require('os');
const path = require('path');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'a-'));
fs.writeFileSync(path.join(dir, 'f'), 'x');
if (execFileSync('cat', [path.join(dir, 'f')]).toString() !== 'x') throw new Error('cat');
if (crypto.createHash('sha256').update('a').digest('hex').slice(0, 4) !== 'ca97') throw new Error('hash');
const worker = new Worker('require("worker_threads").parentPort.postMessage(6 * 7)', { eval: true });
worker.on('message', (n) => console.log(n, os.userInfo().homedir.length > 0));
)text");
  EXPECT_EQ(shell("node a.js"), "42 true\n");
}

TEST_F(Corpus, Npm) {
  NEEDS("npm");
  EXPECT_THAT(shell("npm --version"), HasSubstr("."));
  shell("mkdir package && cd package && npm init -y");
  EXPECT_THAT(read("package/package.json"), HasSubstr("\"name\": \"package\""));
  EXPECT_THAT(shell("cd package && npm pkg set scripts.hi='echo from a script' && npm run hi"),
              HasSubstr("from a script"));
}

TEST_F(Corpus, Gcc) {
  NEEDS("gcc");
  EXPECT_EQ(shell("cd /tmp && printf '#include <stdio.h>\\nint main(void) { puts(\"hello\"); }\\n' "
                  ">a.c && gcc -O2 -Wall -o a a.c && ./a"),
            "hello\n");
}

TEST_F(Corpus, MakeBuildsInAWriteGrant) {
  NEEDS("make");
  NEEDS("gcc");
  write("a.c", "int two(void) { return 2; }\n");
  write("main.c", "int two(void);\nint main(void) { return two() - 2; }\n");
  write("Makefile",
        "main: main.o a.o\n\t$(CC) -o $@ $^\nmain.o a.o: %.o: %.c\n\t$(CC) -c -o $@ $<\n");
  EXPECT_THAT(shell("make -j2 && ./main && make -q && echo up to date"), HasSubstr("up to date\n"));
}

TEST_F(Corpus, Git) {
  NEEDS("git");
  EXPECT_EQ(shell("git init -q -b main repo && cd repo && echo text >file && git add file && "
                  "git -c user.name=a -c user.email=a@example.org commit -q -m 'A message' && "
                  "git log --format=%s && git clone -q . ../copy && cat ../copy/file && "
                  "git status --short && git gc -q && git fsck"),
            "A message\ntext\n");
}

TEST_F(Corpus, GitSeesARepositoryOfTheCallers) {
  NEEDS("git");
  auto outside = posix_manager();
  ASSERT_TRUE(outside) << outside.error().message;
  const Outcome made =
      run(**outside, {.program = "git", .args = {"init", "-q", "-b", "main", directory_ / "repo"}});
  ASSERT_EQ(made.exit_code, 0) << to_json(made);
  EXPECT_EQ(shell("cd repo && git status --short --branch"), "## No commits yet on main\n");
}

TEST_F(Corpus, Java) {
  NEEDS("java");
  NEEDS("javac");
  write("Hello.java", R"text(
import java.nio.file.*;
import java.util.stream.*;
public class Hello {
  public static void main(String[] args) throws Exception {
    Path file = Files.createTempFile("a", "b");
    Files.writeString(file, "hello");
    int sum = IntStream.range(0, 1000).parallel().sum();
    Process child = new ProcessBuilder("cat", file.toString()).start();
    System.out.println(new String(child.getInputStream().readAllBytes()) + " " + sum);
  }
}
)text");
  EXPECT_EQ(shell("javac Hello.java && java Hello"), "hello 499500\n");
}

TEST_F(Corpus, Perl) {
  NEEDS("perl");
  EXPECT_EQ(shell(R"(perl -MFile::Temp=tempfile -MSocket -MPOSIX -e '
      my ($file) = tempfile(); print {$file} "x"; my $pid = fork // die;
      if (!$pid) { exit 3 } waitpid $pid, 0; printf "%d %s\n", $? >> 8, join ",", sort (3, 1, 2)')"),
            "3 1,2,3\n");
}

}  // namespace
}  // namespace cordon
