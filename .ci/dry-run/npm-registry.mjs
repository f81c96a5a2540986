// A registry for a dry run, in memory: publishes, shows and serves packages, and rejects a version that exists, as npm does. Prints its port.
import { createServer } from 'node:http';

const packages = new Map();
const tarballs = new Map();

const server = createServer((request, response) => void answer(request, response));

async function answer(request, response) {
  const chunks = await readAll(request);
  const path = decodeURIComponent(request.url.replace(/\?.*/, ''));
  const name = path.slice(1);
  const respond = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const tags = /^\/-\/package\/(?<package>.*)\/dist-tags(?:\/(?<tag>[^/]+))?$/.exec(path)?.groups;
  if (tags !== undefined) {
    const all = packages.get(tags.package)['dist-tags'];
    if (request.method === 'GET') return respond(200, all);
    all[tags.tag] = JSON.parse(Buffer.concat(chunks).toString());
    return respond(201, { ok: true });
  }
  if (request.method === 'PUT') return publish(name, JSON.parse(Buffer.concat(chunks).toString()), respond);
  if (tarballs.has(path)) return response.end(tarballs.get(path));
  return packages.has(name) ? respond(200, packages.get(name)) : respond(404, { error: 'Not found' });
}

async function readAll(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function publish(name, { _attachments, ...document }, respond) {
  const existing = packages.get(name);
  const versions = Object.keys(document.versions);
  const taken = versions.find((version) => existing?.versions[version] !== undefined);
  if (taken !== undefined) {
    return respond(403, { error: `You cannot publish over the previously published versions: ${taken}.` });
  }
  for (const [file, { data }] of Object.entries(_attachments)) {
    const path = `/${name}/-/${file.replace(/.*\//, '')}`;
    tarballs.set(path, Buffer.from(data, 'base64'));
    for (const version of versions)
      document.versions[version].dist.tarball = `http://127.0.0.1:${server.address().port}${path}`;
  }
  packages.set(name, {
    ...document,
    versions: { ...existing?.versions, ...document.versions },
    'dist-tags': { ...existing?.['dist-tags'], ...document['dist-tags'] },
  });
  return respond(201, { ok: true });
}

server.listen(0, '127.0.0.1', () => console.log(server.address().port));
