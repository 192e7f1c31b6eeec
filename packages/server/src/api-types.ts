/**
 * The JSON of every route, by the name of the route, inferred from the schemas in its declaration. For
 * clients in TypeScript, such as the dashboard.
 */
import type { z } from '@hono/zod-openapi'
import type { problemShape } from './problem.ts'
import type { FILES } from './routes/all.ts'

type ExportsOf<File> = File extends unknown ? File[keyof File] : never

type JsonRoute = Extract<ExportsOf<(typeof FILES)[number]>, { readonly operationId: string }>

interface Json<Schema extends z.ZodType> {
  readonly content: { readonly 'application/json': { readonly schema: Schema } }
}

/** A response without content, such as 204, is undefined. */
type ResponseOf<Declared> = {
  [Status in keyof Declared]: Status extends number
    ? Declared[Status] extends Json<infer Schema>
      ? z.infer<Schema>
      : undefined
    : never
}[keyof Declared]

/** What a successful request returns: `ApiResponses['jobs.inspect']`. */
export type ApiResponses = {
  readonly [Route in JsonRoute as Route['operationId']]: ResponseOf<Route['responses']>
}

type BodyRoute = Extract<JsonRoute, { readonly request: { readonly body: Json<z.ZodType> } }>

/** The body that a request sends: `ApiBodies['jobs.enqueue']`. */
export type ApiBodies = {
  readonly [Route in BodyRoute as Route['operationId']]: Route['request']['body'] extends Json<infer Schema>
    ? z.input<Schema>
    : never
}

/** What a failed request returns. */
export type ApiProblem = z.infer<typeof problemShape>
