import { z } from 'zod';
import type { Check } from './schema.js';

/** TLS versions as Prometheus and Go name them, and the names of Node.js. */
export const tlsVersions = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

const version = z.enum(['TLS10', 'TLS11', 'TLS12', 'TLS13'] satisfies (keyof typeof tlsVersions)[]);
export const tlsVersionNames = version.options;

/** Rejects a `max_version` below `min_version`. */
export const checkTlsVersions: Check = (input, context) => {
  const { data } = z.object({ min_version: version, max_version: version }).safeParse(input);
  if (!data || data.max_version >= data.min_version) return;
  const message = `${data.max_version} is below min_version — expected at least ${data.min_version}`;
  context.addIssue({ code: 'custom', path: ['max_version'], message });
};
