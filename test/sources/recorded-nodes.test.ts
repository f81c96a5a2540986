import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { EndpointState } from '../../src/engine/endpoint-state.js';
import { decodeRecording } from '../../src/recorder/recording-file.js';
import { createRecorder } from '../../src/recorder/recorder.js';
import { readRecording } from '../../src/recorder/read-recording.js';
import { replay } from '../../src/sources/recording.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { parseValidConfig } from '../support/config.js';
import { errorPage, reset } from '../support/faults.js';
import { createTempFolder, filesBelow } from '../support/temp-folder.js';
import { pollTimes, startPolledNodes } from './polled-nodes.js';

it('has the node of each document, and the body of a poll in which all nodes failed', async () => {
  const { path: directory } = createTempFolder();
  const recorder = createRecorder(pino({ level: 'silent' }), () => polled.now());
  recorder.configure({ directory, interval: 0, max_size: 2 ** 30 });
  const polled = await startPolledNodes({ sinks: [recorder] });
  const [first, second] = polled.nodes;
  await pollTimes(polled, 2);
  first?.fault('module_state', reset);
  await pollTimes(polled, 1);
  second?.fault('module_state', errorPage);
  await pollTimes(polled, 1);
  await recorder.close();
  const recordings = filesBelow(join(directory, 'a/module_state')).map((file) =>
    decodeRecording(gunzipSync(readFileSync(file))),
  );
  const [a, b] = [polled.source(0), polled.source(1)];
  // The first document is judged again.
  const headers = recordings.map(({ header }) => [header.source, header.outcome]);
  expect(headers.slice(-4)).toEqual([
    [a, 'ok'],
    [a, 'ok'],
    [b, 'ok'],
    [b, 'not_json'],
  ]);
  const last = recordings.at(-1);
  expect(last?.header.message).toMatch(/^all nodes failed: /);
  expect(last?.body.toString()).toContain('502 Bad Gateway');

  const config = parseValidConfig(
    'recorder: {interval: 0s}\ntargets: [{name: a, bridge: {url: "http://n", node_queries: "off"}}]',
  );
  let state: EndpointState | undefined;
  const problems: string[] = [];
  const times = { fromMs: 0, toMs: 8e15 };
  const options = {
    ...times,
    target: undefined,
    maxBodyBytes: 2 ** 25,
    onProblem: (text: string) => problems.push(text),
  };
  for await (const moment of replay(readRecording(directory, options), config, { ...times, stepMs: 3_600_000 }))
    state = moment.endpoints[0]?.state ?? state;
  expect(problems).toEqual([]);
  expect(state?.nodeSwitches).toBe(1);
  expect(state && renderEndpoints([state], 'text', polled.now())).not.toContain('bridge_exporter_node_active');
});
