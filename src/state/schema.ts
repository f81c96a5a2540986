import { z } from 'zod';
import type { Instant } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { documentNames } from '../documents.js';
import type { Remembered } from '../poll/remembered.js';
import { createTimeCodecs, maybe } from './codecs.js';
import { createDocumentSchema } from './document-schema.js';
import { createMemorySchema } from './memory-schema.js';

/* The content of the state file: for each endpoint what is remembered of it. A change of what is written is another version. */

export const FORMAT_VERSION = 1;

export function createSchema(now: Instant) {
  const times = createTimeCodecs(now);
  const endpoint = z.strictObject({
    target: z.string(),
    document: z.enum(documentNames as readonly [DocumentName, ...DocumentName[]]),
    polledAt: times.instant,
    known: maybe(createDocumentSchema(times)),
    memory: createMemorySchema(times),
  }) satisfies z.ZodType<Remembered>;
  return { endpoint, file: z.strictObject({ version: z.literal(FORMAT_VERSION), endpoints: z.array(endpoint) }) };
}
