import { createSecretKey, type KeyObject } from 'node:crypto';

/**
 * Text nobody is to see. As a key object it crosses to the collect thread as it is, while JSON, templates, logs and
 * inspections show nothing of it: whoever means to see the text has to say `reveal`.
 */
export type Secret = KeyObject;

export const createSecret = (text: string): Secret => createSecretKey(text, 'utf8');

export const reveal = (secret: Secret): string => secret.export().toString('utf8');

/** What stands in the place of a secret, in Prometheus' own word. */
export const REDACTED = '<secret>';
