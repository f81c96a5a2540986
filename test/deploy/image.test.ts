import { DockerfileParser, type Copy, type From, type Instruction } from 'dockerfile-ast';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, listenOnFreePort } from '../support/ports.js';
import { startDaemon, type Daemon } from '../support/processes.js';
import { packageJson, projectFileExists, readProjectFile } from '../support/project-files.js';

/*
 * Checks of the Dockerfile without a build. `.ci/image` builds the image and runs it.
 */

const dockerfile = DockerfileParser.parse(readProjectFile('Dockerfile'));
const instructions = dockerfile.getInstructions();
const bases = dockerfile.getFROMs();
const copies = dockerfile.getCOPYs();
const last = <T>(list: readonly T[]): T | undefined => list.at(-1);
const linesOf = (keyword: string): Instruction[] => instructions.filter((line) => line.getKeyword() === keyword);
const textOf = (line: Instruction | undefined): string => line?.getArgumentsContent() ?? '';

/** The source arguments of a COPY instruction. */
const sourcesOf = (copy: Copy): string[] =>
  copy
    .getArguments()
    .slice(0, -1)
    .map((argument) => argument.getValue());

const isFromContext = (copy: Copy): boolean => copy.getFromFlag() === null;

describe('the Dockerfile', () => {
  it('has one base image with a fixed version of an LTS release', () => {
    const images = new Set(bases.map((base: From) => base.getImage()));
    expect(images.size).toBe(1);
    expect(Number(/^node:(\d+)\.\d+\.\d+-\w+-slim$/.exec([...images][0] ?? '')?.[1]) % 2).toBe(0);
  });

  it('builds on the build platform, and ships no native code', () => {
    const stages = bases.slice(0, -1).map((base) => base.getPlatformFlag()?.getValue());
    expect(stages).toEqual(['$BUILDPLATFORM', '$BUILDPLATFORM']);
    expect(linesOf('RUN').every((line) => line.getRange().start.line < (last(bases)?.getRange().start.line ?? 0))).toBe(
      true,
    );
    const { packages } = JSON.parse(readProjectFile('package-lock.json')) as {
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

  it('sets a numeric user that is not root, as Kubernetes requires for runAsNonRoot', () => {
    expect(textOf(last(linesOf('USER')))).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(last(linesOf('USER'))?.getRange().start.line).toBeGreaterThan(
      last(bases)?.getRange().start.line ?? Infinity,
    );
  });

  it('starts and checks the program without a shell', () => {
    expect(JSON.parse(textOf(last(linesOf('ENTRYPOINT'))))).toEqual(['node', '/app/dist/main.js']);
    expect(linesOf('CMD')).toEqual([]);
    expect(healthCommand().slice(0, 2)).toEqual(['node', '-e']);
  });

  it('copies existing files, and .dockerignore excludes all others', () => {
    const wanted = copies.filter(isFromContext).flatMap(sourcesOf);
    expect(wanted.filter((file) => !projectFileExists(file))).toEqual([]);
    const [first, ...rules] = readProjectFile('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    expect(rules.toSorted()).toEqual([...new Set(wanted)].map((file) => `!${file.replace('./', '')}`).toSorted());
  });

  it('ships no development dependencies', () => {
    const [, dependencies] = bases;
    const installs = linesOf('RUN')
      .map(textOf)
      .filter((text) => text.startsWith('npm ci'));
    expect(installs).toEqual(['npm ci --ignore-scripts', 'npm ci --ignore-scripts --omit=dev']);
    const modules = copies.find((copy) => sourcesOf(copy).includes('/build/node_modules'));
    expect(modules?.getFromFlag()?.getValue()).toBe(dependencies?.getBuildStage());
  });

  it('sets labels with name, license, version and revision', () => {
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

describe('the build stage of the image', () => {
  it('records the revision, which the build context does not contain', () => {
    const [build] = bases;
    const stage = instructions.filter((line) => {
      const { start } = line.getRange();
      return (
        start.line > (build?.getRange().start.line ?? Infinity) && start.line < (bases[1]?.getRange().start.line ?? 0)
      );
    });
    expect(stage.map((line) => `${line.getKeyword()} ${textOf(line)}`).slice(-2)).toEqual([
      'ARG REVISION',
      'RUN npm run build && echo "$REVISION" > dist/revision',
    ]);
  });
});

function healthCommand(): string[] {
  const [, command = '[]'] = /CMD (\[.+\])$/.exec(textOf(last(linesOf('HEALTHCHECK')))) ?? [];
  return JSON.parse(command) as string[];
}

describe('the health check of the image', () => {
  let daemon: Daemon;
  let port: string;

  beforeAll(async () => {
    daemon = await startDaemon([], { BRIDGE_URL: 'http://127.0.0.1:9' });
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

  it('succeeds while a daemon serves, with and without a host in its address', async () => {
    expect(await exitCode(`127.0.0.1:${port}`)).toBe(0);
    expect(await exitCode(`:${port}`)).toBe(0);
  });

  it('fails when nothing listens', async () => {
    expect(await exitCode(`127.0.0.1:${await freePort()}`)).toBe(1);
  });

  it('fails when the response is not 200', async () => {
    const server = createServer((_request, response) => response.writeHead(503).end());
    expect(await exitCode(`127.0.0.1:${await listenOnFreePort(server)}`)).toBe(1);
    server.close();
  });
});
