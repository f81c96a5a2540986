import { wallSeconds, type Clock } from '../clock.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import { isContract, type PollJob } from '../engine/jobs.js';
import type { Probe } from '../engine/node-observation.js';
import type { Client } from '../http/client.js';
import { isSyncing, rpcRequest } from '../facts/contract/multicall.js';
import { externalBlockReader, latestBlock, STATUS_PATH, statusReader, syncing } from '../queries/node-status.js';
import type { QueryRequest, ResponseReader } from '../queries/query.js';
import { sendQuery } from '../queries/send-query.js';

/* A probe of a node: its newest block, and whether it is catching up. */

/**
 * `withChain`: whether the chain is asked, for which the node sends a whole block. Returns the message of the failure
 * instead of a probe.
 */
export async function probeNode(
  job: PollJob,
  connection: NodeConnection,
  withChain: boolean,
  client: Client,
  clock: Clock,
): Promise<Probe | string> {
  const node = { ...connection, limits: job.limits };
  const send = async <Value>(reader: ResponseReader<Value>, path: string, json?: string) => {
    const request: QueryRequest = { key: '', path, ...(json !== undefined && { json }) };
    return (await sendQuery(node, reader, request, client)).result;
  };
  const newestBlock = async () => {
    if (isContract(job)) return send(externalBlockReader, '', rpcRequest('eth_getBlockByNumber', ['latest', false]));
    const status = withChain ? undefined : await send(statusReader, STATUS_PATH);
    // The document of a contract names its chain.
    return status === undefined || (!status.ok && status.isRefused)
      ? send(latestBlock, latestBlock.path as string)
      : status;
  };
  const isCatchingUp = async (): Promise<boolean> => {
    if (!isContract(job)) {
      const result = await send(syncing, syncing.path as string);
      return result.ok && result.value.isSyncing;
    }
    const fetched = await client.send(connection, '', job.limits, { json: rpcRequest('eth_syncing', []) });
    if (!fetched.ok) return false;
    fetched.release();
    return isSyncing(fetched.bytes);
  };
  const [block, isSyncingNow] = await Promise.all([newestBlock(), isCatchingUp()]);
  if (!block.ok) return block.error.message;
  const now = clock();
  const { height, epochSeconds, chainId } = block.value;
  return { at: now.at, height, lagSeconds: wallSeconds(now.at, now) - epochSeconds, isSyncing: isSyncingNow, chainId };
}
