import type { IncomingMessage, ServerResponse } from 'node:http';
import { startNode, type Node } from '../http/nodes.js';

/* A server of JSON-RPC and of the REST API of a hub, for tests. */

export interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export type Answer = (request: RpcRequest) => unknown;

/** A JSON-RPC error as the answer to one request. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface RpcNodeOptions {
  readonly answer: Answer;
  /** Changes the answers of a batch before they are sent. */
  readonly arrange?: ((answers: readonly object[], requests: readonly RpcRequest[]) => unknown) | undefined;
  /** The bodies of the REST API by path and query, and the height of their header. */
  readonly rest?: RespondRest | undefined;
  /** Sends the whole response; returns whether it did. */
  readonly respond?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** The same for the requests of a body. */
  readonly reject?: ((requests: readonly RpcRequest[], response: ServerResponse) => boolean) | undefined;
}

type RespondRest = (
  path: string,
  height: string | undefined,
) => { readonly body: unknown; readonly height?: string } | undefined;

export interface RpcNode extends Node {
  readonly batches: readonly (readonly RpcRequest[])[];
}

export async function startRpcNode({ answer, arrange, rest, respond, reject }: RpcNodeOptions): Promise<RpcNode> {
  const batches: RpcRequest[][] = [];
  const node = await startNode({
    respond: (request, response) => {
      if (respond?.(request, response) === true) return;
      if (request.method === 'GET') return respondRest(request, response, rest);
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
        const body: RpcRequest | RpcRequest[] = JSON.parse(Buffer.concat(chunks).toString());
        const requests = [body].flat();
        batches.push(requests);
        if (reject?.(requests, response) === true) return;
        const answers = await Promise.all(requests.map(async (one) => answerOne(one, answer)));
        const arranged = arrange ? arrange(answers, requests) : answers;
        response.setHeader('content-type', 'application/json');
        // A request that is no batch has an answer that is no list.
        response.end(JSON.stringify(Array.isArray(arranged) && !Array.isArray(body) ? (arranged[0] ?? []) : arranged));
      })();
    },
  });
  return { ...node, batches };
}

async function answerOne(request: RpcRequest, answer: Answer): Promise<object> {
  const { id } = request;
  try {
    return { jsonrpc: '2.0', id, result: await answer(request) };
  } catch (error) {
    const { code, message } = error instanceof RpcError ? error : { code: -32_000, message: String(error) };
    return { jsonrpc: '2.0', id, error: { code, message } };
  }
}

function respondRest(request: IncomingMessage, response: ServerResponse, rest: RpcNodeOptions['rest']): void {
  const height = request.headers['x-cosmos-block-height'];
  const found = rest?.(request.url ?? '', typeof height === 'string' ? height : undefined);
  if (found === undefined) {
    response.writeHead(501).end('{}');
    return;
  }
  if (found.height !== undefined) response.setHeader('grpc-metadata-x-cosmos-block-height', found.height);
  response.end(JSON.stringify(found.body));
}
