/**
 * Baseline of CPU time: the least that a daemon with these targets does. Fetches a document per target and interval, parses it with
 * JSON.parse, and serves a fixed page of metrics.
 */
import { createServer } from 'node:http';
import { request } from 'undici';
import { usageOf } from './daemon.mjs';

const [url, targets, intervalSeconds] = process.argv.slice(2);
const intervalMs = Number(intervalSeconds) * 1000;
const documents = new Map();
let polls = 0;

async function poll(target) {
  const { body } = await request(`${url}/bridge/v1/module_state`);
  documents.set(target, JSON.parse(await body.text()));
  polls += 1;
}

for (let target = 0; target < Number(targets); target += 1) {
  // Spread over the interval, like the polls of the exporter.
  setTimeout(
    () => {
      void poll(target);
      setInterval(() => void poll(target), intervalMs);
    },
    (target / Number(targets)) * intervalMs,
  );
}

process.on('message', () => process.send({ ...usageOf(process.pid), polls }));
const server = createServer((_request, response) => response.end('up 1\n'.repeat(2000)));
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}/metrics`));
