// Sessions that clients open over HTTP and then forget: each has a server of its own, and after the
// idle time only the spare ones are left.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { startBridge } from './lib/bridges.mjs';
import { connectedForGood, newClient } from './lib/client.mjs';
import { StreamableHTTPClientTransport, fixture } from './lib/parts.mjs';
import { running, until } from './lib/processes.mjs';

const soon = 30_000;

async function served(serve, use) {
  const folder = fs.mkdtempSync('/var/tmp/cordon-mcp-');
  fs.chmodSync(folder, 0o755);
  const program = path.join(folder, 'server');
  fs.copyFileSync(fixture, program);
  const bridge = await startBridge('cordon', [program], { serve, run: ['--read', folder] });
  const connect = () => connectedForGood(new StreamableHTTPClientTransport(new URL(bridge.url)));
  try {
    return await use({ count: () => running(program).length, connect, url: bridge.url });
  } finally {
    await bridge.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

test('33 sessions dropped leave the spare servers alone', async () => {
  await served(['--idle', '2s', '--spare', '2'], async ({ count, connect }) => {
    assert.ok(await until(() => count() === 2, soon), `${count()} servers before any session`);
    const clients = [];
    for (let i = 0; i < 33; ++i) clients.push(await connect());
    assert.ok(count() >= 33, `${count()} servers for 33 sessions`);
    // Closed without a word to the server.
    for (const client of clients) await client.close();
    assert.ok(await until(() => count() === 2, soon), `${count()} servers after the idle time`);
  });
});

test('a session that its client ends takes its server with it', async () => {
  await served(['--idle', '1h'], async ({ count, url }) => {
    const client = newClient();
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);
    const before = count();
    await transport.terminateSession();
    await client.close();
    assert.ok(await until(() => count() < before, soon), `${count()} servers are left`);
  });
});
