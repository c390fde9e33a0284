// The servers from npm: how each is started, what it is granted, and how each of its tools is called.
import fs from 'node:fs';
import path from 'node:path';

import { node, officialServer, parts } from './parts.mjs';

const everything = {
  name: 'everything',
  prepare: () => ({ args: [officialServer('everything')], grants: [], env: {} }),
  calls: () => ({
    echo: { message: 'hello' },
    'get-annotated-message': { messageType: 'error', includeImage: true },
    'get-env': {},
    'get-resource-links': { count: 2 },
    'get-resource-reference': { resourceType: 'Text', resourceId: 1 },
    'get-structured-content': { location: 'Chicago' },
    'get-sum': { a: 2, b: 3 },
    'get-tiny-image': {},
    'gzip-file-as-resource': {
      name: 'a.gz',
      data: 'data:text/plain;base64,aGVsbG8=',
      outputType: 'resource',
    },
    'toggle-simulated-logging': {},
    'toggle-subscriber-updates': {},
    'trigger-long-running-operation': { duration: 0.2, steps: 2 },
    'get-roots-list': {},
    'trigger-elicitation-request': {},
    'trigger-url-elicitation': { url: 'https://example.com/', elicitationId: 'one' },
    'trigger-sampling-request': { prompt: 'hello', maxTokens: 10 },
    'simulate-research-query': { topic: 'sandboxes' },
  }),
  // Resources that are made on the fly say when, and tasks have a number.
  normal: (text) =>
    text
      .replace(/\d{1,2}:\d\d:\d\d\s?[AP]M/g, 'TIME')
      .replace(/"taskId":"[^"]*"/g, '"taskId":"ID"'),
};

const memory = {
  name: 'memory',
  prepare: (folder) => ({
    args: [officialServer('memory')],
    grants: ['--write', folder],
    env: { MEMORY_FILE_PATH: path.join(folder, 'memory.jsonl') },
  }),
  calls: () => ({
    create_entities: {
      entities: [
        { name: 'one', entityType: 'number', observations: ['is odd', 'is small'] },
        { name: 'two', entityType: 'number', observations: ['is even'] },
      ],
    },
    create_relations: { relations: [{ from: 'one', to: 'two', relationType: 'precedes' }] },
    add_observations: { observations: [{ entityName: 'two', contents: ['is prime'] }] },
    search_nodes: { query: 'prime' },
    open_nodes: { names: ['one'] },
    read_graph: {},
    delete_observations: { deletions: [{ entityName: 'one', observations: ['is small'] }] },
    delete_relations: { relations: [{ from: 'one', to: 'two', relationType: 'precedes' }] },
    delete_entities: { entityNames: ['one'] },
  }),
  normal: (text) => text,
};

const filesystem = {
  name: 'filesystem',
  prepare: (folder) => {
    fs.mkdirSync(path.join(folder, 'sub'));
    fs.writeFileSync(path.join(folder, 'a.txt'), 'first\nsecond\nthird\n');
    fs.writeFileSync(path.join(folder, 'sub', 'b.txt'), 'inner\n');
    fs.writeFileSync(path.join(folder, 'dot.png'), Buffer.from('89504e47', 'hex'));
    return { args: [officialServer('filesystem'), folder], grants: ['--write', folder], env: {} };
  },
  calls: (folder) => {
    const at = (name) => path.join(folder, name);
    return {
      list_allowed_directories: {},
      read_file: { path: at('a.txt') },
      read_text_file: { path: at('a.txt'), head: 1 },
      read_media_file: { path: at('dot.png') },
      read_multiple_files: { paths: [at('a.txt'), at('sub/b.txt')] },
      write_file: { path: at('c.txt'), content: 'new\n' },
      edit_file: { path: at('c.txt'), edits: [{ oldText: 'new', newText: 'newer' }] },
      create_directory: { path: at('made') },
      list_directory: { path: folder },
      list_directory_with_sizes: { path: folder, sortBy: 'size' },
      directory_tree: { path: folder },
      move_file: { source: at('c.txt'), destination: at('made/d.txt') },
      search_files: { path: folder, pattern: '**/*.txt' },
      get_file_info: { path: at('a.txt') },
    };
  },
  normal: (text) => text.replace(/(created|modified|accessed): [^\\"]*/g, '$1: TIME'),
};

export const servers = [everything, memory, filesystem];

// Ready to be started: in a folder of its own, which is there for the time of `use`.
export async function prepared(server, use) {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync('/var/tmp'), 'cordon-mcp-'));
  fs.chmodSync(folder, 0o777);
  try {
    const { args, grants, env } = server.prepare(folder);
    return await use({
      folder,
      command: [node, ...args],
      env,
      // The same under Cordon: it sees its own code, and what it is granted.
      options: [
        '--read',
        parts,
        ...grants,
        ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ],
    });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
