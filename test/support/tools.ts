import { spawnSync } from 'node:child_process';
import { describe, it } from 'vitest';

const installed = new Map<string, boolean>();

/**
 * Whether a program is installed. Tests that need a missing program are skipped. With the environment variable REQUIRE_TOOLS, as in CI, they fail
 * instead.
 */
export function hasTool(name: string, args: readonly string[] = ['--version']): boolean {
  const command = [name, ...args].join(' ');
  const known = installed.get(command);
  if (known !== undefined) return known;
  const isInstalled = spawnSync(name, args, { stdio: 'ignore' }).status === 0;
  installed.set(command, isInstalled);
  if (isInstalled) return true;
  if (process.env['REQUIRE_TOOLS']) throw new Error(`the tests need ${command}, which fails here`);
  console.warn(`SKIPPED: tests that need ${name}, which is not installed`);
  return false;
}

/** A `describe` of tests that need programs. Without them, what they start is not started. */
export function describeIf(hasTools: boolean, title: string, define: () => void | Promise<void>): void {
  // oxlint-disable vitest/no-conditional-tests, vitest/valid-title, vitest/valid-describe-callback -- they are for tests, which call this
  // oxlint-disable vitest/no-disabled-tests, vitest/expect-expect -- `hasTool` says which programs are missing
  if (hasTools) describe(title, define);
  else describe.skip(title, () => it('has what it needs', () => undefined));
  // oxlint-enable
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
