import { stringify } from 'yaml';
import { z } from 'zod';
import { type Config, configSchema } from './config.js';

/** The configuration as a configuration file, with all defaults. Secrets are redacted. */
export function formatConfig(config: Config): string {
  return stringify(z.encode(configSchema, config), { lineWidth: 0 });
}
