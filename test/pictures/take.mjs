/** Takes the pictures of the documentation: `npm run build && node test/pictures/take.mjs`. Requires Prometheus and Chromium. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = join(root, 'src/');
/** The built program, which finds its files. */
const program = {
  name: 'program',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ resolveDir, path }) => {
      const file = resolve(resolveDir, path);
      return file.startsWith(source)
        ? { path: join(root, 'dist', file.slice(source.length)), external: true }
        : undefined;
    });
  },
};
const folder = mkdtempSync(join(root, 'dist/pictures-'));
const outfile = join(folder, 'pictures.mjs');
await build({
  entryPoints: [join(root, 'test/pictures/take-pictures.ts')],
  bundle: true,
  packages: 'external',
  plugins: [program],
  platform: 'node',
  format: 'esm',
  outfile,
});
const { takePictures } = await import(pathToFileURL(outfile).href);
await takePictures();
rmSync(folder, { recursive: true });
