import { wallSeconds, type Clock } from '../clock.js';
import type { NodeConnection } from '../config/http-client-config.js';
import { isContract, type PollJob } from '../engine/jobs.js';
import { rpcRequest } from '../facts/contract/multicall.js';
import type { Client } from '../http/client.js';
import { externalBlockReader, latestBlock, STATUS_PATH, statusReader } from '../queries/node-status.js';
import { sendQuery } from '../queries/send-query.js';
import type { ShownBlock } from './node-selection.js';

/**
 * Asks a node for its newest block, which is `undefined` where no path for it is served. Returns the message of the
 * failure if it does not answer.
 */
export async function probeNode(
  job: PollJob,
  connection: NodeConnection,
  client: Client,
  clock: Clock,
): Promise<{ readonly block: ShownBlock | undefined } | string> {
  const node = { ...connection, limits: job.limits };
  const send = async (reader: typeof statusReader, path: string, json?: string) =>
    (await sendQuery(node, reader, { key: '', path, ...(json !== undefined && { json }) }, client)).result;
  const askStatus = async () => {
    const status = await send(statusReader, STATUS_PATH);
    return status.ok || !status.isRefused ? status : send(latestBlock, latestBlock.path as string);
  };
  const newest = await (isContract(job)
    ? send(externalBlockReader, '', rpcRequest('eth_getBlockByNumber', ['latest', false]))
    : askStatus());
  if (!newest.ok) return newest.isRefused ? { block: undefined } : newest.error.message;
  const now = clock();
  const { height, epochSeconds } = newest.value;
  return { block: { at: now.at, height, seconds: Math.min(epochSeconds, wallSeconds(now.at, now)) } };
}
