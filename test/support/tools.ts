import { spawnSync } from 'node:child_process';

/**
 * Whether a program can be started here. Tests that need a missing one are skipped and say so; with REQUIRE_TOOLS, as in CI,
 * they fail instead.
 */
export function hasTool(name: string, args: readonly string[] = ['--version']): boolean {
  const { error, status } = spawnSync(name, args, { stdio: 'ignore' });
  if (error === undefined && status === 0) return true;
  const command = [name, ...args].join(' ');
  if (process.env['REQUIRE_TOOLS']) throw new Error(`the tests need ${command}, which does not run here`);
  console.warn(`SKIPPED: tests that need ${command}, which does not run here`);
  return false;
}

export interface Checked {
  readonly status: number | null;
  readonly output: string;
}

/** Runs a program over a text on its standard input. */
export function check(name: string, args: readonly string[], input: string): Checked {
  const { status, stdout, stderr } = spawnSync(name, args, { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return { status, output: stdout + stderr };
}

/** Debian's own, since its package of the parser is not seen by another one. */
export const PYTHON = '/usr/bin/python3';

/** Parses OpenMetrics as strictly as the reference parser does, and prints how many samples there are. */
export const OPENMETRICS_PARSER = `
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(sys.stdin.read()))
print(sum(len(family.samples) for family in families))
`;
