/** Baseline of a scrape: a server that only sends the given bytes, plain or compressed. */
import { createServer } from 'node:http';

process.once('message', ({ plain, gzip }) => {
  const bodies = { plain: Buffer.from(plain, 'base64'), gzip: Buffer.from(gzip, 'base64') };
  const server = createServer((request, response) => {
    const isCompressed = request.headers['accept-encoding'] === 'gzip';
    const body = isCompressed ? bodies.gzip : bodies.plain;
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
    response.setHeader('Content-Length', body.length);
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
});
