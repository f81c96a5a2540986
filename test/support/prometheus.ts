import { get } from './http.js';
import { freePort } from './ports.js';
import { startProcess } from './processes.js';
import type { TempFolder } from './temp-folder.js';
import { waitUntil } from './wait-for.js';

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

export interface RangeSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

/** In seconds. */
export interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

export interface Target {
  readonly scrapePool: string;
  readonly scrapeUrl: string;
  readonly health: string;
  readonly lastError: string;
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** Starts Prometheus with this configuration, and waits until it is ready. */
export async function startPrometheus(
  folder: TempFolder,
  config: string,
  { port, flags = [] }: { readonly port?: number; readonly flags?: readonly string[] } = {},
) {
  const address = `127.0.0.1:${port ?? (await freePort())}`;
  const url = `http://${address}`;
  const { stop } = startProcess('prometheus', [
    `--config.file=${folder.write('prometheus.yml', config)}`,
    `--storage.tsdb.path=${folder.path}/data`,
    `--web.listen-address=${address}`,
    '--log.level=error',
    ...flags,
  ]);
  await waitUntil(async () =>
    get(`${url}/-/ready`)
      .then(({ status }) => status === 200)
      .catch(() => false),
  );
  const result = async <Result>(path: string, parameters: Readonly<Record<string, string>>): Promise<Result> => {
    const { text } = await get(`${url}/api/v1/${path}?${String(new URLSearchParams(parameters))}`);
    const { data, error } = JSON.parse(text) as { data?: { result: Result }; error?: string };
    if (data === undefined) throw new Error(`${error}: ${parameters['query']}`);
    return data.result;
  };
  return {
    url,
    /** The result of an instant query. */
    query: async (query: string, at?: number): Promise<readonly Series[]> =>
      result('query', { query, ...(at !== undefined && { time: String(at) }) }),
    queryRange: async (query: string, { from, to, step }: Range): Promise<readonly RangeSeries[]> =>
      result('query_range', { query, start: String(from), end: String(to), step: String(step) }),
    activeTargets: async (): Promise<readonly Target[]> => {
      const { text } = await get(`${url}/api/v1/targets`);
      return (JSON.parse(text) as { data: { activeTargets: Target[] } }).data.activeTargets;
    },
    stop: async () => stop('SIGKILL'),
  };
}
