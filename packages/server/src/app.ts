/** What all routes share: the Hono app, their tools, and how a route is declared. */
import { createRoute, OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { Mill } from 'jobmill'
import { mayDo, type Role, type Who } from 'jobmill/internal'
import { takesBody } from './access/body.ts'
import { allow } from './access/access-control.ts'
import { asItIs, compressed } from './compress.ts'
import type { LargeReads } from './access/large-reads.ts'
import type { Env, Note } from './env.ts'
import type { Feed } from './feed.ts'
import type { Settings } from './options.ts'
import { problem, problemShape } from './problem.ts'
import { refuseRequest } from './refused.ts'

export type Api = OpenAPIHono<Env>

/** The expensive reads of the mill are cached, because they scan many jobs or query the database. */
export interface RouteTools extends Pick<
  Mill,
  'unservedKinds' | 'errors' | 'system' | 'health' | 'capacity' | 'recentRuns'
> {
  readonly mill: Mill
  readonly settings: Settings
  /** Hides secrets from viewers: in payloads, results, logs and overrides. */
  readonly redactFor: <T>(who: Who | null, value: T) => T
  readonly feed: Feed
  /** The names of all queues, cached. */
  readonly queueNames: () => Promise<string[]>
  /** Reads of payloads, results and logs. A page is larger than one job, so fewer are built at once. */
  readonly pageReads: LargeReads
  /** Searches in payloads take turns, because each keeps the database busy. */
  readonly searchReads: LargeReads
  readonly jobReads: LargeReads
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

interface RouteOptions {
  readonly instead?: Instead
  /** Only for responses without secrets: see compress.ts. */
  readonly isCompressed?: boolean
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
  { instead, isCompressed = false }: RouteOptions = {},
) {
  const [method, path] = address.split(' ') as [Method, Path]
  return createRoute({
    ...config,
    method,
    path,
    operationId: name,
    'x-role': role,
    security: [{ bearer: [] }],
    middleware: [
      allow(role),
      takesBody,
      describes(name, config),
      asDeclared(config, instead),
      isCompressed ? compressed : asItIs,
    ] as const,
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

/** The responses of a route that answers with 200. */
export function ok<S extends z.ZodType>(schema: S, description: string) {
  return { 200: json(schema, description) } as const
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

/** Whether the caller may see secrets and the audit log. */
export function seesAll(who: Who | null): boolean {
  return who !== null && mayDo(who, 'operator')
}
