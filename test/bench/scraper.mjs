/**
 * Scrapes over kept-alive connections, in a process of its own, each connection asking again when it has the whole answer or a
 * pause later. It reads no more of an answer than its length, so that it is not what is measured.
 */
import { connect } from 'node:net';

process.on('message', ({ url, encoding, connections, pauseMs, forMs }) => {
  const { hostname, port, pathname } = new URL(url);
  const accept = encoding === undefined ? '' : `Accept-Encoding: ${encoding}\r\n`;
  const question = `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\n${accept}\r\n`;
  const seconds = [];
  const end = performance.now() + forMs;
  let open = connections;

  const scrape = () => {
    const socket = connect(Number(port), hostname);
    let asked = 0;
    let missing = 0;
    const ask = () => {
      asked = performance.now();
      socket.write(question);
    };
    socket.on('connect', ask);
    socket.on('data', (chunk) => {
      if (missing === 0) missing = lengthOf(chunk);
      missing -= chunk.length;
      if (missing > 0) return;
      missing = 0;
      const now = performance.now();
      seconds.push((now - asked) / 1000);
      if (now >= end) socket.destroy();
      else if (pauseMs === 0) ask();
      else setTimeout(ask, pauseMs);
    });
    socket.on('close', () => {
      open -= 1;
      if (open === 0) process.send(seconds);
    });
  };
  for (let count = 0; count < connections; count += 1) scrape();
});

/** Of the head and the body that follows it. */
function lengthOf(start) {
  const head = start.indexOf('\r\n\r\n');
  const length = /\r\ncontent-length: (\d+)/i.exec(start.toString('latin1', 0, head))?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${start.toString('latin1', 0, 200)}`);
  return head + 4 + Number(length);
}

process.send('ready');
