// Collects what Node.js needs to run, without a shell, a package manager and everything else of its base image.
//   node packaging/runtime.mjs IMAGE FOLDER
// IMAGE is the root of a Node.js image that is based on Debian, for any architecture. The packages of the copied libraries are
// recorded in var/lib/dpkg/status.d, where scanners look for them.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const [image, folder] = process.argv.slice(2);
if (process.argv.length < 4) throw new Error('usage: node packaging/runtime.mjs IMAGE FOLDER');

const NODE = '/usr/local/bin/node';
const LICENSE = '/usr/local/LICENSE';
const SETTINGS = ['/etc/passwd', '/etc/group', '/etc/nsswitch.conf', '/etc/os-release'];
const triple = readdirSync(join(image, 'usr/lib')).find((name) => name.endsWith('-linux-gnu'));
const libraryFolder = `/usr/lib/${triple}`;

/** Copies a file and the target of a symbolic link. */
function copy(path, to = path) {
  mkdirSync(dirname(join(folder, to)), { recursive: true });
  cpSync(realpathSync(join(image, path)), join(folder, to));
}

/** The libraries whose names an executable or a library contains. Some of them may not be needed. */
function librariesIn(path) {
  const names = readFileSync(join(image, path), 'latin1').matchAll(/\0(lib[\w+.-]+\.so\.\d+)(?=\0)/g);
  return Array.from(names, ([, name]) => `${libraryFolder}/${name}`).filter((name) => existsSync(join(image, name)));
}

const libraries = new Set(librariesIn(NODE));
// A set iterates over what is added meanwhile.
for (const library of libraries) for (const needed of librariesIn(library)) libraries.add(needed);
if (!libraries.has(`${libraryFolder}/libc.so.6`)) throw new Error(`${NODE} of the image needs no libc`);

const interpreter = /(?<=\0)\/lib\w*\/ld-linux-[\w.-]+(?=\0)/.exec(readFileSync(join(image, NODE), 'latin1'))?.[0];
if (interpreter === undefined) throw new Error(`${NODE} of the image has no interpreter`);
for (const path of [NODE, ...SETTINGS, ...libraries]) copy(path);
copy(`${libraryFolder}/${basename(interpreter)}`, interpreter);
if (existsSync(join(image, LICENSE))) copy(LICENSE, '/usr/share/doc/nodejs/copyright');
mkdirSync(join(folder, 'tmp'));
chmodSync(join(folder, 'tmp'), 0o1777);

const info = join(image, 'var/lib/dpkg/info');
const statuses = new Map(
  readFileSync(join(image, 'var/lib/dpkg/status'), 'utf8')
    .split('\n\n')
    .map((status) => [/^Package: (.+)/m.exec(status)?.[1], status]),
);
for (const list of readdirSync(info).filter((name) => name.endsWith('.list'))) {
  const files = readFileSync(join(info, list), 'utf8').split('\n');
  const name = list.replace(/(:\w+)?\.list$/, '');
  if (!files.some((path) => libraries.has(path.replace(/^\/lib\//, '/usr/lib/')))) continue;
  const status = join(folder, 'var/lib/dpkg/status.d', name);
  mkdirSync(dirname(status), { recursive: true });
  writeFileSync(status, `${statuses.get(name)}\n`);
  const copyright = `/usr/share/doc/${name}/copyright`;
  if (existsSync(join(image, copyright))) copy(copyright);
}
