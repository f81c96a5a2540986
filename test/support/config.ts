import type { Config } from '../../src/config/config.js';
import { parseConfig } from '../../src/config/parser.js';

/** Parses a valid configuration. Throws for an invalid one. */
export function parseValidConfig(yaml: string, file = 'test.yaml'): Config {
  const result = parseConfig(yaml, file);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.config;
}
