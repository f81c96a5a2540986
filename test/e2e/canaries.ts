import { randomBytes } from 'node:crypto';

/** A random secret that no other text has by chance, with characters that encoders change. */
export function createCanary(): string {
  return `canary ${randomBytes(8).toString('hex')}+/=&%é"<${randomBytes(8).toString('base64url')}`;
}

/** The same of characters that a header can carry. */
export const createHeaderCanary = (): string => createCanary().replace('é', '~');

/** What must not be seen of a secret: any part of it long enough to guess the rest, as it is or encoded. */
export function tracesOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const parts = [secret.slice(0, 20), secret.slice(-10)];
  return [
    ...parts,
    ...parts.map(encodeURIComponent),
    bytes.toString('hex').slice(0, 24),
    // In base64 the beginning depends on how many bytes are before it.
    ...[0, 1, 2].map((before) => base64At(before, bytes)),
    ...[0, 1, 2].map((before) => base64At(before, bytes).replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

function base64At(before: number, bytes: Buffer): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  return encoded.slice(4, 24);
}

/** Names of the secrets that an output shows. */
export function shownIn(output: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    tracesOf(secret).some((trace) => output.includes(trace)) ? [name] : [],
  );
}
