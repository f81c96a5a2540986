/* Bundles the TypeScript of `npm run incidents`, and runs it with the program that `npm run build` has compiled. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = new URL('../../', import.meta.url);
const outfile = fileURLToPath(new URL('dist/incidents.mjs', ROOT));
await build({
  entryPoints: [fileURLToPath(new URL('main.ts', import.meta.url))],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  logLevel: 'warning',
  plugins: [
    {
      name: 'compiled program',
      setup: (bundle) =>
        bundle.onResolve({ filter: /\/src\// }, ({ path }) => ({
          path: path.replace(/^.*\/src\//, './'),
          external: true,
        })),
    },
  ],
});
await import(outfile);
