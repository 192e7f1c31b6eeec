/** The types of the client: which kinds it knows, and what it takes and returns. */
import type { EnqueuedJob, ResultOptions } from '../job/enqueue/handle.ts'
import type { JobKind } from '../job/kind/job-kind.ts'

export interface ClientOptions {
  /**
   * The address of the HTTP API, with its `basePath`: `https://app.example.com/ops/mill`. In a browser, a path
   * on the same origin is enough.
   */
  readonly url: string
  /**
   * An access token of the HTTP API, or a function that returns one for each request. Omit it if the API
   * authenticates by a session: a browser sends the cookies of its own origin.
   */
  readonly token?: string | (() => string | Promise<string>)
  /** The function that sends requests (default: the global `fetch`). */
  readonly fetch?: typeof fetch
  /** How long a call is retried while the API cannot be reached or is busy, in ms (default 30 s). */
  readonly timeoutMs?: number
}

/** A definition or declaration, of any kind. */
// oxlint-disable-next-line typescript/no-explicit-any
type AnyKind = JobKind<any>

type Values<Jobs> = Jobs extends readonly (infer Job)[] ? Job : Jobs[keyof Jobs]

/** Without a literal name, the type does not show which kind it is. */
type Literal<Job> = Job extends AnyKind ? (string extends Job['kind'] ? never : Job) : never

/** The jobs of an array, of an object or of a module, by their kinds. */
export type JobsByKind<Jobs> = unknown extends Jobs
  ? Readonly<Record<string, JobKind<unknown>>>
  : { readonly [Job in Literal<Values<Jobs>> as Job['kind']]: Job }

export type InputOf<Job> = Job extends JobKind<infer Input> ? Input : never

/** JSON has no undefined: a handler that returns nothing has the result null. */
export type ResultOf<Job> =
  Job extends JobKind<never, infer Result>
    ? unknown extends Result
      ? unknown
      : Exclude<Result, undefined | void> | (undefined extends Result ? null : never)
    : never

/** A job that the client enqueued. */
export interface ClientJob<Result = unknown> extends Pick<EnqueuedJob, 'id' | 'outcome'> {
  /** Polls until the job has ended: see `client.result`. */
  result(options?: ClientResultOptions): Promise<Result>
}

export interface ClientResultOptions extends Pick<ResultOptions, 'signal'> {
  /** How long to wait before RESULT_TIMEOUT, in ms. Omitted: no timeout. */
  readonly timeoutMs?: number
}
