// A server that ignores the end of its stdin and SIGTERM and has a child that left its session, and
// kill -9 of the client, of Cordon or of the server: nothing of it survives.
//
// CORDON_SOAK_MCP_KILLS  how often, all kinds together (6)
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { startBridge } from './lib/bridges.mjs';
import { cordon, fixture, node } from './lib/parts.mjs';
import { running, until, withText } from './lib/processes.mjs';

const kills = Number(process.env.CORDON_SOAK_MCP_KILLS ?? 6);
const holder = new URL('lib/holder.mjs', import.meta.url).pathname;
const soon = 20_000;

// A copy of the fixture by whose path all that belongs to one round is known.
async function withServer(use) {
  const folder = fs.mkdtempSync('/var/tmp/cordon-mcp-');
  fs.chmodSync(folder, 0o755);
  const program = path.join(folder, 'server');
  fs.copyFileSync(fixture, program);
  const stubborn = [program, '--behave', 'ignore-eof', '--behave', 'fork'];
  try {
    return await use({ folder, program, stubborn });
  } finally {
    for (const { pid } of withText(folder)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function startHolder(args) {
  const child = spawn(node, [holder, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const ready = Promise.race([
    new Promise((resolve) => child.stdout.once('data', () => resolve(true))),
    ended.then(() => false),
    sleep(soon, false, { ref: false }),
  ]);
  return { child, ended, ready };
}

// Half of them once everything is up, half of them at some moment before.
async function someMoment(client) {
  if (Math.random() < 0.5) return sleep(Math.random() * 300);
  assert.ok(await client.ready, 'the client never got an answer');
}

const killAll = (list) => {
  for (const { pid } of list) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
};

async function assertNothingSurvives(text, except = 0) {
  const left = () => withText(text).filter(({ pid }) => pid !== except);
  const clean = await until(() => left().length === 0, soon);
  assert.ok(clean, `survivors: ${JSON.stringify(left())}`);
}

// The first process of those that the text tells, once there is one.
async function kill(list) {
  assert.ok(await until(() => list().length > 0, soon), 'what is to be killed never came');
  killAll(list().slice(0, 1));
}

// Over stdio: the client is the parent of Cordon.
async function roundOfRun(kind) {
  await withServer(async ({ folder, program, stubborn }) => {
    const client = startHolder(['run', cordon, 'mcp', 'run', '--grace', '100ms', '--read', folder,
                                '--', ...stubborn]);
    try {
      await someMoment(client);
      if (kind === 'run, client') {
        client.child.kill('SIGKILL');
        return await assertNothingSurvives(folder);
      }
      const parent = client.child.pid;
      await kill(kind === 'run, cordon'
        ? () => withText(folder).filter((one) => one.parent === parent)
        : () => running(program));
      // The client is still there: it is not its end that ends them.
      await assertNothingSurvives(program, parent);
    } finally {
      client.child.kill('SIGKILL');
      await client.ended;
    }
    await assertNothingSurvives(folder);
  });
}

async function roundOfServe(kind) {
  await withServer(async (server) => {
    const bridge = await startBridge('cordon', server.stubborn, {
      serve: ['--idle', '500ms', '--grace', '100ms'],
      run: ['--read', server.folder],
    });
    const client = startHolder(['serve', bridge.url]);
    try {
      await someMoment(client);
      if (kind === 'serve, client') {
        client.child.kill('SIGKILL');
        const gone = await until(() => running(server.program).length === 0, soon);
        assert.ok(gone, `survivors: ${JSON.stringify(running(server.program))}`);
      } else if (kind === 'serve, server') {
        await kill(() => running(server.program));
      } else {
        process.kill(bridge.pid, 'SIGKILL');
        await assertNothingSurvives(server.program);
      }
    } finally {
      client.child.kill('SIGKILL');
      await client.ended;
      await bridge.stop();
    }
    await assertNothingSurvives(server.folder);
  });
}

const kinds = ['run, client', 'run, cordon', 'run, server', 'serve, client', 'serve, cordon',
               'serve, server'];

test('without Cordon such a server outlives its client', async () => {
  await withServer(async ({ program, stubborn }) => {
    const client = startHolder(['run', ...stubborn]);
    assert.ok(await client.ready);
    client.child.kill('SIGKILL');
    await client.ended;
    await sleep(500);
    assert.equal(running(program).length, 2);
  });
});

kinds.forEach((kind, index) => {
  const count = Math.floor((kills + kinds.length - 1 - index) / kinds.length);
  test(`nothing survives kill -9 of ${kind}, ${count} times`, async () => {
    for (let i = 0; i < count; ++i) {
      await (kind.startsWith('run') ? roundOfRun(kind) : roundOfServe(kind));
    }
  });
});
