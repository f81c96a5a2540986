import { get } from './http.js';
import { freePort } from './ports.js';
import { startProcess } from './processes.js';
import type { TempFolder } from './temp-folder.js';
import { waitUntil } from './wait-for.js';

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

export interface Target {
  readonly scrapePool: string;
  readonly scrapeUrl: string;
  readonly health: string;
  readonly lastError: string;
}

export interface Prometheus {
  readonly url: string;
  /** The result of an instant query. */
  readonly query: (expression: string) => Promise<readonly Series[]>;
  readonly activeTargets: () => Promise<readonly Target[]>;
  readonly stop: () => Promise<unknown>;
}

/** Starts Prometheus with this configuration, and waits until it is ready. */
export async function startPrometheus(
  folder: TempFolder,
  config: string,
  { port, flags = [] }: { readonly port?: number; readonly flags?: readonly string[] } = {},
): Promise<Prometheus> {
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
  return {
    url,
    query: async (expression) => {
      const { text } = await get(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
      const { data, error } = JSON.parse(text) as { data?: { result: Series[] }; error?: string };
      if (data === undefined) throw new Error(`${error}: ${expression}`);
      return data.result;
    },
    activeTargets: async () => {
      const { text } = await get(`${url}/api/v1/targets`);
      return (JSON.parse(text) as { data: { activeTargets: Target[] } }).data.activeTargets;
    },
    stop: async () => stop('SIGKILL'),
  };
}
