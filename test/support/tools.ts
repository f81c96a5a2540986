import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const INSTALL_TOOLS = '.ci/install-tools (requires Go)';

/** How to install the programs that tests need, by name. */
const INSTALL: Readonly<Record<string, string>> = {
  promtool: 'apt-get install prometheus',
  prometheus: 'apt-get install prometheus',
  amtool: 'apt-get install prometheus-alertmanager',
  'prometheus-alertmanager': 'apt-get install prometheus-alertmanager',
  openssl: 'apt-get install openssl',
  'systemd-analyze': 'apt-get install systemd',
  '/usr/bin/chromium': 'apt-get install chromium',
  '/usr/bin/python3': 'apt-get install python3-prometheus-client',
  pint: INSTALL_TOOLS,
  'promtool-newest': INSTALL_TOOLS,
  actionlint: INSTALL_TOOLS,
  helm: INSTALL_TOOLS,
  'helm-docs': INSTALL_TOOLS,
  kubeconform: INSTALL_TOOLS,
  kustomize: INSTALL_TOOLS,
  helm3: INSTALL_TOOLS,
  nfpm: INSTALL_TOOLS,
  test: INSTALL_TOOLS,
  crane: INSTALL_TOOLS,
  jsonnet: INSTALL_TOOLS,
  dpkg: 'Debian',
  rpm: 'apt-get install rpm',
  script: 'apt-get install bsdutils',
};

export interface MissingTool {
  readonly name: string;
  readonly install: string;
  /** The test file that needs it. */
  readonly file: string;
}

/** The workers write to this file, and the reporter reads it. */
const missingToolsFile = (): string => join(tmpdir(), 'missing-tools.jsonl');

const installed = new Map<string, boolean>();

/**
 * Whether a program is installed. Tests that need a missing program are skipped, and the summary says so. With the environment
 * variable REQUIRE_TOOLS, as in CI, they fail instead.
 */
export function hasTool(name: string, args: readonly string[] = ['--version']): boolean {
  const command = [name, ...args].join(' ');
  const isInstalled = installed.get(command) ?? spawnSync(name, args, { stdio: 'ignore' }).status === 0;
  installed.set(command, isInstalled);
  if (isInstalled) return true;
  if (process.env['REQUIRE_TOOLS']) throw new Error(`the tests need ${command}, which fails here`);
  const missing: MissingTool = {
    name,
    install: INSTALL[name] ?? `install ${name}`,
    file: expect.getState().testPath ?? '',
  };
  appendFileSync(missingToolsFile(), `${JSON.stringify(missing)}\n`);
  return false;
}

/** A `describe` of tests that need programs. Without them, what they start is not started. */
export function describeIf(hasTools: boolean, title: string, define: () => void | Promise<void>): void {
  // oxlint-disable vitest/no-conditional-tests, vitest/valid-title, vitest/valid-describe-callback -- they are for tests, which call this
  // oxlint-disable vitest/no-disabled-tests, vitest/expect-expect -- the reporter says which programs are missing
  if (hasTools) describe(title, define);
  else describe.skip(title, () => it('has what it needs', () => undefined));
  // oxlint-enable
}

export function missingTools(): MissingTool[] {
  if (!existsSync(missingToolsFile())) return [];
  const lines = readFileSync(missingToolsFile(), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as MissingTool);
}

export interface ToolResult {
  readonly status: number | null;
  /** Standard output followed by standard error. */
  readonly output: string;
}

/** Runs a program with this text on its standard input. */
export function runTool(name: string, args: readonly string[], input = ''): ToolResult {
  const { status, stdout, stderr } = spawnSync(name, args, { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return { status, output: stdout + stderr };
}

/** Debian's interpreter: other ones do not find the package of the parser. */
export const PYTHON = '/usr/bin/python3';

/** A Python program that parses OpenMetrics with the reference parser and prints the number of samples. */
export const OPENMETRICS_PARSER = `
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(sys.stdin.read()))
print(sum(len(family.samples) for family in families))
`;
