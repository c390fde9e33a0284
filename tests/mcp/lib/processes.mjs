// Which processes of this host are whose.
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

// Those that have the text in their command line, and are no zombies.
export function withText(text) {
  const found = [];
  for (const entry of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const command = fs.readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      if (!command.some((word) => word.includes(text))) continue;
      const status = fs.readFileSync(`/proc/${entry}/status`, 'utf8');
      if (/^State:\s*Z/m.test(status)) continue;
      found.push({ pid: Number(entry), parent: Number(/^PPid:\s*(\d+)/m.exec(status)[1]), command });
    } catch {
      // It has just ended.
    }
  }
  return found;
}

// The same, of those that run the program itself.
export const running = (program) => withText(program).filter(({ command }) => command[0] === program);

// Waits until the condition holds; false: it did not in time.
export async function until(condition, milliseconds) {
  const end = Date.now() + milliseconds;
  while (!(await condition())) {
    if (Date.now() > end) return false;
    await sleep(5);
  }
  return true;
}
