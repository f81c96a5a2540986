import { createHash } from 'node:crypto';
import { REFRESH_SCRIPT } from './refresh-script.js';
import { STYLE } from './style.js';

/** Pages have our style and our script, to the letter, and the script may ask nobody but us. */
export const CONTENT_POLICY = [
  "default-src 'none'",
  `style-src ${source(STYLE)}`,
  `script-src ${source(REFRESH_SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function source(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
