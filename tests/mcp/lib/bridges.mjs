// Bridges from stdio to HTTP, each started with one server: Cordon's, and its peers from npm.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { cordon, node, packageFile } from './parts.mjs';

const deadline = 20_000;

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const quoted = (word) => `'${word.replaceAll("'", `'\\''`)}'`;

export const bridges = {
  cordon: {
    path: '/server/mcp',
    command: ({ port, server, serve, run }) =>
      [cordon, 'mcp', 'serve', '--listen', `127.0.0.1:${port}`, ...serve, ...run,
      '--', ...server],
  },
  supergateway: {
    path: '/mcp',
    command: ({ port, server }) =>
      [node, packageFile('supergateway', 'dist', 'index.js'), '--stdio',
       server.map(quoted).join(' '), '--outputTransport', 'streamableHttp', '--stateful', '--port',
       String(port), '--logLevel', 'none'],
  },
  'mcp-proxy': {
    path: '/mcp',
    command: ({ port, server }) =>
      [node, packageFile('mcp-proxy', 'dist', 'bin', 'mcp-proxy.mjs'), '--port', String(port),
       '--server', 'stream','--', ...server],
  },
};

// Starts a bridge in front of the server's command and waits until it answers.
// `serve`: options of `cordon mcp serve`; `run`: what the server may do, as for `cordon mcp run`.
export async function startBridge(name, server, { serve = [], run = [], log = 'ignore' } = {}) {
  const bridge = bridges[name];
  const port = await freePort();
  const [command, ...args] = bridge.command({ port, server, serve, run });
  const child = spawn(command, args, { stdio: ['ignore', log, log] });
  const ended = new Promise((resolve) => child.on('exit', (...how) => resolve(how)));
  const url = `http://127.0.0.1:${port}${bridge.path}`;
  const begin = Date.now();
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${name} ended at once (${await ended}): ${[command, ...args].join(' ')}`);
    }
    try {
      const answer = await fetch(url, { method: 'GET', signal: AbortSignal.timeout(2000) });
      await answer.body?.cancel();
      break;
    } catch (error) {
      if (Date.now() - begin > deadline) throw new Error(`${name} does not answer: ${error}`);
      await sleep(20);
    }
  }
  return {
    url,
    pid: child.pid,
    ended,
    // Ends it as a user would.
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(late);
    },
  };
}
