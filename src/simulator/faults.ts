import type { JsonValue } from './field-path.js';

/** One way for each thing that goes wrong between a node and who polls it. */
export type Fault = Alteration | Interruption;

/** A whole answer, but not the right one. */
export type Alteration =
  /** Without a body of its own: `{code, message, details}`. */
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'redirect'; readonly location: string }
  /** A page as proxies put in front of nodes show it, or the text given. */
  | { readonly kind: 'not-json'; readonly text?: string }
  | { readonly kind: 'empty' }
  /** Says gzip and is not. */
  | { readonly kind: 'bad-encoding' }
  /** JSON but for one byte sequence that no UTF-8 text has. */
  | { readonly kind: 'invalid-utf8' }
  /** The height header with this value, or without it (null). */
  | { readonly kind: 'height'; readonly value: string | null }
  /** Leaves a field out, or puts another value there: `state.valsets[0].members[*].power`. */
  | { readonly kind: 'drop'; readonly path: string }
  | { readonly kind: 'set'; readonly path: string; readonly value: JsonValue };

/** An exchange that does not end as HTTP wants it, or takes its time. */
export type Interruption =
  /** Not even headers come. */
  | { readonly kind: 'hang' }
  /** Headers and half of the body come, then nothing. */
  | { readonly kind: 'stall' }
  /** A few bytes now and then: every gap is short, the whole is endless. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** The connection ends in mid body. */
  | { readonly kind: 'truncate' }
  /** The document and white space up to this many bytes: valid JSON, too long. */
  | { readonly kind: 'oversize'; readonly bytes: number }
  /** The same, decoded; small on the wire. */
  | { readonly kind: 'gzip-bomb'; readonly bytes: number }
  /** Bytes that are no HTTP. */
  | { readonly kind: 'garbage' }
  /** The connection is reset before any answer. */
  | { readonly kind: 'reset' };
