import type { DocumentPath } from '../chain/dialects.js';
import type { FieldErrors } from '../chain/document.js';
import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { ContentOf, DocumentName, SideInput } from '../documents.js';
import type { Failure } from '../http/failure-reasons.js';

/* What one poll has found, before anything is derived from it. */

/** A document that was read. */
export interface PolledDocument<Name extends DocumentName = DocumentName> {
  readonly ok: true;
  readonly content: ContentOf[Name];
  readonly errors: FieldErrors;
  /** Hub height from the response header; `undefined` without one. */
  readonly height: Numeral | undefined;
  /** When the response was received. */
  readonly at: Instant;
  readonly sideInput?: SideInput | undefined;
  /** The body, compressed by `compressBody`; `undefined` if it is not kept. */
  readonly compressed: Buffer | undefined;
}

export type Phase = 'fetch' | 'decode' | 'derive';

/** What one poll has found. */
export interface Poll<Name extends DocumentName = DocumentName> {
  readonly outcome: PolledDocument<Name> | Failure;
  /** Duration of each phase that has ended. */
  readonly phaseSeconds: Partial<Record<Phase, number>>;
  readonly bodyBytes?: number | undefined;
  /** Whether the body has so many values for its size that it is hostile. */
  readonly isDense?: boolean;
  /** Where the document was found; only after a success, and not for a recorded body. */
  readonly foundPath?: DocumentPath | undefined;
  /** Host and path of the document, or the name of its file; at the beginning of messages. */
  readonly source?: string | undefined;
}
