import { createRequire } from 'node:module';

const packageJson = createRequire(import.meta.url)('../../package.json') as { readonly version: string };

/** From package.json, which lies beside both `src` and `dist`. */
export const VERSION = packageJson.version;

export const USER_AGENT = `bridge-exporter/${VERSION}`;
