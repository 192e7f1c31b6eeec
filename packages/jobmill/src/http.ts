/** `jobmill/http`: the API as a fetch handler, and a server for it. */
export { httpApi, type HttpApi, type HttpOptions } from './http/api.ts'
export type { WhoIs } from './http/door/door.ts'
export { type Role, ROLES, type Who } from './http/door/roles.ts'
export { SECRET_KEYS } from './http/redact.ts'
export { type Served, serve, type ServeOptions } from './http/serve.ts'
export { BULK_KIND } from './runtime/bulk.ts'
export { bulkJob } from './runtime/bulk-job.ts'
