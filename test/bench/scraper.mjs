/**
 * Scrapes over keep-alive connections, in a process of its own. Each connection sends the next request when the response is
 * complete, or after a pause. It parses no more than the length of a response, so that it is not what is measured.
 */
import { connect } from 'node:net';

process.on('message', ({ url, encoding, connections, pauseMs, durationMs }) => {
  const { hostname, port, pathname } = new URL(url);
  const accept = encoding === undefined ? '' : `Accept-Encoding: ${encoding}\r\n`;
  const request = `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\n${accept}\r\n`;
  const seconds = [];
  const end = performance.now() + durationMs;
  let open = connections;

  const startConnection = () => {
    const socket = connect(Number(port), hostname);
    let sentAt = 0;
    let remainingBytes = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', send);
    socket.on('data', (chunk) => {
      if (remainingBytes === 0) remainingBytes = responseLength(chunk);
      remainingBytes -= chunk.length;
      if (remainingBytes > 0) return;
      remainingBytes = 0;
      const now = performance.now();
      seconds.push((now - sentAt) / 1000);
      if (now >= end) socket.destroy();
      else if (pauseMs === 0) send();
      else setTimeout(send, pauseMs);
    });
    socket.on('close', () => {
      open -= 1;
      if (open === 0) process.send(seconds);
    });
  };
  for (let index = 0; index < connections; index += 1) startConnection();
});

/** Length of the headers and the body of a response, from its first chunk. */
function responseLength(chunk) {
  const headersEnd = chunk.indexOf('\r\n\r\n');
  const length = /\r\ncontent-length: (\d+)/i.exec(chunk.toString('latin1', 0, headersEnd))?.[1];
  if (length === undefined) throw new Error(`a response without Content-Length: ${chunk.toString('latin1', 0, 200)}`);
  return headersEnd + 4 + Number(length);
}

process.send('ready');
