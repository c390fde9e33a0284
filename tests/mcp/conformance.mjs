// The official conformance suite against a bridge with the fixture behind it.
//
//   conformance [BRIDGE|URL [ERA]]   BRIDGE: cordon (default), supergateway, mcp-proxy
//                                    ERA: of the protocol that the fixture speaks, old, modern, both
//
// Counts checks, not scenarios: one without any check counts as passed there. What is not scored
// for a revision of the protocol (extensions) does not count here. Fails below what is required.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { startBridge } from './lib/bridges.mjs';
import { fixture, node, packageFile } from './lib/parts.mjs';

const suites = [
  {
    name: '0.1.16, all',
    packageName: 'conformance',
    args: ['--suite', 'all'],
    required: { both: [47, 0], old: [47, 0] },
  },
  {
    name: '0.2.0-alpha.12, 2025-11-25',
    packageName: 'conformance-next',
    args: ['--suite', 'all', '--spec-version', '2025-11-25'],
    required: { both: [84, 0], old: [84, 0] },
  },
  {
    name: '0.2.0-alpha.12, 2026-07-28',
    packageName: 'conformance-next',
    args: ['--requirements', '2026-07-28', '--timeout', '8000'],
    scoredFor: '2026-07-28',
    // A server of the old era cannot choose what its questions are called, nor ask only what a
    // client of the new one can answer: it learns that once, from the bridge.
    required: { both: [120, 0], old: [116, 2] },
  },
];

// The names of a list in the package's own file of what a revision requires.
function scored(revision) {
  const file = packageFile('conformance-next', 'requirements', `${revision}.yaml`);
  const names = new Set();
  let inside = false;
  for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
    if (/^\S/.test(line) && !line.startsWith('#')) inside = line.startsWith('server:');
    const item = /^ {2}- (\S+)\s*$/.exec(line);
    if (inside && item) names.add(item[1]);
  }
  return names;
}

const run = (args, log) =>
  new Promise((resolve, reject) => {
    const out = fs.openSync(log, 'w');
    const child = spawn(node, args, { stdio: ['ignore', out, out] });
    child.on('error', reject);
    child.on('exit', resolve);
  });

// Of the files that a run has left: one folder for each scenario, "server-NAME-TIME".
function count(folder, wanted) {
  const found = { passed: 0, failed: [], warned: [] };
  for (const entry of fs.readdirSync(folder).sort()) {
    const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(entry)?.[1] ?? entry;
    if (wanted && !wanted.has(scenario)) continue;
    const checks = JSON.parse(fs.readFileSync(path.join(folder, entry, 'checks.json'), 'utf8'));
    for (const check of checks) {
      const text = `${scenario}: ${check.id} (${check.name}): ${check.errorMessage ?? ''}`;
      if (check.status === 'SUCCESS') found.passed += 1;
      if (check.status === 'FAILURE') found.failed.push(text);
      if (check.status === 'WARNING') found.warned.push(text);
    }
  }
  return found;
}

async function main() {
  const [bridge = 'cordon', era = 'both'] = process.argv.slice(2);
  const out = fs.mkdtempSync(path.join(os.tmpdir(), 'cordon-conformance-'));
  const started =
    bridge.startsWith('http:')
      ? { url: bridge, stop: async () => {} }
      : await startBridge(bridge, [fixture, '--era', era], {
          // Streams are closed after a while, so that it can be seen that clients may come again.
          serve: ['--poll', '200ms'],
          run: ['--read', path.dirname(fixture)],
        });
  let good = true;
  console.log('| suite | passed | failed | required |\n| --- | ---: | ---: | ---: |');
  const notes = [];
  for (const suite of suites) {
    const folder = path.join(out, suite.packageName + suite.args.at(-1));
    fs.mkdirSync(folder);
    await run(
      [packageFile(suite.packageName, 'dist', 'index.js'), 'server', '--url', started.url,
       ...suite.args, '-o', folder],
      `${folder}.log`,
    );
    const { passed, failed, warned } = count(folder, suite.scoredFor && scored(suite.scoredFor));
    const [passes, failures] = suite.required[era] ?? suite.required.both;
    const met = passed >= passes && failed.length <= failures;
    console.log(`| ${suite.name} | ${passed} | ${failed.length} | ${passes} |`);
    notes.push(...failed.map((text) => `failed, ${suite.name}: ${text}`));
    notes.push(...warned.map((text) => `warning, ${suite.name}: ${text}`));
    if (!met) notes.push(`${suite.name}: below what is required; see ${folder}.log`);
    good &&= met;
  }
  await started.stop();
  console.log(['', ...notes].join('\n'));
  if (good) fs.rmSync(out, { recursive: true });
  process.exitCode = good ? 0 : 1;
}

await main();
