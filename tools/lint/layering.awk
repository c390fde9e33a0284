# The checks of tools/lint/layering. The first file is the table, the others are sources.

function complain(what) {
  printf "%s:%d: %s\n", FILENAME, FNR, what
  bad = 1
}

# The layer's name for a path below src/, or for apps/…: "backend/posix", "base", "" if none.
function layer_of(path,    part) {
  split(path, part, "/")
  if (part[1] == "backend" || part[1] == "apps") return part[1] "/" part[2]
  return (part[1] in rank) ? part[1] : ""
}

function rank_of(layer) {
  if (layer in rank) return rank[layer]
  sub(/\/.*/, "/*", layer)
  return (layer in rank) ? rank[layer] : 0
}

function in_set(set, layer,    general) {
  general = layer
  sub(/\/.*/, "/*", general)
  return index(set, " " layer " ") || index(set, " " general " ")
}

function check_include(name, quoted,    theirs) {
  if (public) {
    if (quoted && name ~ /^cordon\//) return
    if (!quoted && name ~ /^[a-z_0-9]+$/) return
    if ((public_name in allowed) && index(name, allowed[public_name]) == 1) return
    complain("a public header may not include " name)
    return
  }
  if (is_pure && name ~ /^(sys|linux|asm|netinet|arpa)\/|^(unistd|fcntl|spawn|sched|poll|pthread|dirent|pwd|grp)\.h$/)
    complain(layer " is pure: it may not include " name)
  if (!quoted) return
  theirs = layer_of(name)
  if (theirs == "" || theirs == layer) return
  if (!rank_of(theirs)) complain("no such layer: " name)
  else if (rank_of(theirs) == rank_of(layer)) complain(layer " may not include its neighbour: " name)
  else if (rank_of(theirs) > rank_of(layer)) complain(layer " may not include " name ": against the arrow")
}

# Removes comments, string and character literals, so that only code is left.
function code(line,    out, c, rest) {
  out = ""
  while (line != "") {
    if (in_comment) {
      if (!match(line, /\*\//)) return out
      line = substr(line, RSTART + 2)
      in_comment = 0
      continue
    }
    if (!match(line, /\/\/|\/\*|"|'/)) return out line
    out = out substr(line, 1, RSTART - 1)
    c = substr(line, RSTART, RLENGTH)
    rest = substr(line, RSTART + RLENGTH)
    if (c == "//") return out
    if (c == "/*") { in_comment = 1; line = rest; continue }
    if (c == "'" && out ~ /[0-9a-fA-F]$/) { line = rest; continue }  # a digit separator
    while (rest != "" && substr(rest, 1, 1) != c) rest = substr(rest, substr(rest, 1, 1) == "\\" ? 3 : 2)
    out = out c c
    line = substr(rest, 2)
  }
  return out
}

# `kill` and `clone` are also names of our own methods: the system's are those that are
# called as ::kill, or with more than one argument.
function check_calls(text,    found) {
  text = " " text
  if (match(text, /[^A-Za-z0-9_.>:](::)?(v?fork|_Fork|execv|execve|execvp|execvpe|execl|execle|execlp|fexecve|execveat|posix_spawnp?|clone3|p?setrlimit(64)?|prlimit(64)?|killpg|tgkill|pidfd_send_signal|popen)[ ]*\(/) ||
      match(text, /[^A-Za-z0-9_>]::(kill|clone|system)[ ]*\(/) ||
      match(text, /[^A-Za-z0-9_]std::system[ ]*\(/) ||
      match(text, /[^A-Za-z0-9_.>:](kill|clone)[ ]*\([^(),]+,/) ||
      match(text, /(SYS|__NR)_(v?fork|clone3?|execve(at)?|t?g?kill|pidfd_send_signal|setrlimit|prlimit64)/)) {
    found = substr(text, RSTART + 1, RLENGTH - 1)
    complain("only a backend may start or end processes: " found)
  }
}

FILENAME ~ /layers\.txt$/ {
  sub(/#.*/, "")
  if ($1 == "layer") { ranks++; for (i = 2; i <= NF; i++) rank[$i] = ranks }
  else if ($1 == "pure") for (i = 2; i <= NF; i++) pure[$i] = 1
  else if ($1 == "process-calls") callers = " " substr($0, index($0, $2)) " "
  else if ($1 == "public") allowed[$2] = $3
  else if (NF) { print FILENAME ": not understood: " $0; bad = 1 }
  next
}

FNR == 1 {
  in_comment = 0
  is_test = FILENAME ~ /_test\.cc$/
  public = FILENAME ~ /^include\//
  public_name = substr(FILENAME, length("include/") + 1)
  path = FILENAME
  sub(/^src\//, "", path)
  layer = public ? "" : layer_of(path)
  is_pure = (layer in pure) && !is_test
  may_call = is_test || in_set(callers, public ? public_name : layer)
  if (!public && !rank_of(layer)) complain("a folder that layers.txt does not know")
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
  name = $0
  sub(/^[^<"]*[<"]/, "", name)
  sub(/[>"].*/, "", name)
  check_include(name, $0 ~ /include[ \t]*"/)
  next
}

{
  text = code($0)
  if (!may_call) check_calls(text)
}

END { exit bad }
