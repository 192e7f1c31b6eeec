/**
 * `jobmill/client`: enqueues and awaits jobs over the HTTP API with fetch. It has no dependency and no
 * driver, so that it also runs in browsers and at the edge.
 */
export { type Client, createClient } from './client/create-client.ts'
export { ClientError, type ClientErrorCode } from './client/client-error.ts'
export type { ClientJob, ClientOptions, JobsByKind } from './client/types.ts'
