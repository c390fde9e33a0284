// An MCP server in the shell's language, for tests of what stands between it and its client. It
// says on stderr what it was asked.
#pragma once

namespace cordon::cli {

inline constexpr const char* kServerScript = R"SH(
while IFS= read -r line; do
  echo "asked: $line" >&2
  case $line in *'"id":'*) ;; *) continue ;; esac
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      r='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *'"tools/list"'*'"cursor"'*)
      r='"result":{"tools":[{"name":"write","description":"Writes\nthings","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"times":{"type":"integer"}},"required":["text"]}}]}' ;;
    *'"tools/list"'*) r='"result":{"nextCursor":"2","tools":[ {"name":"read","inputSchema":{}} , {"name":"fail"}]}' ;;
    *'"tools/call"'*'"fail"'*) r='"result":{"content":[{"type":"text","text":"it failed"}],"isError":true}' ;;
    *'"tools/call"'*)
      told=$(printf %s "${line#*'"arguments":'}" | sed 's/["\\]/\\&/g')
      r="\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"got $told\"}]}" ;;
    *'"resources/list"'*) r='"result":{"resources":[{"uri":"file:///a","name":"a"}]}' ;;
    *'"prompts/list"'*) r='"result":{"prompts":[{"name":"greet","arguments":[{"name":"who","required":true}]}]}' ;;
    *) r='"error":{"code":-32601,"message":"no such method"}' ;;
  esac
  printf '%s\n' "{\"jsonrpc\":\"2.0\",\"id\":$id,$r}"
done
)SH";

}  // namespace cordon::cli
