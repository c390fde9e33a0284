# fish completion for cordon.
#   cordon completion fish | source

# True until the program is named: from there on its own completions apply.
function __cordon_in_run_options
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] run plan policy mcp; or return 1
    set -l begin 3
    if contains -- $words[2] policy mcp
        test (count $words) -ge 3; and contains -- $words[3] explain run serve inspect; or return 1
        set begin 4
    end
    set -l value_next 0
    for word in $words[$begin..-1]
        if test $value_next = 1
            set value_next 0
            continue
        end
        switch $word
            case --pids-kill --no-unix --redact --no-redact --workdir --keep
            case --json --explain --help --all --shared --allow-remote '--*=*'
            case --
                return 1
            case '--*'
                set value_next 1
            case '*'
                return 1
        end
    end
end

function __cordon_in_batch
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = batch
end

function __cordon_guarantees
    set -l done (string match -r '.*,' -- (commandline -ct))
    for name in memory cpu processes filesystem network syscalls capabilities timeout all
        echo $done$name
    end
end

set -l first '__fish_is_nth_token 1'
complete -c cordon -f -n $first -a run -d 'run a program with limits'
complete -c cordon -f -n $first -a batch -d 'run many requests'
complete -c cordon -f -n $first -a plan -d 'tell what run would do'
complete -c cordon -f -n $first -a policy -d 'check and explain policies'
complete -c cordon -f -n $first -a doctor -d 'tell what can be enforced here'
complete -c cordon -f -n $first -a audit -d 'read or check the record of runs'
complete -c cordon -f -n $first -a explain -d 'tell what a recorded run was refused'
complete -c cordon -f -n $first -a pool -d 'keep a service that runs programs'
complete -c cordon -f -n $first -a sandbox -d 'keep sandboxes that outlive a program'
complete -c cordon -f -n $first -a mcp -d 'run MCP servers'
complete -c cordon -f -n $first -a completion -d 'print a completion script'
complete -c cordon -f -n $first -a help -d 'print the help'
complete -c cordon -f -n $first -l help -d 'print the help'
complete -c cordon -f -n $first -l version -d 'print the version'

complete -c cordon -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
complete -c cordon -f -n '__fish_seen_subcommand_from help' -a 'run batch plan policy doctor audit explain pool sandbox mcp completion'

complete -c cordon -f -n '__fish_seen_subcommand_from doctor' -l json -d 'print one JSON object'
complete -c cordon -f -n '__fish_seen_subcommand_from doctor' -l help -d 'print the help'

set -l audit '__fish_seen_subcommand_from audit; and __fish_is_nth_token 2'
complete -c cordon -f -n $audit -a 'show verify'
complete -c cordon -f -n '__fish_seen_subcommand_from audit' -l help -d 'print the help'
set -l show '__fish_seen_subcommand_from audit; and __fish_seen_subcommand_from show'
complete -c cordon -n $show -x -l run -d 'of one run'
complete -c cordon -n $show -x -l verdict -a 'exited signaled timeout cpu_time memory processes file_size output denied cancelled failed_to_start' -d 'of runs that ended so'
complete -c cordon -n $show -x -l program -d 'of programs that match'
complete -c cordon -n $show -x -l since -a '1h 24h' -d 'from then on'
complete -c cordon -n $show -x -l until -a '1h 24h' -d 'before then'
complete -c cordon -n $show -x -l operation -a 'plan start signal limit denial exit cleanup refused call sandbox repaired rotated' -d 'of one kind'
complete -c cordon -n $show -x -l limit -d 'only the last so many'
complete -c cordon -n $show -f -l json -d 'one JSON object a line'
complete -c cordon -n $show -f -l follow -d 'wait for more'
set -l verify '__fish_seen_subcommand_from audit; and __fish_seen_subcommand_from verify'
complete -c cordon -n $verify -r -l key -d 'the key of the seals'
set -l explain '__fish_seen_subcommand_from explain; and not __fish_seen_subcommand_from policy'
complete -c cordon -n $explain -x -l audit -a '(__fish_complete_directories)' -d 'the log'
complete -c cordon -f -n $explain -l json -d 'print one JSON object'
complete -c cordon -f -n $explain -l help -d 'print the help'

