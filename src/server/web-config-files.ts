import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { readSmallFile } from '../config/kit/small-file.js';
import { readTls, tlsPaths, type Tls } from './tls-files.js';
import { parseWebFile, type WebRules } from './web-config.js';

/** A web configuration with all that is in its files. */
export interface WebConfig extends WebRules {
  /** Absent for plain HTTP. */
  readonly tls?: Tls;
}

/** What is in effect without a file: plain HTTP for everybody. */
export const openWeb: WebConfig = { headers: {}, users: new Map(), healthPathsWithoutAuth: false };

export interface WebConfigFile {
  readonly path: string;
  readonly config: WebConfig;
  readonly warnings: readonly string[];
  readonly seen: Seen;
}

/** The files a reading took into account, and how they were just before it. */
interface Seen {
  readonly files: readonly string[];
  readonly state: string;
}

export type WebConfigResult =
  | { readonly ok: true; readonly file: WebConfigFile }
  | { readonly ok: false; readonly problems: readonly string[]; readonly seen: Seen };

export async function loadWebConfig(path: string): Promise<WebConfigResult> {
  const ofFile = { files: [path], state: await stateOf([path]) };
  const text = await readSmallFile(path);
  if (!text.ok && text.problem !== 'is empty')
    return { ok: false, problems: [`${path}: ${text.problem}`], seen: ofFile };
  const parsed = parseWebFile(text.ok ? text.value : '', path);
  if (!parsed.ok) return { ok: false, problems: parsed.problems, seen: ofFile };
  const { web, warnings, label } = parsed;
  const { tls: written, ...rules } = web;
  if (written === undefined) return { ok: true, file: { path, config: rules, warnings, seen: ofFile } };

  const folder = dirname(path);
  const others = tlsPaths(written, folder);
  const seen = { files: [path, ...others], state: `${ofFile.state} ${await stateOf(others)}` };
  const read = await readTls(written, folder);
  if (read.ok) return { ok: true, file: { path, config: { ...rules, tls: read.tls }, warnings, seen } };
  const problems = read.problems.map(({ key, message }) => {
    return `${label(key === undefined ? ['tls_server_config'] : ['tls_server_config', key])}: ${message}`;
  });
  return { ok: false, problems, seen };
}

/** What changes whenever the content of a file does, also when it is another file by the same name. */
async function stateOf(files: readonly string[]): Promise<string> {
  const states = await Promise.all(
    files.map(async (file) =>
      stat(file, { bigint: true }).then(
        ({ ino, size, mtimeNs, ctimeNs }) => [ino, size, mtimeNs, ctimeNs].join(':'),
        () => 'missing',
      ),
    ),
  );
  return states.join(' ');
}

/** How soon a change is noticed. */
const CHECK_MS = 1_000;

export interface WebConfigWatch {
  /** The last good one. */
  readonly current: () => WebConfig;
  readonly close: () => void;
}

/** Looks after the files of a web configuration: a good change is handed on, a bad one is logged and otherwise ignored. */
export function watchWebConfig(
  file: WebConfigFile | undefined,
  log: Logger,
  changed: (config: WebConfig) => void,
): WebConfigWatch {
  if (file === undefined) return { current: () => openWeb, close: () => undefined };
  const { path } = file;
  let { config, seen } = file;
  let timer = later();
  let isClosed = false;

  function later(): NodeJS.Timeout {
    return setTimeout(() => void look(), CHECK_MS).unref();
  }

  async function look(): Promise<void> {
    if ((await stateOf(seen.files)) !== seen.state) await readAgain();
    if (!isClosed) timer = later();
  }

  async function readAgain(): Promise<void> {
    const result = await loadWebConfig(path);
    seen = result.ok ? result.file.seen : result.seen;
    if (isClosed) return;
    if (!result.ok) {
      log.error({ problems: result.problems }, 'the changed web configuration is refused, the one before stays');
      return;
    }
    ({ config } = result.file);
    log.info({ warnings: result.file.warnings }, 'the web configuration was read anew');
    changed(config);
  }

  return {
    current: () => config,
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
