// What a server says to a client that asks for everything it has.
import assert from 'node:assert/strict';

import { callTool } from './client.mjs';

const orNone = async (asked) => {
  try {
    return await asked;
  } catch (error) {
    return { thrown: error.message };
  }
};

export async function ask(client, server, folder) {
  const calls = server.calls(folder);
  // Some tools appear once the server knows what its client can do.
  const listed = async () => (await client.listTools()).tools;
  let tools = await listed();
  for (let i = 0; i < 50 && tools.length < Object.keys(calls).length; ++i) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    tools = await listed();
  }
  assert.deepEqual(tools.map((tool) => tool.name).sort(), Object.keys(calls).sort());

  const results = {};
  for (const [name, args] of Object.entries(calls)) {
    results[name] = await callTool(client, tools.find((tool) => tool.name === name), args);
  }
  const said = {
    version: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    tools,
    prompts: await orNone(client.listPrompts()),
    resources: await orNone(client.listResources()),
    results,
  };
  return JSON.parse(server.normal(JSON.stringify(said).replaceAll(folder, '/FOLDER')));
}

// Two that say the same, apart from the variables that each has.
export function assertSame(one, other) {
  const variables = (said) => {
    const env = said.results['get-env'];
    delete said.results['get-env'];
    return env === undefined ? undefined : JSON.parse(env.content[0].text);
  };
  const direct = variables(one);
  const sandboxed = variables(other);
  assert.deepEqual(other, one);
  for (const [name, result] of Object.entries(one.results)) {
    assert.ok(result.thrown === undefined && !result.isError, `${name}: ${JSON.stringify(result)}`);
  }
  return { direct, sandboxed };
}
