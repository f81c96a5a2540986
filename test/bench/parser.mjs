/** Baseline of memory: downloads a document and parses it with JSON.parse, several times. */
import { request } from 'undici';
import { usageOf } from './daemon.mjs';

const [url, count] = process.argv.slice(2);
let document;
for (let index = 0; index < Number(count); index += 1) {
  const { body } = await request(url);
  document = JSON.parse(await body.text());
}
process.send({ ...usageOf(process.pid), keys: Object.keys(document).length });
