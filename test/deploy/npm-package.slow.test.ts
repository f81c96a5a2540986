import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startProcess, type RunningProcess } from '../support/processes.js';
import { packageJson, projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';

/** Copies the project without what a clean clone lacks, such as `dist`. The dependencies are linked. */
function copyProject(): string {
  const { path } = createTempFolder();
  const excluded = new Set(['.ci/bin', '.git', 'coverage', 'dist', 'node_modules']);
  const filter = (file: string): boolean => !excluded.has(relative(projectPath('.'), file));
  cpSync(projectPath('.'), path, { recursive: true, verbatimSymlinks: true, filter });
  symlinkSync(projectPath('node_modules'), join(path, 'node_modules'));
  return path;
}

async function run(cwd: string, command: string, args: readonly string[], env = {}): Promise<RunningProcess> {
  const running = startProcess(command, args, { cwd, env: { ...env, npm_config_loglevel: 'error' } });
  await new Promise((resolve) => running.child.once('close', resolve));
  return running;
}

// `npm ci` leaves all packages in the cache of npm, so that the installation needs no registry.
it('npx runs the packed package in an empty folder', { timeout: 180_000 }, async () => {
  const clone = copyProject();
  const packed = await run(clone, 'npm', ['pack']);
  expect(packed.stderr).toEqual([]);
  const tarball = `${packageJson.name}-${packageJson.version}.tgz`;
  expect(readdirSync(clone)).toContain(tarball);

  const empty = createTempFolder().path;
  const install = ['install', '--prefer-offline', '--omit=dev', '--no-audit', '--no-fund', join(clone, tarball)];
  const installed = await run(empty, 'npm', install);
  expect(installed.child.exitCode, installed.stderr.join('\n')).toBe(0);

  // The systemd unit runs the program through this symbolic link.
  const version = await run(empty, process.execPath, ['node_modules/.bin/bridge-exporter', '--version']);
  expect(version.stdout).toEqual([
    `bridge-exporter ${packageJson.version} (revision unknown, node ${process.versions.node})`,
  ]);

  const simulator = await startTestSimulator();
  onTestFinished(async () => simulator.close());
  const env = { BRIDGE_URL: simulator.url, CROSSCHAIN_URL: simulator.url, CROSSCHAIN_WINDOW: '500' };
  const once = await run(empty, 'npx', ['--no', 'bridge-exporter', 'once'], env);
  expect({ code: once.child.exitCode, stderr: once.stderr }).toEqual({ code: 0, stderr: [] });
  expect(once.stdout).toContain(`bridge_height{target="default"} ${simulator.model.height}`);
});
