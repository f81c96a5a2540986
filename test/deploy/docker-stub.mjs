#!/usr/bin/env node
// Stands in for `docker buildx build` where no engine is: writes an OCI layout with the files that the Dockerfile copies, for two platforms.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const argument = (name) => process.argv.find((text) => text.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
const [, dest] = /dest=(.*)$/.exec(argument('output')) ?? [];
const [, revision] = /--build-arg=REVISION=(\S+)/.exec(process.argv.join(' ')) ?? [];
const platforms = argument('platform').split(',');

const app = mkdtempSync(join(tmpdir(), 'image-'));
const env = { ...process.env, REVISION: revision };
execFileSync(process.execPath, ['packaging/bundle.mjs', join(app, 'app'), '--program'], { env });

const blobs = join(dest, 'blobs/sha256');
mkdirSync(blobs, { recursive: true });
const flags = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
const layer = write(execFileSync('tar', ['--create', ...flags, `--directory=${app}`, 'app'], { maxBuffer: 2 ** 28 }), {
  mediaType: 'application/vnd.oci.image.layer.v1.tar',
});

const manifests = platforms.map((platform) => {
  const [os, architecture] = platform.split('/');
  const config = write(JSON.stringify({ os, architecture, rootfs: { type: 'layers', diff_ids: [layer.digest] } }), {
    mediaType: 'application/vnd.oci.image.config.v1+json',
  });
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [layer] });
  return write(manifest, { mediaType, platform: { os, architecture } });
});
const mediaType = 'application/vnd.oci.image.index.v1+json';
const index = write(JSON.stringify({ schemaVersion: 2, mediaType, manifests }), { mediaType });
writeFileSync(join(dest, 'index.json'), JSON.stringify({ schemaVersion: 2, mediaType, manifests: [index] }));
writeFileSync(join(dest, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));

/** Writes a blob, and returns its descriptor. */
function write(content, descriptor) {
  const bytes = Buffer.from(content);
  const hash = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(join(blobs, hash), bytes);
  return { ...descriptor, digest: `sha256:${hash}`, size: bytes.length };
}
