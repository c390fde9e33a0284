// Servers from npm under `cordon mcp run`, asked by the official SDK over stdio: all that they have
// is the same as without Cordon.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { connected } from './lib/client.mjs';
import { ask, assertSame } from './lib/compare.mjs';
import { StdioClientTransport, cordon, officialServer, parts } from './lib/parts.mjs';
import { prepared, servers } from './lib/servers.mjs';

const stdio = (command, env = {}) =>
  new StdioClientTransport({
    command: command[0],
    args: command.slice(1),
    env: { PATH: process.env.PATH, CORDON_TEST_CANARY: 'sings', ...env },
    stderr: 'ignore',
  });

for (const server of servers) {
  test(`server-${server.name} says the same sandboxed`, async () => {
    const [direct, sandboxed] = await Promise.all([
      prepared(server, ({ command, env, folder }) =>
        connected(stdio(command, env), (client) => ask(client, server, folder)),
      ),
      prepared(server, ({ command, options, folder }) =>
        connected(stdio([cordon, 'mcp', 'run', ...options, '--', ...command]), (client) =>
          ask(client, server, folder),
        ),
      ),
    ]);
    const variables = assertSame(direct, sandboxed);
    if (variables.direct === undefined) return;
    assert.equal(variables.direct.CORDON_TEST_CANARY, 'sings');
    assert.equal(variables.sandboxed.CORDON_TEST_CANARY, undefined);
  });
}

// server-filesystem itself lets everything through when its root is /: then Cordon alone is left.
const readOutside = (wrap) =>
  prepared({ prepare: () => ({ args: [officialServer('filesystem'), '/'], grants: [], env: {} }) },
    async ({ folder, command }) => {
      const secret = path.join(folder, 'secret.txt');
      const granted = path.join(folder, 'granted');
      fs.mkdirSync(granted);
      fs.writeFileSync(secret, 'the secret\n');
      fs.writeFileSync(path.join(granted, 'fine.txt'), 'fine\n');
      fs.symlinkSync(secret, path.join(granted, 'link.txt'));
      return connected(stdio(wrap(command, granted)), async (client) => {
        const texts = [];
        for (const file of ['granted/fine.txt', 'secret.txt', 'granted/link.txt',
                            'granted/../secret.txt']) {
          const result = await client.callTool({
            name: 'read_text_file',
            arguments: { path: `${folder}/${file}` },
          });
          texts.push(result.isError ? 'error' : result.content[0].text);
        }
        const written = await client.callTool({
          name: 'write_file',
          arguments: { path: path.join(folder, 'new.txt'), content: 'x' },
        });
        return { texts, written: !written.isError && fs.existsSync(path.join(folder, 'new.txt')) };
      });
    });

test('server-filesystem without checks of its own reads and writes anything', async () => {
  assert.deepEqual(await readOutside((command) => command), {
    texts: ['fine\n', 'the secret\n', 'the secret\n', 'the secret\n'],
    written: true,
  });
});

test('server-filesystem without checks of its own cannot leave its grant', async () => {
  const wrap = (command, granted) =>
    [cordon, 'mcp', 'run', '--read', parts, '--read', granted, '--', ...command];
  assert.deepEqual(await readOutside(wrap), {
    texts: ['fine\n', 'error', 'error', 'error'],
    written: false,
  });
});
