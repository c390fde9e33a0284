// The parts that the tests of MCP are made of, and where they are.
import { createRequire } from 'node:module';
import path from 'node:path';

export const parts = process.env.CORDON_MCP_PARTS;
export const node = process.execPath;
export const cordon = process.env.CORDON_COMMAND;
export const fixture = process.env.CORDON_MCP_FIXTURE;

const require = createRequire(path.join(parts, 'package.json'));
export const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
export const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
export const { StreamableHTTPClientTransport } =
  require('@modelcontextprotocol/sdk/client/streamableHttp.js');
export const types = require('@modelcontextprotocol/sdk/types.js');

export const packageFile = (...names) => path.join(parts, 'node_modules', ...names);
export const officialServer = (name) =>
  packageFile('@modelcontextprotocol', `server-${name}`, 'dist', 'index.js');
