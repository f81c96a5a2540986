/** The floor of memory: downloads and parses a document several times, and tells what that took. */
import { request } from 'undici';
import { usageOf } from './daemon.mjs';

const [url, times] = process.argv.slice(2);
let kept;
for (let time = 0; time < Number(times); time += 1) {
  const { body } = await request(url);
  kept = JSON.parse(await body.text());
}
process.send({ ...usageOf(process.pid), keys: Object.keys(kept).length });
