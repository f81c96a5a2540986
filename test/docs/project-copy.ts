import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';

const project = projectPath('.');

const isCopied = (path: string): boolean =>
  !/^(?:node_modules|dist|\.git|\.ci\/bin)(?:\/|$)/.test(relative(project, path));

/** A copy of the project, in which a test follows the steps of a page. */
export function copyProject() {
  const copy = createTempFolder();
  cpSync(project, copy.path, { recursive: true, filter: isCopied });
  symlinkSync(join(project, 'node_modules'), join(copy.path, 'node_modules'));
  return {
    path: copy.path,
    read: (file: string): string => readFileSync(join(copy.path, file), 'utf8'),
    write: (file: string, text: string): void => void copy.write(file, text),
    /** Runs a program in the copy and returns its output. Rejects when it fails. */
    run: async (command: string, ...args: readonly string[]): Promise<string> => {
      // With these variables, the inner vitest would behave like a worker of the outer one.
      const ofVitest = /^(?:VITEST|NODE_ENV$|TEST$|DEV$|PROD$|MODE$|SSR$|BASE_URL$)/;
      const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofVitest.test(name)));
      const { stdout } = await promisify(execFile)(command, args, { cwd: copy.path, env });
      return stdout;
    },
    /** The files of the copy that differ from the project, sorted. */
    changedFiles: (): string[] =>
      readdirSync(copy.path, { recursive: true, encoding: 'utf8' })
        .filter((file) => isCopied(join(project, file)) && statSync(join(copy.path, file)).isFile())
        .filter((file) => readFileSync(join(copy.path, file), 'utf8') !== contentOf(file))
        .toSorted(),
  };
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(join(project, file), 'utf8');
  } catch {
    return undefined;
  }
}

/** The code blocks of a page in this language, at least one. */
export function codeBlocks(page: string, language: string): string[] {
  const blocks = Array.from(
    page.matchAll(new RegExp(`\\n\`\`\`${language}\\n([^]*?)\`\`\`\\n`, 'g')),
    ([, text = '']) => text,
  );
  if (blocks.length === 0) throw new Error(`the page has no block of ${language}`);
  return blocks;
}