set -l mcp '__fish_is_nth_token 2; and test (commandline -opc)[2] = mcp'
complete -c cordon -f -n $mcp -a 'run serve inspect wrap unwrap'
set -l wrap 'test (commandline -opc)[2] = mcp; and contains -- (commandline -opc)[3] wrap unwrap'
complete -c cordon -n $wrap -x -l name -d 'only this server'
complete -c cordon -f -n $wrap -l yes -d 'do not ask'
complete -c cordon -f -n $wrap -l dry-run -d 'write nothing'
complete -c cordon -f -n $wrap -l json -d 'print one JSON object'
complete -c cordon -f -n $wrap -l help -d 'print the help'
complete -c cordon -n $wrap -F
set -l pool '__fish_is_nth_token 2; and test (commandline -opc)[2] = pool'
complete -c cordon -f -n $pool -a 'start status stop'
function __cordon_in_pool
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test $words[2] = pool; and test $words[3] = $argv[1]
end
complete -c cordon -f -n '__cordon_in_pool start' -l foreground -d 'stay'
complete -c cordon -n '__cordon_in_pool start' -x -l size -a '4 8 16' -d 'programs at once'
complete -c cordon -n '__cordon_in_pool start' -x -l idle -a '10m 1h none' -d 'stop after so long without a client'
complete -c cordon -f -n '__cordon_in_pool status' -l json -d 'print one JSON object'
complete -c cordon -n '__cordon_in_pool stop' -x -l grace -a '0s 10s 1m' -d 'for what runs'
for verb in start status stop
    complete -c cordon -f -n "__cordon_in_pool $verb" -l help -d 'print the help'
end

set -l sandbox '__fish_is_nth_token 2; and test (commandline -opc)[2] = sandbox'
complete -c cordon -f -n $sandbox -a 'create exec connect ps logs cp checkpoint restore stop rm ls'
function __cordon_in_sandbox
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test $words[2] = sandbox; and contains -- $words[3] $argv
end
complete -c cordon -f -n '__cordon_in_sandbox exec connect ps logs checkpoint restore stop rm' -a '(cordon sandbox ls 2>/dev/null | string match -rg "^([a-z0-9][^ ]*) ")'
complete -c cordon -n '__cordon_in_sandbox create exec restore' -r -l audit -d 'record the run in this directory'
complete -c cordon -n '__cordon_in_sandbox create exec restore' -r -l audit-key -d 'seal the records with this key'
complete -c cordon -n '__cordon_in_sandbox create' -x -l backend -a 'linux gvisor' -d 'what isolates it'
complete -c cordon -n '__cordon_in_sandbox create' -r -l bind -d 'let the program see SRC as DST'
complete -c cordon -n '__cordon_in_sandbox create' -x -l cgroup-parent -d 'make control groups below this one'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l cpu-time -d 'end the run after this much processor time'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l cpus -d 'processors it may keep busy'
complete -c cordon -n '__cordon_in_sandbox create exec' -r -l cwd -d 'run in this directory'
complete -c cordon -n '__cordon_in_sandbox exec' -f -l detach -d 'print its number, and leave it running'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l env -d 'set a variable'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l env-pass -d 'pass on variables by pattern'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l file-size -d 'size of any one file the program writes'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l files -d 'open file descriptors in one process'
complete -c cordon -n '__cordon_in_sandbox logs' -f -l follow -d 'go on with what comes'
complete -c cordon -n '__cordon_in_sandbox create exec stop' -x -l grace -a '1s 5s 10s' -d 'time between SIGTERM and SIGKILL'
complete -c cordon -n '__cordon_in_sandbox create exec connect ps logs cp checkpoint restore stop rm ls' -f -l help -d 'print the help'
complete -c cordon -n '__cordon_in_sandbox create exec connect ps logs cp checkpoint restore stop rm ls' -f -l json -d 'print one JSON object'
complete -c cordon -n '__cordon_in_sandbox checkpoint' -f -l leave-running -d 'let the sandbox go on'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l memory -a '64M 512M 1G' -d 'memory the program may use'
complete -c cordon -n '__cordon_in_sandbox create' -x -l net -a 'none loopback host' -d 'the network of the program'
complete -c cordon -n '__cordon_in_sandbox create' -f -l no-unix -d 'no unix sockets but socketpair'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l output -d 'end the run when it writes more than this'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l pids -d 'processes and threads alive at once'
complete -c cordon -n '__cordon_in_sandbox create exec' -f -l pids-kill -d 'end the run at --pids'
complete -c cordon -n '__cordon_in_sandbox create exec' -r -l policy -d 'allow no more than this file'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l profile -d 'allow no more than this profile'
complete -c cordon -n '__cordon_in_sandbox checkpoint restore' -f -l quiet -d 'no progress'
complete -c cordon -n '__cordon_in_sandbox create' -r -l read -d 'let the program read this path'
complete -c cordon -n '__cordon_in_sandbox create' -x -l require -a '(__cordon_guarantees)' -d 'do not run unless these are enforced'
complete -c cordon -n '__cordon_in_sandbox exec' -r -l report -d 'write the outcome to a file'
complete -c cordon -n '__cordon_in_sandbox create exec' -x -l timeout -a '10s 1m 5m none' -d 'end the run after this much time'
complete -c cordon -n '__cordon_in_sandbox create' -r -l rootfs -d 'a directory or an image as the root'
complete -c cordon -n '__cordon_in_sandbox create' -r -l tmpfs -d 'an empty directory in memory'
complete -c cordon -n '__cordon_in_sandbox create exec' -f -l tty -d 'a terminal of its own'
complete -c cordon -n '__cordon_in_sandbox create' -x -l user -d 'run as this user'
complete -c cordon -n '__cordon_in_sandbox create' -r -l write -d 'let the program change this path'

