// Servers from npm behind `cordon mcp serve`, asked by the official SDK over HTTP: all that they
// have is the same as without Cordon, over stdio.
//
//   servers_http [BRIDGE]   cordon (default), or one of its peers, to see what they make of it
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startBridge } from './lib/bridges.mjs';
import { connected } from './lib/client.mjs';
import { ask, assertSame } from './lib/compare.mjs';
import { StdioClientTransport, StreamableHTTPClientTransport } from './lib/parts.mjs';
import { prepared, servers } from './lib/servers.mjs';

const bridge = process.argv[2] ?? 'cordon';

async function overHttp(server) {
  return prepared(server, async ({ command, options, env, folder }) => {
    const wrapped =
      bridge === 'cordon'
        ? command
        : ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command];
    const started = await startBridge(bridge, wrapped, { run: options });
    try {
      return await connected(new StreamableHTTPClientTransport(new URL(started.url)), (client) =>
        ask(client, server, folder),
      );
    } finally {
      await started.stop();
    }
  });
}

const overStdio = (server) =>
  prepared(server, ({ command, env, folder }) =>
    connected(
      new StdioClientTransport({ command: command[0], args: command.slice(1), env, stderr: 'ignore' }),
      (client) => ask(client, server, folder),
    ),
  );

for (const server of servers) {
  test(`server-${server.name} says the same over HTTP`, async () => {
    const [direct, bridged] = await Promise.all([overStdio(server), overHttp(server)]);
    const variables = assertSame(direct, bridged);
    if (variables.sandboxed !== undefined && bridge === 'cordon') {
      assert.equal(variables.sandboxed.CORDON_MCP_PARTS, undefined);
    }
  });
}
