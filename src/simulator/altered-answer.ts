import { type Answer, HEIGHT_HEADER, refusal } from './answer.js';
import type { Alteration } from './faults.js';
import { dropField, type JsonValue, setField } from './field-path.js';

const UNKNOWN = 2;
const INTERNAL = 13;
/** A lead byte without the continuation it announces. */
const INVALID_UTF8 = Buffer.from([0xc3, 0x28]);
const PROXY_PAGE =
  '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>';

/** The answer as the fault leaves it. */
export function alterAnswer(answer: Answer, fault: Alteration): Answer {
  switch (fault.kind) {
    case 'status':
      return failedAnswer(fault.code, fault.body, fault.headers ?? {});
    case 'redirect':
      return { status: 302, headers: { Location: fault.location }, body: Buffer.alloc(0) };
    case 'not-json':
      return fault.text === undefined ? pageAnswer(answer) : { ...answer, body: Buffer.from(fault.text) };
    case 'empty':
      return { ...answer, body: Buffer.alloc(0) };
    case 'bad-encoding':
      return { ...answer, headers: { ...answer.headers, 'Content-Encoding': 'gzip' } };
    case 'invalid-utf8':
      return { ...answer, body: spoilText(answer.body) };
    case 'height':
      return { ...answer, headers: withHeight(answer.headers, fault.value) };
    case 'drop':
      return editDocument(answer, (document) => dropField(document, fault.path));
    case 'set':
    default:
      return editDocument(answer, (document) => setField(document, fault.path, fault.value));
  }
}

function failedAnswer(status: number, body: string | undefined, headers: Answer['headers']): Answer {
  const plain = refusal(status, UNKNOWN, 'simulated failure');
  return {
    status,
    headers: { ...plain.headers, ...headers },
    body: body === undefined ? plain.body : Buffer.from(body),
  };
}

function pageAnswer(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'Content-Type': 'text/html' }, body: Buffer.from(PROXY_PAGE) };
}

/** Inside the first text of the document, where a lenient reader would let it pass. */
function spoilText(body: Buffer): Buffer {
  const position = body.indexOf(':"') + 2;
  return Buffer.concat([body.subarray(0, position), INVALID_UTF8, body.subarray(position)]);
}

function withHeight(headers: Answer['headers'], height: string | null): Answer['headers'] {
  const { [HEIGHT_HEADER]: _replaced, ...others } = headers;
  return height === null ? others : { ...others, [HEIGHT_HEADER]: height };
}

/** A path that leads nowhere is a mistake in a test: it shows as an answer that says so. */
function editDocument(answer: Answer, edit: (document: JsonValue) => void): Answer {
  const document: JsonValue = JSON.parse(answer.body.toString());
  try {
    edit(document);
  } catch (error) {
    return refusal(500, INTERNAL, `simulated fault: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { ...answer, body: Buffer.from(JSON.stringify(document)) };
}
