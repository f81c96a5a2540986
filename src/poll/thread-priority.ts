import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Before a poll, which can wait, comes a scrape, which cannot. */
const NICENESS = 10;

/** Of Linux; elsewhere a priority is that of the whole process. */
const PROCESS = '/proc/self';

/** Lets every other thread go before the one that calls. */
export function giveWay(): void {
  if (existsSync(PROCESS)) setPriority(NICENESS);
}

/**
 * Lets the main thread go before all others there are. At the start these are the ones on which V8 collects and compiles; those
 * that are started later are not touched.
 */
export function letMainGoFirst(): void {
  if (!existsSync(PROCESS)) return;
  const main = readlinkSync(PROCESS);
  for (const thread of readdirSync(`${PROCESS}/task`)) {
    if (thread === main) continue;
    try {
      setPriority(Number(thread), NICENESS);
    } catch {
      // It has ended meanwhile.
    }
  }
}
