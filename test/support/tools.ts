import { spawnSync } from 'node:child_process';

/**
 * Whether a program is installed. Tests that need a missing program are skipped with a warning. With the environment
 * variable REQUIRE_TOOLS, as in CI, they fail instead.
 */
export function hasTool(name: string, args: readonly string[] = ['--version']): boolean {
  const { error, status } = spawnSync(name, args, { stdio: 'ignore' });
  if (error === undefined && status === 0) return true;
  const command = [name, ...args].join(' ');
  if (process.env['REQUIRE_TOOLS']) throw new Error(`the tests need ${command}, which fails here`);
  console.warn(`SKIPPED: tests that need ${command}, which fails here`);
  return false;
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
