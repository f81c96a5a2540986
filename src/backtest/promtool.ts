import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How to get the program. */
const MISSING_PROMTOOL =
  'promtool is not in the PATH: it evaluates the rules. It is part of Prometheus: apt-get install prometheus, or https://prometheus.io/download/';

/** Rejects without promtool, before anything is replayed. */
export async function requirePromtool(): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    execFile('promtool', ['--version'], (error) => {
      if (error?.code === 'ENOENT') reject(new Error(MISSING_PROMTOOL));
      else resolve();
    });
  });
}

const MAX_OUTPUT_BYTES = 512 * 2 ** 20;

/**
 * Runs a file of tests, and resolves with what promtool prints about unexpected results. Rejects if promtool is missing, or rejects
 * the file or its rules.
 */
export async function runPromtool(content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'backtest-'));
  try {
    const file = join(folder, 'test.json');
    await writeFile(file, content);
    return await new Promise((resolve, reject) => {
      execFile('promtool', ['test', 'rules', file], { maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
        const output = `${stdout}${stderr}`;
        if (error !== null && error.code === 'ENOENT') reject(new Error(MISSING_PROMTOOL));
        // Unexpected results are what is asked for.
        else if (error === null || (/^\s+FAILED:\s*$/m.test(output) && output.includes('exp: nil'))) resolve(output);
        else reject(new Error(`promtool rejects the rules: ${output.slice(0, 4000).trim() || error.message}`));
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
