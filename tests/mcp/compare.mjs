// Cordon's bridge beside others from npm: what each does with strangers, with forgotten sessions, and
// with a server that does not want to end. Prints a table; nobody fails.
//
//   compare [BRIDGE…]   cordon, supergateway, mcp-proxy (default: all)
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { bridges, startBridge } from './lib/bridges.mjs';
import { connectedForGood } from './lib/client.mjs';
import { StreamableHTTPClientTransport, fixture } from './lib/parts.mjs';
import { running, until } from './lib/processes.mjs';

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
});

// fetch() sets Host and Origin itself.
const status = (url, headers) =>
  new Promise((resolve, reject) => {
    const request = http.request(
      url,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      },
    );
    request.on('error', reject);
    request.end(initialize);
  });

// Whether it listens for others than this host.
function everyAddress(port) {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = ['tcp', 'tcp6'].flatMap((name) =>
    fs.readFileSync(`/proc/net/${name}`, 'utf8').split('\n'));
  return lines.some((line) => {
    const [, local, , state] = line.trim().split(/\s+/);
    return state === '0A' && /^0+:/.test(local) && local.endsWith(`:${wanted}`);
  });
}

const resident = (pid) =>
  Number(/^VmRSS:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

async function withServer(use) {
  const folder = fs.mkdtempSync('/var/tmp/cordon-mcp-');
  fs.chmodSync(folder, 0o755);
  const program = path.join(folder, 'server');
  fs.copyFileSync(fixture, program);
  try {
    return await use(program, { run: ['--read', folder] });
  } finally {
    for (const { pid } of running(program)) process.kill(pid, 'SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

const connect = (bridge) =>
  connectedForGood(new StreamableHTTPClientTransport(new URL(bridge.url)));

const strangers = (name) =>
  withServer(async (program, { run }) => {
    const bridge = await startBridge(name, [program], { run });
    const answers = {
      host: await status(bridge.url, { host: 'evil.example.com' }),
      origin: await status(bridge.url, { origin: 'http://evil.example.com' }),
      addresses: everyAddress(Number(new URL(bridge.url).port)) ? 'every' : 'loopback',
    };
    await bridge.stop();
    return answers;
  });

const forgotten = (name) =>
  withServer(async (program, { run }) => {
    const bridge = await startBridge(name, [program], {
      run,
      serve: name === 'cordon' ? ['--idle', '2s'] : [],
    });
    for (let i = 0; i < 33; ++i) await (await connect(bridge)).close();
    const before = running(program).length;
    await sleep(5000);
    const result = { before, after: running(program).length, memory: resident(bridge.pid) };
    await bridge.stop();
    return result;
  });

const stubborn = (name, signal) =>
  withServer(async (program, { run }) => {
    const bridge = await startBridge(name, [program, '--behave', 'ignore-eof', '--behave', 'fork'], {
      run,
      serve: name === 'cordon' ? ['--grace', '500ms'] : [],
    });
    const client = await connect(bridge);
    await client.close();
    process.kill(bridge.pid, signal);
    await bridge.ended;
    await until(() => running(program).length === 0, 5000);
    return running(program).length;
  });

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(bridges);
const rows = [
  ['', ...names],
  ['---', ...names.map(() => '---')],
  ...['foreign Host', 'foreign Origin', 'listens on', 'servers after 33 forgotten sessions',
      '… 5 s later', 'memory then, MB', 'processes left by a stubborn server, bridge ended',
      '… bridge killed'].map((title) => [title]),
];
for (const name of names) {
  const one = await strangers(name);
  const two = await forgotten(name);
  const values = [one.host, one.origin, one.addresses, two.before, two.after,
                  Math.round(two.memory), await stubborn(name, 'SIGTERM'),
                  await stubborn(name, 'SIGKILL')];
  values.forEach((value, index) => rows[index + 2].push(value));
}
for (const row of rows) console.log(`| ${row.join(' | ')} |`);
