/** What the parts of the API share: its app, what a route may use, and how a route is declared. */
import { createRoute, OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { Mill } from '../runtime/mill.ts'
import { takesBody } from './access/body.ts'
import { allow } from './access/access-control.ts'
import type { Role, Who } from './access/roles.ts'
import type { Streams } from './access/streams.ts'
import type { Env, Note } from './env.ts'
import type { Feed } from './feed.ts'
import { problem } from './problem.ts'
import { refused } from './refused.ts'
import { problemShape } from './shapes/problem.ts'

export type Api = OpenAPIHono<Env>

export interface RouteTools {
  readonly mill: Mill
  /** What is secret by its key is replaced: for everybody in the audit, for viewers everywhere. */
  readonly redacted: <T>(value: T) => T
  readonly feed: Feed
  readonly streams: Streams
  /** Looks at up to 10,000 jobs of each queue, so not for everybody anew. */
  readonly unservedKinds: Mill['unservedKinds']
  /** Looks at up to 5,000 jobs, so not for everybody anew either. */
  readonly errors: Mill['errors']
  /** Both ask the database itself, on a connection of their own. */
  readonly system: Mill['system']
  readonly diagnostics: Mill['diagnostics']
  readonly version: string
  readonly store: string
}

/** Adds its routes. */
export type Routes = (api: Api, tools: RouteTools) => void

export function newApi(): Api {
  return new OpenAPIHono<Env>({
    defaultHook: async (result, c) =>
      result.success ? undefined : refused(result, c.get('takes'), await sentAs(result.target, c)),
  })
}

/** The part of a request that was refused. A parameter that is given several times is a list. */
async function sentAs(target: string, c: Context<Env>): Promise<unknown> {
  if (target === 'json') return c.req.json<unknown>().catch(() => undefined)
  if (target === 'param') return c.req.param()
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, given]) => [name, given.length === 1 ? given[0] : given]),
  )
}

/** A route that takes a role, under the name by which the audit knows it. What can go wrong anywhere is said here once. */
export function route<const R extends RouteConfig>(
  role: Role,
  name: string,
  config: R,
  { instead }: { readonly instead?: Instead } = {},
) {
  return createRoute({
    ...config,
    operationId: name,
    'x-role': role,
    security: [{ bearer: [] }],
    middleware: [allow(role), takesBody, says(name, config), asDeclared(config, instead)] as const,
    responses: {
      ...config.responses,
      default: {
        description: 'A problem',
        content: { 'application/problem+json': { schema: problemShape } },
      },
    },
  })
}

/** For the parts that write the audit, and that say what is wrong with a request. */
const says =
  (name: string, { request }: RouteConfig): MiddlewareHandler<Env> =>
  async (c, next) => {
    c.set('what', name)
    c.set('takes', request)
    return next()
  }

/** What a caller should do who sent parameters or a body that the route does not take; from what was sent. */
type Instead = (sent: Readonly<Record<string, unknown>>) => string

const leaveItOut: Instead = () => 'Leave it out'

/** What a route does not declare is refused, and not passed over: somebody believes that it does something. */
function asDeclared({ request }: RouteConfig, instead = leaveItOut): MiddlewareHandler<Env> {
  return async (c, next) => {
    const [field] = Object.keys(c.req.query())
    if (request?.query === undefined && field !== undefined)
      return problem('OPTION_UNKNOWN', {
        detail: `there is no parameter "${field}" here`,
        field,
        fix: instead(c.req.query()),
      })
    if (request?.body === undefined && c.get('hasBody')) {
      const sent = await c.req.json<unknown>().catch(() => null)
      if (!isObject(sent) || Object.keys(sent).length > 0)
        return problem('OPTION_UNKNOWN', {
          detail: 'this takes no body',
          fix: instead(isObject(sent) ? sent : {}),
        })
    }
    if (request?.body?.required === true && !c.get('hasBody'))
      return problem('BODY_NOT_JSON', { detail: 'this takes a body', fix: 'Send one JSON value' })
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

/** One that may be left out. */
export function optionalBody<S extends z.ZodType>(schema: S, description: string) {
  return { body: { required: false, ...json(schema, description) } } as const
}

/** Every route that changes something says what. */
export function note(c: Context<Env>, changed: Note): void {
  c.set('note', changed)
}

/** Who overrides an option, by the name of the token. */
export function byCaller(c: Context<Env>): { readonly by: string | undefined } {
  return { by: c.get('who')?.name }
}

/** Viewers do not see what is secret. */
export function seenBy<T>(who: Who | null, value: T, redacted: (value: T) => T): T {
  return who === null || who.role === 'viewer' ? redacted(value) : value
}
