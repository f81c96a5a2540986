import { isIP } from 'node:net';
import { z } from 'zod';
import { type Tls, tlsVersions } from './http-client-config.js';
import { always, rejectBoth, mapping, presentKeys } from './kit/mapping.js';
import { certificates, file, privateKey } from './kit/sources.js';
import * as value from './kit/values.js';

const serverName = () =>
  value.kind({ type: 'name', expected: 'a host name or an IP address' }, (text) =>
    value.acceptIf(/^[\w-]+(?:\.[\w-]+)*$/.test(text) || isIP(text) > 0, text),
  );

const keys = mapping(
  {
    ca: z.exactOptional(certificates()).describe('Authorities to trust, instead of those Node.js comes with.'),
    ca_file: z.exactOptional(file()).describe('File with the authorities.'),
    cert: z.exactOptional(certificates()).describe('Own certificate, for a node that asks for one; needs a key.'),
    cert_file: z.exactOptional(file()).describe('File with the own certificate.'),
    key: z.exactOptional(privateKey()).describe('Private key of the own certificate.'),
    key_file: z.exactOptional(file()).describe('File with the private key.'),
    server_name: z.exactOptional(serverName()).describe('Name the certificate must have, if not that of `url`.'),
    insecure_skip_verify: value.truthValue().prefault(false).describe('Take any certificate for good; warned about.'),
    min_version: value
      .oneOf(...tlsVersions)
      .prefault('TLS12')
      .describe('Oldest version to speak.'),
    max_version: value
      .oneOf(...tlsVersions)
      .prefault('TLS13')
      .describe('Newest version to speak.'),
  },
  value.describeType,
)
  .superRefine(rejectBoth('ca', 'ca_file'), always)
  .superRefine(rejectBoth('cert', 'cert_file'), always)
  .superRefine(rejectBoth('key', 'key_file'), always)
  .superRefine(refuseHalfPair, always)
  .superRefine(refuseNoVersion, always);

function refuseHalfPair(given: unknown, context: z.RefinementCtx): void {
  const written = presentKeys(given);
  const hasCertificate = written?.has('cert') || written?.has('cert_file');
  const hasKey = written?.has('key') || written?.has('key_file');
  if (hasCertificate === hasKey) return;
  const [present, missing] = hasCertificate ? ['certificate', 'key'] : ['key', 'cert'];
  const message = `is missing — expected ${missing} or ${missing}_file beside the ${present}`;
  context.addIssue({ code: 'custom', path: [missing], message });
}

function refuseNoVersion(given: unknown, context: z.RefinementCtx): void {
  const version = z.enum(tlsVersions);
  const { data } = z.object({ min_version: version, max_version: version }).safeParse(given);
  if (!data || data.max_version >= data.min_version) return;
  const message = `${data.max_version} is below min_version (${data.min_version}) — expected at least that`;
  context.addIssue({ code: 'custom', path: ['max_version'], message });
}

export const tlsConfig = keys.transform((given): Tls => {
  const ca = given.ca ?? given.ca_file;
  const cert = given.cert ?? given.cert_file;
  const key = given.key ?? given.key_file;
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(given.server_name !== undefined && { serverName: given.server_name }),
    insecureSkipVerify: given.insecure_skip_verify,
    minVersion: given.min_version,
    maxVersion: given.max_version,
  };
});
