import { appendFileSync } from 'node:fs';

/** A module hook that appends the URL of every imported module to the file IMPORTS_FILE. */
export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  appendFileSync(process.env.IMPORTS_FILE, `${resolved.url}\n`);
  return resolved;
}
