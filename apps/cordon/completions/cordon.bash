# bash completion for cordon.
#   source <(cordon completion bash)

_cordon_run() {
  local cur=$1 prev=$2 first=$3 options guarantees
  options='--timeout --grace --cpu-time --cpus --memory --pids --pids-kill --files --file-size
    --output --read --write --bind --tmpfs --rootfs --user --net --no-unix --policy --profile --manifest
    --secret --redact --no-redact --workdir --cache --keep --collect --into --collect-limit
    --transport --log --cwd --env --env-pass --backend --cgroup-parent --require --pool --reuse
    --json --report --explain --audit --audit-key --help'
  case ${COMP_WORDS[1]} in
    run) ;;
    mcp)
      options="--config --name --set --package --srt --allow-tool --deny-tool $options"
      options=${options/--redact /}
      options=${options/--transport /}
      if [[ ${COMP_WORDS[2]} == serve ]]; then
        local name
        for name in report log collect into collect-limit; do options=${options/--$name[[:space:]]/ }; done
        options="--listen --as --all --token-file --allow-host --allow-origin --allow-remote --idle --poll
          --max-sessions --spare --shared --max-body --max-rate $options"
      elif [[ ${COMP_WORDS[2]} == inspect ]]; then
        options="--call --arg --args --wait ${options/--log /}"
      else
        options=${options/--json /}
      fi
      ;;
    *) options=${options/--report /} ;;
  esac
  guarantees='memory cpu processes filesystem network syscalls capabilities timeout all'

  # From the program on, its own completion takes over.
  local i word
  for ((i = first; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case $word in
      --) ((i++)) ;;
      --pids-kill | --no-unix | --redact | --no-redact | --workdir | --keep) continue ;;
      --json | --explain | --help | --all | --shared | --allow-remote) continue ;;
      --*)
        # bash makes "--name=value" three words.
        [[ ${COMP_WORDS[i + 1]-} == '=' ]] && ((i++))
        ((i++))
        continue
        ;;
    esac
    if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
      _command_offset "$i"
      return
    fi
    break
  done

  case $prev in
    --timeout) mapfile -t COMPREPLY < <(compgen -W '10s 1m 5m none' -- "$cur") ;;
    --grace | --cpu-time) mapfile -t COMPREPLY < <(compgen -W '1s 10s 1m' -- "$cur") ;;
    --memory | --file-size | --output | --collect-limit) mapfile -t COMPREPLY < <(compgen -W '64M 512M 1G' -- "$cur") ;;
    --cpus) mapfile -t COMPREPLY < <(compgen -W '0.5 1 2' -- "$cur") ;;
    --pids | --files | --cgroup-parent | --reuse | --secret | --collect | --profile | --name) ;;
    --read | --write | --bind | --rootfs | --policy | --manifest) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    --user) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
    --net) mapfile -t COMPREPLY < <(compgen -W 'none loopback host' -- "$cur") ;;
    --cwd | --tmpfs | --cache | --into | --audit) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    --env | --env-pass) mapfile -t COMPREPLY < <(compgen -e -- "$cur") ;;
    --pool) mapfile -t COMPREPLY < <(compgen -W 'auto off only' -- "$cur") ;;
    --backend) mapfile -t COMPREPLY < <(compgen -W 'auto linux gvisor posix' -- "$cur") ;;
    --require)
      local done=
      [[ $cur == *,* ]] && done=${cur%,*},
      mapfile -t COMPREPLY < <(compgen -P "$done" -W "$guarantees" -- "${cur##*,}")
      ;;
    --transport) mapfile -t COMPREPLY < <(compgen -W 'stdio http' -- "$cur") ;;
    --listen) mapfile -t COMPREPLY < <(compgen -W '127.0.0.1:8808 unix:' -- "$cur") ;;
    --as | --name | --allow-host | --allow-origin | --max-sessions | --spare | --max-rate) ;;
    --idle) mapfile -t COMPREPLY < <(compgen -W '10m 30m 1h none' -- "$cur") ;;
    --max-body) mapfile -t COMPREPLY < <(compgen -W '1M 4M 16M' -- "$cur") ;;
    --report | --log | --audit-key | --config | --token-file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    *)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
      fi
      ;;
  esac
}

_cordon_batch() {
  local cur=$1 prev=$2
  local options='--jobs --results --resume --keep-going --capture --deadline --explain --quiet
    --progress --help --timeout --grace --cpu-time --cpus --memory --pids --pids-kill --files
    --file-size --output --read --write --bind --tmpfs --user --net --no-unix --policy --profile
    --audit --audit-key --cwd --env --env-pass --backend --cgroup-parent --require'
  case $prev in
    --jobs) mapfile -t COMPREPLY < <(compgen -W '1 2 4 8 16' -- "$cur") ;;
    --results) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    --capture) mapfile -t COMPREPLY < <(compgen -W '64K 1M 16M' -- "$cur") ;;
    --deadline) mapfile -t COMPREPLY < <(compgen -W '1m 10m 1h' -- "$cur") ;;
    --timeout | --grace | --cpu-time | --cpus | --memory | --pids | --files | --file-size | --output | \
      --read | --write | --bind | --tmpfs | --user | --net | --policy | --profile | --audit | \
      --audit-key | --cwd | --env | --env-pass | --backend | --cgroup-parent | --require)
      _cordon_run "$cur" "$prev" "$COMP_CWORD"
      ;;
    *)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      fi
      ;;
  esac
}

