/** The context of a request inside the API. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RouteConfig } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Identity } from './access/identity.ts'
import type { Who } from 'jobmill/internal'

/** What a route changed, for the audit log. */
export interface Note {
  /** The id of a job, the name of a queue, limit, schedule or duty, or the request to an application. */
  readonly target: string
  readonly queue?: string
  readonly job?: string
  readonly before?: unknown
  readonly after?: unknown
}

export interface Env {
  Variables: {
    /** Null for an anonymous caller. */
    who: Who | null
    /** How callers are authenticated. */
    identity: Identity
    hasBody: boolean
    /** Reads the request body. Only for routes that have checked the role. */
    readBody: MiddlewareHandler<Env>
    /** The declared request of the route, for error messages. */
    takes: RouteConfig['request']
    /** The name of the route. */
    what: string
    /** The response must not be compressed: see compress.ts. */
    hasSecrets: boolean | undefined
    /** Set by every route that changes something. */
    note: Note | undefined
  }
  /** Provided by the Node server, if there is one. `complete`: whether the request has arrived completely. */
  Bindings: {
    readonly incoming?: Partial<Pick<IncomingMessage, 'httpVersion' | 'complete' | 'destroy'>> & {
      readonly socket: Partial<Pick<Socket, 'remoteAddress' | 'localAddress' | 'localPort'>>
    }
  }
}
