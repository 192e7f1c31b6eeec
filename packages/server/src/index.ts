/** `jobmill-server`: the HTTP API and Mission Control, as a fetch handler and as a server. */
export { httpApi, type HttpApi } from './api.ts'
export type { ApiBodies, ApiProblem, ApiResponses } from './api-types.ts'
export type { HttpApp, HttpApps } from './apps.ts'
export type { Passthrough, Caller } from './passthrough.ts'
export type { Authenticate } from './access/identity.ts'
export { pace, type Pace, type PaceOptions } from './access/request-rate.ts'
export { type ByteBudget, byteBudget, type Share } from './access/byte-budget.ts'
export { jsonWeight } from './access/json-weight.ts'
export { type PlaceBounds, places, type Places } from './access/places.ts'
export {
  boundedServer,
  BULK_KIND,
  readTokens,
  type RequestListener,
  type Role,
  ROLES,
  type ServerBounds,
  type Who,
} from 'jobmill/internal'
export type { HttpOptions } from './options.ts'
export { SECRET_KEYS } from './redact/redact-keys.ts'
export { isLoopback } from './server/address.ts'
export { type Served, serve, type ServeOptions } from './server/serve.ts'
export { servePublic, type ServePublicOptions } from './server/serve-public.ts'
