/** What all routes share: the Hono app, their tools, and how a route is declared. */
import { createRoute, OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { Mill } from 'jobmill'
import type { Role, Who } from 'jobmill/internal'
import { takesBody } from './access/body.ts'
import { allow } from './access/access-control.ts'
import type { Streams } from './access/streams.ts'
import type { Env, Note } from './env.ts'
import type { Feed } from './feed.ts'
import { problem, problemShape } from './problem.ts'
import { refuseRequest } from './refused.ts'

export type Api = OpenAPIHono<Env>

export interface RouteTools {
  readonly mill: Mill
  /** Hides secrets: always in the audit log, and from viewers in payloads, results, logs and overrides. */
  readonly redacted: <T>(value: T) => T
  readonly feed: Feed
  readonly streams: Streams
  /** Scans up to 10,000 jobs of each queue, so the result is cached. */
  readonly unservedKinds: Mill['unservedKinds']
  /** Scans up to 5,000 jobs, so the result is cached. */
  readonly errors: Mill['errors']
  /** Both query the database on a connection of their own, so the results are cached. */
  readonly system: Mill['system']
  readonly diagnostics: Mill['diagnostics']
  /** A monotonic clock in milliseconds. */
  readonly now: () => number
}

/** Registers routes. */
export type Routes = (api: Api, tools: RouteTools) => void

export function newApi(): Api {
  return new OpenAPIHono<Env>({
    defaultHook: async (result, c) =>
      result.success ? undefined : refuseRequest(result, c.get('takes'), await sentAs(result.target, c)),
  })
}

/** The refused part of a request. A repeated parameter becomes a list. */
async function sentAs(target: string, c: Context<Env>): Promise<unknown> {
  if (target === 'json') return c.req.json<unknown>().catch(() => undefined)
  if (target === 'param') return c.req.param()
  if (target === 'header') return c.req.header()
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, given]) => [name, given.length === 1 ? given[0] : given]),
  )
}

/**
 * Declares a route, such as `get /queues`, that requires a role. The audit log records `name`. Adds the
 * responses that all routes share.
 */
export function route<
  const Name extends string,
  Method extends RouteConfig['method'],
  Path extends string,
  const R extends Omit<RouteConfig, 'method' | 'path'>,
>(
  role: Role,
  name: Name,
  address: `${Method} ${Path}`,
  config: R,
  { instead }: { readonly instead?: Instead } = {},
) {
  const [method, path] = address.split(' ') as [Method, Path]
  return createRoute({
    ...config,
    method,
    path,
    operationId: name,
    'x-role': role,
    security: [{ bearer: [] }],
    middleware: [allow(role), takesBody, describes(name, config), asDeclared(config, instead)] as const,
    responses: {
      ...config.responses,
      default: {
        description: 'Error (problem+json)',
        content: { 'application/problem+json': { schema: problemShape } },
      },
    },
  })
}

/** Stores the route's name and schema, for the audit log and for error messages. */
const describes =
  (name: string, { request }: Pick<RouteConfig, 'request'>): MiddlewareHandler<Env> =>
  async (c, next) => {
    c.set('what', name)
    c.set('takes', request)
    return next()
  }

/** Returns the fix for a request with parameters or a body that the route does not accept. */
type Instead = (sent: Readonly<Record<string, unknown>>) => string

const omitIt: Instead = () => 'Omit it'

/**
 * Refuses undeclared parameters and bodies instead of ignoring them, because the caller expects an effect.
 */
function asDeclared({ request }: Pick<RouteConfig, 'request'>, instead = omitIt): MiddlewareHandler<Env> {
  return async (c, next) => {
    const [field] = Object.keys(c.req.query())
    if (request?.query === undefined && field !== undefined)
      return problem('OPTION_UNKNOWN', {
        detail: `unknown parameter "${field}"`,
        field,
        fix: instead(c.req.query()),
      })
    if (request?.body === undefined && c.get('hasBody')) {
      const sent = await c.req.json<unknown>().catch(() => null)
      // Many clients send {} with every POST. With a DELETE it could mean "delete nothing".
      const isUsual =
        c.req.method === 'POST' && isObject(sent) && !Array.isArray(sent) && Object.keys(sent).length === 0
      if (!isUsual)
        return problem('OPTION_UNKNOWN', {
          detail: 'this route takes no body',
          fix: instead(isObject(sent) ? sent : {}),
        })
    }
    if (request?.body?.required === true && !c.get('hasBody'))
      return problem('BODY_NOT_JSON', { detail: 'this route requires a body', fix: 'Send one JSON value' })
    return next()
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } } as const
}

export function body<S extends z.ZodType>(schema: S, description: string) {
  return { body: { required: true, ...json(schema, description) } } as const
}

/** A body that may be omitted. */
export function optionalBody<S extends z.ZodType>(schema: S, description: string) {
  return { body: { required: false, ...json(schema, description) } } as const
}

/** Records what a route changed. Every route that changes something calls it. */
export function note(c: Context<Env>, changed: Note): void {
  c.set('note', changed)
}

/** The author of an override: the name of the caller. */
export function byCaller(c: Context<Env>): { readonly by: string | undefined } {
  return { by: c.get('who')?.name }
}

/** Redacts secrets for viewers. */
export function redactFor<T>(who: Who | null, value: T, redacted: (value: T) => T): T {
  return who === null || who.role === 'viewer' ? redacted(value) : value
}
