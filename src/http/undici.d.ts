/*
 * The parts of undici that are used, with the types of its index. The index also loads `fetch` of Node.js, which takes
 * 9 MB, and whose HTTP parser ends the process where the address space is limited.
 */

declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  const request: (this: Dispatcher, options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;
  export default request;
}

declare module 'undici/lib/core/errors.js' {
  export { errors as default } from 'undici';
}
