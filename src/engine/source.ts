import type { DocumentPath } from '../chain/dialects.js';
import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { DocumentName, AdditionalInput, NodeStatus, StepContext } from '../document-types.js';
import type { HubSide } from '../facts/contract/reading.js';
import type { Failure } from '../http/failure-reasons.js';
import type { NodeQuery, QueryExchange, QueryRequest } from '../queries/query.js';
import type { PollResult } from './step.js';

/*
 * Where exchanges come from: the network, a recording, or the simulator. An exchange is a request and its response, or
 * its failure. No exchange rejects.
 */

/** What a source knows of an endpoint besides its state. */
export interface EndpointJob {
  readonly context: StepContext;
}

export interface Source<Job extends EndpointJob> {
  /** `read`: for a source with several nodes, which compares their documents. */
  readonly document: (job: Job, request: DocumentRequest, read: ReadDocument) => Promise<Received>;
  /** Absent in a recording, which has no answers to queries. */
  readonly query?: (job: Job, query: NodeQuery, request: QueryRequest) => Promise<QueryExchange>;
  /** Observes the nodes of an endpoint with several nodes. Absent in a recording and in a simulation. */
  readonly probe?: (job: Job) => Promise<void>;
}

/** Reads a response as the step does. */
export type ReadDocument = (received: Received) => Promise<PollResult>;

/** The request of a document. */
export interface DocumentRequest {
  /** The path of the last successful poll, which is requested first. */
  readonly servedPath?: DocumentPath | undefined;
  /** What the module state says about a contract. */
  readonly hubSide?: HubSide | undefined;
  /** What identifies the bridge of the last document (`DocumentDefinition.identity`). */
  readonly identity?: readonly string[] | undefined;
  /** The hub height of the last document. */
  readonly height?: Numeral | undefined;
  /** The nodes after the last poll, also of an earlier process. */
  readonly nodes?: readonly NodeStatus[] | undefined;
}

/** The response to the request of a document (see `PollResult`). */
export type Received<Name extends DocumentName = DocumentName> =
  | ReceivedDocument<Name>
  /** `body`: what was received and is not the document, if that is known already. */
  | (Failure &
      Pick<ReceivedDocument, 'seconds' | 'release' | 'nodes'> & {
        readonly body?: Buffer;
      });

export interface ReceivedDocument<Name extends DocumentName = DocumentName> {
  readonly ok: true;
  readonly bytes: Buffer;
  /** Host and path of the document, or the name of its file, with which messages begin. */
  readonly source: string;
  /** Hub height, as in the response header; `undefined` without the header. */
  readonly height: string | undefined;
  /** When the response was complete. */
  readonly receivedAt: Instant;
  /** Duration of the requests; absent for a recorded body. */
  readonly seconds?: number;
  /** What only the source knows: the call of a contract. */
  readonly additionalInput?: AdditionalInput<Name> | undefined;
  /** Absent for a contract. */
  readonly servedPath?: DocumentPath | undefined;
  /** The end of the message about a body that is not the document: the error text of the server, and a hint. */
  readonly failureText?: string;
  /** Ends the use of the body, which until then counts against the memory of all bodies. */
  readonly release?: (() => void) | undefined;
  /**
   * Whether a document with a lower hub height is accepted. A recorded one is, because the recording process has
   * accepted it: it compared hub heights also with polls that were not recorded.
   */
  readonly isAccepted?: true;
  /** All nodes of the endpoint, as far as they were observed; only of several. */
  readonly nodes?: readonly NodeStatus[] | undefined;
  /** What was read of the body, if the source has read it. */
  readonly read?: PollResult;
}
