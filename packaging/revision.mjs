// Prints the commit that is built: the variable REVISION, or that of the git repository. Empty outside a repository, such as in a source archive.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export function readRevision() {
  const { REVISION } = process.env;
  if (REVISION) return REVISION;
  if (!existsSync(`${root}.git`)) return '';
  // The job container of the CI runs as root in a folder of another user, whose repository git rejects by default.
  return execFileSync('git', ['-c', 'safe.directory=*', 'rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(readRevision());