_cordon_audit() {
  local cur=$1 prev=$2
  if ((COMP_CWORD == 2)); then
    mapfile -t COMPREPLY < <(compgen -W 'show verify --help' -- "$cur")
    return
  fi
  case $prev in
    --verdict)
      mapfile -t COMPREPLY < <(compgen -W 'exited signaled timeout cpu_time memory processes
        file_size output denied cancelled failed_to_start' -- "$cur")
      ;;
    --operation)
      mapfile -t COMPREPLY < <(compgen -W 'plan start signal limit denial exit cleanup refused
        call sandbox repaired rotated' -- "$cur")
      ;;
    --run | --program | --since | --until | --limit) ;;
    --key) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    *)
      local options='--run --verdict --program --since --until --operation --limit --json --follow
        --help'
      [[ ${COMP_WORDS[2]} == verify ]] && options='--key --help'
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      fi
      ;;
  esac
}

_cordon_pool() {
  local cur=$1 prev=$2 options=
  if ((COMP_CWORD == 2)); then
    mapfile -t COMPREPLY < <(compgen -W 'start status stop --help' -- "$cur")
    return
  fi
  case ${COMP_WORDS[2]} in
    start) options='--foreground --size --idle --help' ;;
    status) options='--json --help' ;;
    stop) options='--grace --help' ;;
  esac
  case $prev in
    --size) mapfile -t COMPREPLY < <(compgen -W '4 8 16' -- "$cur") ;;
    --idle) mapfile -t COMPREPLY < <(compgen -W '10m 1h none' -- "$cur") ;;
    --grace) mapfile -t COMPREPLY < <(compgen -W '0s 10s 1m' -- "$cur") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur") ;;
  esac
}

_cordon_sandbox() {
  local cur=$1 prev=$2 options=
  if ((COMP_CWORD == 2)); then
    mapfile -t COMPREPLY < <(compgen -W 'create exec connect ps logs cp checkpoint restore stop rm ls --help' -- "$cur")
    return
  fi
  case ${COMP_WORDS[2]} in
    create)
      options='--timeout --grace --cpu-time --cpus --memory --pids --pids-kill --files --file-size
        --output --read --write --bind --tmpfs --rootfs --user --net --no-unix --policy --profile
        --audit --audit-key --cwd --env --env-pass --cgroup-parent --require --backend --tty
        --json --help'
      ;;
    exec)
      options='--timeout --grace --cpu-time --cpus --memory --pids --pids-kill --files --file-size
        --output --policy --profile --audit --audit-key --cwd --env --env-pass --report
        --tty --detach --json --help'
      ;;
    connect) options='--json --help' ;;
    ps) options='--json --help' ;;
    logs) options='--follow --json --help' ;;
    cp) options='--json --help' ;;
    checkpoint) options='--leave-running --quiet --json --help' ;;
    restore) options='--audit --audit-key --quiet --json --help' ;;
    stop) options='--grace --json --help' ;;
    rm) options='--json --help' ;;
    ls) options='--json --help' ;;
  esac
  case $prev in
    --backend) mapfile -t COMPREPLY < <(compgen -W 'linux gvisor' -- "$cur") ;;
    --timeout | --grace | --cpu-time | --cpus | --memory | --pids | --files | --file-size | --output | \
      --read | --write | --bind | --tmpfs | --rootfs | --user | --net | --policy | --profile | --audit | \
      --audit-key | --cwd | --env | --env-pass | --cgroup-parent | --require | --report)
      _cordon_run "$cur" "$prev" "$COMP_CWORD"
      ;;
    *)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
      else
        local known
        known=$(cordon sandbox ls 2>/dev/null | awk 'NR > 1 { print $1 }')
        mapfile -t COMPREPLY < <(compgen -W "$known" -- "$cur")
      fi
      ;;
  esac
}

_cordon() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local verbs='run batch plan policy doctor audit explain pool sandbox mcp completion help'
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$cur")
    return
  fi
  case ${COMP_WORDS[1]} in
    run | plan) _cordon_run "$cur" "$prev" 2 ;;
    batch) _cordon_batch "$cur" "$prev" ;;
    policy)
      if ((COMP_CWORD == 2)); then
        mapfile -t COMPREPLY < <(compgen -W 'check explain show --help' -- "$cur")
      elif [[ ${COMP_WORDS[2]} == explain ]]; then
        _cordon_run "$cur" "$prev" 3
      elif [[ ${COMP_WORDS[2]} == show ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'mcp --help' -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      fi
      ;;
    doctor) mapfile -t COMPREPLY < <(compgen -W '--json --help' -- "$cur") ;;
    audit) _cordon_audit "$cur" "$prev" ;;
    pool) _cordon_pool "$cur" "$prev" ;;
    sandbox) _cordon_sandbox "$cur" "$prev" ;;
    mcp)
      if ((COMP_CWORD == 2)); then
        mapfile -t COMPREPLY < <(compgen -W 'run serve inspect wrap unwrap --help' -- "$cur")
      elif [[ ${COMP_WORDS[2]} == *wrap ]]; then
        if [[ $cur == -* ]]; then
          mapfile -t COMPREPLY < <(compgen -W '--name --yes --dry-run --json --help' -- "$cur")
        else
          mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
      else
        _cordon_run "$cur" "$prev" 3
      fi
      ;;
    completion) mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$cur") ;;
    explain)
      if [[ $prev == --audit ]]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -W '--audit --json --help' -- "$cur")
      fi
      ;;
    help) mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur") ;;
  esac
}

complete -o default -F _cordon cordon
