import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DockerfileParser, type Copy, type From, type Instruction } from 'dockerfile-ast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start, type Running } from '../support/processes.js';
import { isThere, packageJson, read } from './files.js';

/* What can be told without building it; `.ci/image` builds and runs it. */

const dockerfile = DockerfileParser.parse(read('Dockerfile'));
const instructions = dockerfile.getInstructions();
const bases = dockerfile.getFROMs();
const copies = dockerfile.getCOPYs();
const last = <T>(list: readonly T[]): T | undefined => list.at(-1);
const linesOf = (keyword: string): Instruction[] => instructions.filter((line) => line.getKeyword() === keyword);
const textOf = (line: Instruction | undefined): string => line?.getArgumentsContent() ?? '';

/** What a COPY takes: the arguments without flags and without where to. */
const sourcesOf = (copy: Copy): string[] =>
  copy
    .getArguments()
    .slice(0, -1)
    .map((argument) => argument.getValue());

const isFromContext = (copy: Copy): boolean => copy.getFromFlag() === null;

describe('the image', () => {
  it('has one base, a release of an even major version to the digit', () => {
    const images = new Set(bases.map((base: From) => base.getImage()));
    expect(images.size).toBe(1);
    expect(Number(/^node:(\d+)\.\d+\.\d+-\w+-slim$/.exec([...images][0] ?? '')?.[1]) % 2).toBe(0);
  });

  it('is built on the platform that builds, since nothing in it is native code', () => {
    const stages = bases.slice(0, -1).map((base) => base.getPlatformFlag()?.getValue());
    expect(stages).toEqual(['$BUILDPLATFORM', '$BUILDPLATFORM']);
    expect(linesOf('RUN').every((line) => line.getRange().start.line < (last(bases)?.getRange().start.line ?? 0))).toBe(
      true,
    );
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<
        string,
        { dev?: true; devOptional?: true; hasInstallScript?: true; os?: unknown; cpu?: unknown }
      >;
    };
    const shipped = Object.entries(packages).filter(
      ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
    );
    expect(shipped.length).toBeGreaterThan(50);
    expect(shipped.filter(([, { hasInstallScript, os, cpu }]) => hasInstallScript ?? os ?? cpu)).toEqual([]);
  });

  it('runs as a number that is not root, as which Kubernetes can see it', () => {
    expect(textOf(last(linesOf('USER')))).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(last(linesOf('USER'))?.getRange().start.line).toBeGreaterThan(
      last(bases)?.getRange().start.line ?? Infinity,
    );
  });

  it('needs no shell to start and to be checked', () => {
    expect(JSON.parse(textOf(last(linesOf('ENTRYPOINT'))))).toEqual(['node', '/app/dist/main.js']);
    expect(linesOf('CMD')).toEqual([]);
    expect(healthCommand().slice(0, 2)).toEqual(['node', '-e']);
  });

  it('copies what there is, and sees nothing else', () => {
    const wanted = copies.filter(isFromContext).flatMap(sourcesOf);
    expect(wanted.filter((file) => !isThere(file))).toEqual([]);
    const [first, ...rules] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    expect(rules.toSorted()).toEqual([...new Set(wanted)].map((file) => `!${file.replace('./', '')}`).toSorted());
  });

  it('has no development dependencies', () => {
    const [, dependencies] = bases;
    const installs = linesOf('RUN')
      .map(textOf)
      .filter((text) => text.startsWith('npm ci'));
    expect(installs).toEqual(['npm ci --ignore-scripts', 'npm ci --ignore-scripts --omit=dev']);
    const modules = copies.find((copy) => sourcesOf(copy).includes('/build/node_modules'));
    expect(modules?.getFromFlag()?.getValue()).toBe(dependencies?.getBuildStage());
  });

  it('says what it is', () => {
    const labels = Object.fromEntries(
      dockerfile
        .getInstructions()
        .filter((line) => line.getKeyword() === 'LABEL')
        .flatMap((line) => [...textOf(line).matchAll(/org\.opencontainers\.image\.(\w+)="([^"]*)"/g)])
        .map(([, name = '', value]) => [name, value]),
    );
    expect(labels).toEqual({
      title: packageJson.name,
      description: expect.stringMatching(/./),
      licenses: packageJson.license,
      version: '${VERSION}',
      revision: '${REVISION}',
    });
  });
});

function healthCommand(): string[] {
  const [, command = '[]'] = /CMD (\[.+\])$/.exec(textOf(last(linesOf('HEALTHCHECK')))) ?? [];
  return JSON.parse(command) as string[];
}

describe('its health check', () => {
  let daemon: Running;
  let port: string;

  beforeAll(async () => {
    daemon = await start([], { BRIDGE_URL: 'http://127.0.0.1:9' });
    ({ port } = new URL(daemon.url));
  });
  afterAll(async () => {
    await daemon.stop();
  });

  async function exitCode(address: string): Promise<number> {
    const [program = '', ...args] = healthCommand();
    return new Promise((resolve) => {
      const env = { PATH: process.env['PATH'], WEB_LISTEN_ADDRESS: address };
      execFile(program, args, { env, timeout: 10_000 }, (error) => {
        resolve(error === null ? 0 : typeof error.code === 'number' ? error.code : -1);
      });
    });
  }

  it('succeeds beside a daemon that serves, however its address is written', async () => {
    expect(await exitCode(`127.0.0.1:${port}`)).toBe(0);
    expect(await exitCode(`:${port}`)).toBe(0);
  });

  it('fails beside none', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port: free } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await exitCode(`127.0.0.1:${free}`)).toBe(1);
  });

  it('fails when the answer is another one', async () => {
    const server = createServer((_request, response) => response.writeHead(503).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    expect(await exitCode(`127.0.0.1:${(server.address() as AddressInfo).port}`)).toBe(1);
    await new Promise((resolve) => server.close(resolve));
  });
});
