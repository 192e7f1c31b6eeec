/** What goes with a request through the parts of the API. */
import type { RouteConfig } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Identity } from './access/identity.ts'
import type { Who } from './access/roles.ts'

/** What a route changed, for the audit. */
export interface Note {
  /** The id of a job, the name of a queue. */
  readonly target: string
  readonly queue?: string
  readonly job?: string
  readonly before?: unknown
  readonly after?: unknown
}

export interface Env {
  Variables: {
    /** Null for somebody unknown. */
    who: Who | null
    /** How callers are known here. */
    identity: Identity
    hasBody: boolean
    /** Reads the body of the request: only for routes that have checked the role. */
    readBody: MiddlewareHandler<Env>
    /** What the route takes, for whoever has to say what there is. */
    takes: RouteConfig['request']
    /** The name of the route. */
    what: string
    /** Set by every route that changes something. */
    note: Note | undefined
  }
  /** Of the Node server, where there is one. */
  Bindings: {
    readonly incoming?: {
      readonly socket: {
        readonly remoteAddress?: string
        readonly localAddress?: string
        readonly localPort?: number
      }
      readonly httpVersion?: string
      /** Whether it has come to its last byte. */
      readonly complete?: boolean
      readonly destroy?: () => unknown
    }
  }
}
