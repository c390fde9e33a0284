// `cordon mcp serve` with many sessions at once, and with many calls: all are answered, the bridge
// takes no more descriptors for a session than it says, and its memory stays what it was.
//
//   load [sessions|calls]   one of the two, else both
// CORDON_SOAK_MCP_SESSIONS  at once (40)
// CORDON_SOAK_MCP_CALLS     (4000)
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';

import { startBridge } from './lib/bridges.mjs';
import { fixture } from './lib/parts.mjs';
import { running } from './lib/processes.mjs';

const other = (kind) => process.argv[2] !== undefined && process.argv[2] !== kind;
const sessions = Number(process.env.CORDON_SOAK_MCP_SESSIONS ?? 40);
const calls = Number(process.env.CORDON_SOAK_MCP_CALLS ?? 4000);
const descriptorsOfASession = 17; // one of them the connection
const mostGrowth = 4; // megabytes

async function served(options, use) {
  const folder = fs.mkdtempSync('/var/tmp/cordon-mcp-');
  fs.chmodSync(folder, 0o755);
  const program = path.join(folder, 'server');
  fs.copyFileSync(fixture, program);
  const bridge = await startBridge('cordon', [program], { serve: options, run: ['--read', folder] });
  try {
    return await use({ bridge, count: () => running(program).length });
  } finally {
    await bridge.stop();
    assert.equal(running(program).length, 0, 'servers are left');
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

// A connection of its own, as every client has.
class Session {
  constructor(url) {
    this.url = new URL(url);
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    this.headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    this.last = 0;
  }

  post(message) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return new Promise((resolve, reject) => {
      const request = http.request(
        this.url,
        { method: 'POST', agent: this.agent, headers: { ...this.headers, 'content-length': body.length } },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part) => (text += part));
          response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
          response.on('error', reject);
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }

  async open() {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'load', version: '1' } };
    const begun = await this.post({ id: ++this.last, method: 'initialize', params });
    assert.equal(begun.status, 200, begun.text);
    this.headers['mcp-session-id'] = begun.headers['mcp-session-id'];
    await this.post({ method: 'notifications/initialized' });
    return this;
  }

  async call() {
    const id = ++this.last;
    const said = `call ${id}`;
    const params = { name: 'echo', arguments: { message: said } };
    const answer = await this.post({ id, method: 'tools/call', params });
    if (answer.status !== 200 || !answer.text.includes(said)) {
      assert.fail(`call ${id}: ${answer.status} ${answer.text}`);
    }
  }

  close() {
    this.agent.destroy();
  }
}

const descriptors = ({ pid }) => fs.readdirSync(`/proc/${pid}/fd`).length;
const megabytes = ({ pid }) =>
  Number(/^VmRSS:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

test(`${sessions} sessions at once are all answered`, { skip: other('sessions') }, async () => {
  await served(['--max-sessions', String(sessions), '--spare', '0'], async ({ bridge, count }) => {
    const first = await new Session(bridge.url).open();
    const open = [first];
    await first.call();
    const before = descriptors(bridge);
    const begin = Date.now();
    // Some at a time, as many clients would come.
    while (open.length < sessions) {
      const more = Math.min(8, sessions - open.length);
      open.push(...(await Promise.all(Array.from({ length: more }, () => new Session(bridge.url).open()))));
    }
    const opened = Date.now() - begin;
    assert.equal(count(), sessions);
    await Promise.all(open.map((session) => session.call()));
    const each = (descriptors(bridge) - before) / Math.max(sessions - 1, 1);
    console.log(
      `figure: ${sessions} sessions opened in ${(opened / 1000).toFixed(1)} s; ` +
        `${each.toFixed(1)} descriptors and ${(megabytes(bridge) / sessions).toFixed(3)} MB each`,
    );
    // What is kept ready for the next ones counts little among many.
    if (sessions >= 40) assert.ok(each <= descriptorsOfASession, `${each} descriptors a session`);
    for (const session of open) session.close();
  });
});

test(`${calls} calls leave the bridge's memory as it was`, { skip: other('calls') }, async () => {
  await served([], async ({ bridge }) => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => new Session(bridge.url).open()));
    let left = calls;
    const some = async (most) => {
      const end = Math.max(left - most, 0);
      await Promise.all(
        clients.map(async (client) => {
          while (left > end) {
            --left;
            await client.call();
          }
        }),
      );
    };
    await some(Math.ceil(calls / 10));
    const before = megabytes(bridge);
    const begin = Date.now();
    const counted = left;
    await some(left);
    const after = megabytes(bridge);
    const rate = (counted / ((Date.now() - begin) / 1000)).toFixed(0);
    console.log(
      `figure: ${calls} calls, ${rate} a second; ${before.toFixed(1)} MB after a tenth, ${after.toFixed(1)} MB after all`,
    );
    assert.ok(after - before <= mostGrowth, `${before} MB became ${after} MB`);
    for (const client of clients) client.close();
  });
});
