// A client to be killed: connects, says "ready", and stays.
//   holder run COMMAND…    over stdio, with the command as its child
//   holder serve URL       over HTTP
import { connectedForGood } from './client.mjs';
import { StdioClientTransport, StreamableHTTPClientTransport } from './parts.mjs';

const [how, ...rest] = process.argv.slice(2);
const transport =
  how === 'run'
    ? new StdioClientTransport({ command: rest[0], args: rest.slice(1), stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(rest[0]));
await connectedForGood(transport);
console.log('ready');
setInterval(() => {}, 1 << 30);
