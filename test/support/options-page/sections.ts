/** The sections of docs/reference/options.md: which interface of which file each of them lists. */

export interface Section {
  readonly title: string
  /** Markdown below the title: how to pass the options, and the guide that explains them. */
  readonly intro: string
  /** The path from the root of the repository. The file belongs to the tsconfig.json of its package. */
  readonly file: string
  /** An interface or a type alias of the file. */
  readonly type: string
  /** What precedes each option, such as `queues.NAME.`. */
  readonly prefix?: string
  /** Leaves out options that the sections with these titles list. */
  readonly without?: readonly string[]
}

const DECLARE = '`defineJob()` and `declareJob()`'
const IMPLEMENT = '`defineJob()` and `implement()`'
const ENQUEUE = '`enqueue()`'
const HTTP = '`serve()` and `httpApi()`'

export const SECTIONS: readonly Section[] = [
  {
    title: '`jobmill()`',
    intro: '`jobmill({ store, jobs })`: see [getting started](../learn/getting-started.md).',
    file: 'packages/jobmill/src/runtime/options/options.ts',
    type: 'MillOptions',
  },
  {
    title: '`queues`',
    intro:
      'NAME is the name of a queue. The method `mill.serve` takes the same options: see [use several queues](../learn/getting-started.md#use-several-queues) and [retention](../operate/retention.md).',
    file: 'packages/jobmill/src/runtime/options/queue-options.ts',
    type: 'QueueOptions',
    prefix: 'queues.NAME.',
  },
  {
    title: '`limits`',
    intro:
      'NAME is the name of a limit. Pass either `rate` or `concurrency`: see [rate limits and concurrency](../learn/rate-limits-and-concurrency.md).',
    file: 'packages/jobmill/src/job/limit/limit.ts',
    type: 'LimitOptions',
    prefix: 'limits.NAME.',
  },
  {
    title: '`alerts`',
    intro: 'NAME is the name of a rule. See [alerts](../operate/alerts.md).',
    file: 'packages/jobmill/src/job/alert/alert-options.ts',
    type: 'AlertOptions',
    prefix: 'alerts.NAME.',
  },
  {
    title: '`schedules`',
    intro: 'See [schedules](../learn/schedules.md).',
    file: 'packages/jobmill/src/job/schedule/schedule-options.ts',
    type: 'ScheduleFields',
    prefix: 'schedules[].',
  },
  {
    title: '`duties`',
    intro: 'See [your own duties](../operate/multiple-processes.md#your-own-duties).',
    file: 'packages/jobmill/src/runtime/options/duty-options.ts',
    type: 'OwnDuty',
    prefix: 'duties[].',
  },
  {
    title: '`retain`',
    intro: 'For the retention of jobs, see `queues`. The guide is [retention](../operate/retention.md).',
    file: 'packages/jobmill/src/runtime/options/retain-options.ts',
    type: 'RetainOptions',
    prefix: 'retain.',
  },
  {
    title: DECLARE,
    intro:
      '`defineJob` also takes the options of the handler, which follow: see [handlers](../learn/handlers.md) and [retries and dead jobs](../learn/retries-and-dead-jobs.md).',
    file: 'packages/jobmill/src/job/kind/declaration.ts',
    type: 'WithSchema',
  },
  {
    title: IMPLEMENT,
    intro:
      '`implement(declaration, handler)` takes these options, or only the function `run`: see [handlers](../learn/handlers.md#keep-handlers-out-of-the-web-process-declarejob).',
    file: 'packages/jobmill/src/job/kind/job-handler.ts',
    type: 'JobHandler',
  },
  {
    title: '`groups`',
    intro: 'See [fairness between tenants](../learn/groups.md).',
    file: 'packages/jobmill/src/job/queue/queue-settings.ts',
    type: 'QueueGroups',
    prefix: 'queues.NAME.groups.',
  },
  {
    title: '`chunk`',
    intro: 'See [processing jobs in chunks](../learn/chunks.md).',
    file: 'packages/jobmill/src/job/kind/chunk.ts',
    type: 'ChunkOptions',
    prefix: 'chunk.',
  },
  {
    title: ENQUEUE,
    intro:
      '`mill.enqueue(job, payload, options)`. An item of `enqueueMany` has the same options and its `payload`; `tx` is then an option of the call. See [enqueue options](../learn/getting-started.md#enqueue-options).',
    file: 'packages/jobmill/src/enqueue/client.ts',
    type: 'WriteOptions',
  },
  {
    title: '`run()`',
    intro:
      '`mill.run(job, payload, options)` takes these options and those of `enqueue`, except `tx`: see [enqueue and await in one call](../learn/getting-started.md#enqueue-and-await-in-one-call).',
    file: 'packages/jobmill/src/enqueue/run.ts',
    type: 'RunOptions',
    without: [ENQUEUE],
  },
  {
    title: '`result()`',
    intro:
      '`job.result(options)`: see [handle errors of result](../learn/error-handling.md#handle-errors-of-result).',
    file: 'packages/jobmill/src/job/enqueue/handle.ts',
    type: 'ResultOptions',
  },
  {
    title: '`stop()`',
    intro: '`mill.stop(options)`: see [graceful shutdown](../operate/graceful-shutdown.md).',
    file: 'packages/jobmill/src/runtime/lifecycle.ts',
    type: 'StopOptions',
  },
  {
    title: '`sqlite()`',
    intro:
      '`sqlite(path, options)` of `jobmill/sqlite`: see [sizing](../operate/sizing.md#sqlite-or-postgresql).',
    file: 'packages/jobmill/src/store-sqlite/sqlite.ts',
    type: 'SqliteOptions',
  },
  {
    title: '`postgres()`',
    intro:
      '`postgres(url, options)` or `postgres(options)` of `jobmill/postgres`. Pass one of `url`, `pool` and `connection`: see [on PostgreSQL](../learn/getting-started.md#on-postgresql) and [PgBouncer](../operate/pgbouncer.md).',
    file: 'packages/jobmill/src/store-postgres/options.ts',
    type: 'PostgresOptions',
  },
  {
    title: HTTP,
    intro:
      '`serve(mill, options)` and `httpApi(mill, options)` of `jobmill-server`: see [embed the API](../operate/operating-jobs.md#embed-the-api-in-your-server) and [security](../operate/security.md).',
    file: 'packages/server/src/options.ts',
    type: 'HttpOptions',
  },
  {
    title: '`serve()`',
    intro: 'In addition to the options above.',
    file: 'packages/server/src/server/serve.ts',
    type: 'ServeOptions',
    without: [HTTP],
  },
  {
    title: '`createClient()`',
    intro: 'See [enqueue over HTTP](../learn/http-client.md).',
    file: 'packages/jobmill/src/client/types.ts',
    type: 'ClientOptions',
  },
  {
    title: '`commandJob()`',
    intro:
      'See [run a program for each job](../learn/handlers.md#run-a-program-for-each-job-commandjob). `queue`, `priority`, `maxAttempts`, `backoff` and `retryIf` are those of `defineJob`.',
    file: 'packages/jobmill/src/work/handlers/command.ts',
    type: 'CommandOptions',
    without: [DECLARE, IMPLEMENT],
  },
  {
    title: '`workerPool()`',
    intro:
      'See [write handlers in other languages](../learn/handlers.md#write-handlers-in-other-languages-workerpool). `queue`, `priority`, `maxAttempts`, `backoff` and `retryIf` are those of `defineJob`.',
    file: 'packages/jobmill/src/work/handlers/worker-pool.ts',
    type: 'WorkerPoolOptions',
    without: [DECLARE, IMPLEMENT],
  },
]