set -l action '__fish_seen_subcommand_from policy; and __fish_is_nth_token 2'
complete -c cordon -f -n $action -a 'check explain show'

set -l batch __cordon_in_batch
complete -c cordon -n $batch -x -l jobs -a '1 2 4 8 16' -d 'programs that run at once'
complete -c cordon -n $batch -r -l results -d 'write the results to a file'
complete -c cordon -n $batch -f -l resume -d 'go on where the batch was stopped'
complete -c cordon -n $batch -f -l keep-going -d 'a line that is no request gets an error as its result'
complete -c cordon -n $batch -x -l capture -a '64K 1M 16M' -d 'bytes of each stream to keep'
complete -c cordon -n $batch -x -l deadline -a '1m 10m 1h' -d 'start nothing any more after this'
complete -c cordon -n $batch -f -l quiet -d 'neither progress nor summary'
complete -c cordon -n $batch -f -l progress -d 'progress even if stderr is no terminal'
complete -c cordon -n $batch -F

# What one program or a whole batch may have.
set -l either '__cordon_in_run_options; or __cordon_in_batch'
set -l run __cordon_in_run_options
set -l captures '__cordon_in_run_options; and test (commandline -opc)[2] != mcp'
set -l told '__cordon_in_run_options; and not string match -q -- "mcp run" (commandline -opc)[2]" "(commandline -opc)[3]'
set -l kept '__cordon_in_run_options; and not string match -q -- "mcp serve" (commandline -opc)[2]" "(commandline -opc)[3]'
set -l served '__cordon_in_run_options; and string match -q -- "mcp serve" (commandline -opc)[2]" "(commandline -opc)[3]'
complete -c cordon -n $served -x -l listen -a '127.0.0.1:8808 unix:' -d 'where'
complete -c cordon -n $served -x -l as -d 'what the server is called in the path'
complete -c cordon -n $served -f -l all -d 'all servers of the file'
complete -c cordon -n $served -r -l token-file -d 'clients must send what is in this file'
complete -c cordon -n $served -x -l allow-host -d 'a further name that it is called by'
complete -c cordon -n $served -x -l allow-origin -d 'pages of this origin may use it'
complete -c cordon -n $served -f -l allow-remote -d 'the address may be one that others reach'
complete -c cordon -n $served -x -l idle -a '10m 30m 1h none' -d 'end a session that nobody uses for so long'
complete -c cordon -n $served -x -l poll -a '1s 10s' -d 'close the stream of an answer that takes longer'
complete -c cordon -n $served -x -l max-sessions -d 'at once'
complete -c cordon -n $served -x -l spare -d 'processes started ahead for each server'
complete -c cordon -n $served -f -l shared -d 'one process for all sessions'
complete -c cordon -n $served -x -l max-body -a '1M 4M 16M' -d 'of a request'
complete -c cordon -n $served -x -l max-rate -d 'requests a second'
set -l server '__cordon_in_run_options; and test (commandline -opc)[2] = mcp'
complete -c cordon -n $server -r -l config -d "take the server from a client's file"
complete -c cordon -n $server -x -l name -d 'the one of this name there'
complete -c cordon -n $server -x -l set -d 'what the server leaves to be said, KEY=VALUE'
complete -c cordon -n $server -x -l package -a 'npm pypi nuget mcpb' -d 'of a server.json'
complete -c cordon -n $server -r -l srt -d 'grant what these settings allow'
set -l inspect '__cordon_in_run_options; and test (commandline -opc)[2] = mcp; and test (commandline -opc)[3] = inspect'
complete -c cordon -n $server -x -l allow-tool -d 'only tools of this name may be called'
complete -c cordon -n $server -x -l deny-tool -d 'tools of this name may not be called'
complete -c cordon -n $inspect -x -l call -d 'call this tool and print its result'
complete -c cordon -n $inspect -x -l arg -d 'with this argument'
complete -c cordon -n $inspect -x -l args -d 'with all of these, an object'
complete -c cordon -n $inspect -x -l wait -a '5s 30s 2m' -d 'for each answer'
complete -c cordon -n $either -x -l timeout -a '10s 1m 5m none' -d 'end the run after this much time'
complete -c cordon -n $either -x -l grace -a '1s 5s 10s' -d 'time between SIGTERM and SIGKILL'
complete -c cordon -n $either -x -l cpu-time -a '1s 10s 1m' -d 'end the run after this much processor time'
complete -c cordon -n $either -x -l cpus -a '0.5 1 2' -d 'processors it may keep busy'
complete -c cordon -n $either -x -l memory -a '64M 512M 1G' -d 'memory the program may use'
complete -c cordon -n $either -x -l pids -d 'processes and threads alive at once'
complete -c cordon -n $either -f -l pids-kill -d 'end the run at --pids'
complete -c cordon -n $either -x -l files -d 'open file descriptors in one process'
complete -c cordon -n $either -x -l file-size -a '64M 512M 1G' -d 'size of any one file the program writes'
complete -c cordon -n $either -x -l output -a '64K 1M 64M' -d 'end the run when it writes more than this'
complete -c cordon -n $either -x -l audit -a '(__fish_complete_directories)' -d 'record the run in this directory'
complete -c cordon -n $either -r -l audit-key -d 'seal the records with this key'
complete -c cordon -n $either -r -l read -d 'let the program read this path'
complete -c cordon -n $either -r -l write -d 'let the program change this path'
complete -c cordon -n $either -r -l bind -d 'let the program see SRC as DST'
complete -c cordon -n $either -x -l tmpfs -a '(__fish_complete_directories)' -d 'an empty directory in memory'
complete -c cordon -n $either -x -l user -a '(__fish_complete_users)' -d 'run as this user'
complete -c cordon -n $either -x -l net -a 'none loopback host' -d 'the network of the program'
complete -c cordon -n $either -f -l no-unix -d 'no unix sockets but socketpair'
complete -c cordon -n $run -r -l rootfs -d 'a directory or an image as the root'
complete -c cordon -n $run -x -l secret -d 'give the program a secret, NAME=SOURCE'
complete -c cordon -n $captures -f -l redact -d 'take secrets out of all output'
complete -c cordon -n $run -f -l no-redact -d 'leave captured output as it is'
complete -c cordon -n $run -f -l workdir -d 'run in a fresh private directory'
complete -c cordon -n $run -x -l cache -a '(__fish_complete_directories)' -d 'make it below this directory'
complete -c cordon -n $run -f -l keep -d 'do not remove it afterwards'
complete -c cordon -n $kept -x -l collect -d 'copy files that match out of it'
complete -c cordon -n $kept -x -l into -a '(__fish_complete_directories)' -d 'where collected files go'
complete -c cordon -n $kept -x -l collect-limit -a '64M 512M 1G' -d 'most bytes to be collected'
complete -c cordon -n $captures -x -l transport -a 'stdio http' -d 'how the program talks'
complete -c cordon -n $kept'; and not contains -- inspect (commandline -opc)[3]' -r -l log -d 'add the output to a file, line by line'
complete -c cordon -n $either -r -l policy -d 'allow no more than this file'
complete -c cordon -n $either -x -l profile -d 'allow no more than this profile'
complete -c cordon -n $run -r -l manifest -d 'run what this file names'
complete -c cordon -n $either -x -l cwd -a '(__fish_complete_directories)' -d 'run in this directory'
complete -c cordon -n $either -x -l env -a '(set -nx)' -d 'set a variable'
complete -c cordon -n $either -x -l env-pass -a '(set -nx)' -d 'pass on variables by pattern'
complete -c cordon -n $run -x -l pool -a 'auto off only' -d 'whether your pool runs it'
complete -c cordon -n $run -x -l reuse -d 'use what earlier runs of this tenant left'
complete -c cordon -n $either -x -l backend -a 'auto linux gvisor posix' -d 'what runs the program'
complete -c cordon -n $either -x -l cgroup-parent -d 'make control groups below this one'
complete -c cordon -n $either -x -l require -a '(__cordon_guarantees)' -d 'do not run unless these are enforced'
complete -c cordon -n $told -f -l json -d 'capture the output and print one JSON object'
complete -c cordon -n $either -f -l explain -d 'say what the program was refused'
complete -c cordon -n $kept'; and contains (commandline -opc)[2] run mcp' -r -l report \
    -d 'write the outcome to a file'
complete -c cordon -n $either -f -l help -d 'print the help'
complete -c cordon -n $run -f -a '(__fish_complete_command)'
complete -c cordon -n '__fish_seen_subcommand_from run plan; and not __cordon_in_run_options' -F
