/** Scrapes one after the other, with a pause, in a process of its own, and sends their durations in milliseconds. */
import { on } from 'node:events';
import { sleep } from './statistics.mjs';

const PAUSE_MS = 5;

process.send('ready');
for await (const [{ url, durationMs }] of on(process, 'message')) {
  const durations = [];
  const end = performance.now() + durationMs;
  while (performance.now() < end) {
    const sentAt = performance.now();
    await (await fetch(url, { headers: { 'Accept-Encoding': 'identity' } })).arrayBuffer();
    durations.push(performance.now() - sentAt);
    await sleep(PAUSE_MS);
  }
  process.send(durations);
}
