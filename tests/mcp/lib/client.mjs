// A client of the official SDK that can do all that a server may ask of it.
import { Client, types } from './parts.mjs';

const elicited = (schema) =>
  Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([name, property]) => {
      if (property.default !== undefined) return [name, property.default];
      if (property.enum) return [name, property.enum[0]];
      if (property.oneOf) return [name, property.oneOf[0].const];
      if (property.type === 'array') return [name, []];
      if (property.type === 'boolean') return [name, true];
      if (property.type === 'number' || property.type === 'integer') return [name, 7];
      if (property.format === 'email') return [name, 'someone@example.com'];
      if (property.format === 'uri') return [name, 'https://example.com/'];
      if (property.format === 'date') return [name, '2026-01-02'];
      if (property.format === 'date-time') return [name, '2026-01-02T03:04:05Z'];
      return [name, 'something'];
    }),
  );

export function newClient() {
  const client = new Client(
    { name: 'cordon-tests', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } } },
  );
  client.setRequestHandler(types.CreateMessageRequestSchema, async (request) => ({
    model: 'none',
    role: 'assistant',
    content: { type: 'text', text: `sampled: ${JSON.stringify(request.params.messages)}` },
  }));
  client.setRequestHandler(types.ElicitRequestSchema, async (request) =>
    request.params.mode === 'url'
      ? { action: 'accept' }
      : { action: 'accept', content: elicited(request.params.requestedSchema) },
  );
  client.setRequestHandler(types.ListRootsRequestSchema, async () => ({
    roots: [{ uri: 'file:///some/root', name: 'a root' }],
  }));
  return client;
}

// Runs `use` with a client that is connected through the transport, and closes both.
export async function connected(transport, use) {
  const client = newClient();
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await transport.terminateSession?.();
    await client.close();
  }
}

// The result of a tool, however it is to be called; an error of the protocol is a result, too.
export async function callTool(client, tool, args) {
  const params = { name: tool.name, arguments: args };
  try {
    if (tool.execution?.taskSupport !== 'required') return await client.callTool(params);
    const stream = client.experimental.tasks.callToolStream(params, types.CallToolResultSchema, {
      task: {},
    });
    for await (const message of stream) {
      if (message.type === 'result') return message.result;
      if (message.type === 'error') throw message.error;
    }
    throw new Error('the task had no result');
  } catch (error) {
    return { thrown: error.message, code: error.code };
  }
}

// Connects, and makes sure that the server answers; whoever calls keeps the client.
export async function connectedForGood(transport) {
  const client = newClient();
  await client.connect(transport);
  await client.listTools();
  return client;
}
