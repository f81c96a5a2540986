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
  /** The bodies of the REST API by path and query, and the height of their header. */
  readonly rest?: RespondRest | undefined;
  /** Sends the whole response; returns whether it did. */
  readonly respond?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** The same, by the request in the body. */
  readonly reject?: ((request: RpcRequest, response: ServerResponse) => boolean) | undefined;
}

type RespondRest = (
  path: string,
  height: string | undefined,
) => { readonly body: unknown; readonly height?: string } | undefined;

export interface RpcNode extends Node {
  readonly received: readonly RpcRequest[];
}

export async function startRpcNode({ answer, rest, respond, reject }: RpcNodeOptions): Promise<RpcNode> {
  const received: RpcRequest[] = [];
  const node = await startNode({
    respond: (request, response) => {
      if (respond?.(request, response) === true) return;
      if (request.method === 'GET') return respondRest(request, response, rest);
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
        const rpc: RpcRequest = JSON.parse(Buffer.concat(chunks).toString());
        received.push(rpc);
        if (reject?.(rpc, response) === true) return;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answerOne(rpc, answer)));
      })();
    },
  });
  return { ...node, received };
}

function answerOne(request: RpcRequest, answer: Answer): object {
  const { id } = request;
  try {
    return { jsonrpc: '2.0', id, result: answer(request) };
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
