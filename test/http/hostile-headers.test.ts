import fc from 'fast-check';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/http/client.js';
import { failureReasonNames } from '../../src/http/failure-reasons.js';
import { endpointUrl } from '../support/config.js';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import { listen } from './nodes.js';

let response = Buffer.alloc(0);
const client = createClient('test/1');

const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('gzip', 'gzip, gzip', 'br', 'chunked', '0', '-1', '99999999999999999999', '12345', 'identity', ''),
);
const header = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      'Content-Length',
      'Content-Encoding',
      'Transfer-Encoding',
      'Grpc-Metadata-X-Cosmos-Block-Height',
      'Location',
      'Connection',
      'Content-Type',
    ),
    fc.string({ maxLength: 20 }),
  ),
  value,
);
const statusLine = fc.oneof(
  fc.constantFrom(
    'HTTP/1.1 200 OK',
    'HTTP/1.0 200',
    'HTTP/1.1 429 No',
    'HTTP/1.1 100 Continue',
    'HTTP/1.1 101 Switching Protocols',
    'HTTP/2 200',
    'HTTP/1.1 999 x',
  ),
  fc.string({ maxLength: 30 }),
);
const body = fc.oneof(
  fc.constant('{"state":{"last_observed_nonce":"1"}}'),
  fc.string({ unit: 'binary', maxLength: 100 }),
);

describe('the HTTP client', () => {
  it(
    'returns a body or a failure reason in time for any response headers',
    async () => {
      const server = createServer((socket) => socket.once('data', () => socket.end(response)));
      const url = endpointUrl((await listen(server, 'http')).url);
      const property = fc.asyncProperty(
        statusLine,
        fc.array(header, { maxLength: 6 }),
        body,
        async (line, headers, text) => {
          response = Buffer.from(
            [line, ...headers.map(([name, content]) => `${name}: ${content}`), '', text].join('\r\n'),
          );
          const result = await client.send({ url }, '/x', { timeoutMs: 2000, maxBodyBytes: 10_000 });
          if (result.ok) expect(result.bytes.length).toBeLessThanOrEqual(10_000);
          else {
            expect(failureReasonNames).toContain(result.error.reason);
            expect(result.error.reason, result.error.message).not.toBe('internal');
            expect(result.error.message).toMatch(/^127\.0\.0\.1:\d+\/x: .{1,300}$/);
          }
        },
      );
      await fc.assert(property, { numRuns: fuzzRuns(50) });
    },
    fuzzTimeoutMs(50),
  );
});
