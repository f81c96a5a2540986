import type { Model } from './model.js';
import { endpoints, errorResponse, GRPC_CODES, type QueryResponse } from './query-service.js';
import { send, type Fault, type Simulator } from './simulator.js';

/* Faults of a whole node, which are set over HTTP while it runs, to rehearse what an exporter and its operator do. */

/** `behind` stands at its block from now on; `foreign` is a node of another chain. */
export const nodeFaults = ['none', 'dead', 'hang', 'behind', 'foreign'] as const;

const withoutModel: Readonly<Record<(typeof nodeFaults)[number], Fault | undefined>> = {
  none: undefined,
  dead: ({ response }) => void response.socket?.resetAndDestroy(),
  hang: () => undefined,
  behind: undefined,
  foreign: (exchange, content) => send(exchange, { ...content, body: renamed(content.body) }),
};

function renamed(body: Buffer): Buffer {
  return Buffer.from(body.toString().replaceAll('hub-bridgeid', 'other-bridgeid').replaceAll('"hub-1"', '"other-1"'));
}

/** Sets the fault of a node. `createCopy`: the chain of the node as it is now, which makes no further blocks. */
export function setNodeFault(simulator: Simulator, name: string, createCopy: () => Model): QueryResponse {
  const fault = nodeFaults.find((each) => each === name);
  if (fault === undefined) {
    return errorResponse(400, GRPC_CODES.INVALID_ARGUMENT, `a fault is one of ${nodeFaults.join(', ')}`);
  }
  simulator.serve(fault === 'behind' ? createCopy() : undefined);
  for (const endpoint of endpoints) simulator.fault(endpoint, withoutModel[fault]);
  return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(`${fault}\n`) };
}
