/**
 * `workerPool`: jobs of a kind are done by long-lived children in any language, which read one line of JSON
 * per request and write one per answer.
 */
import type { JobContext } from '../../job/context.ts'
import { defineJob, type JobDefinition } from '../../job/definition.ts'
import { policyOf } from './child-options.ts'
import type { Stored } from '../../job/stored.ts'
import { Pool } from './pool.ts'
import { poolPlan, type WorkerPoolOptions } from './pool-options.ts'

/** What payload and result are is between you and the program: name their types here, or give neither. */
export function workerPool<Input = unknown, Result = unknown>(
  options: WorkerPoolOptions,
): JobDefinition<Input, Stored<Result>> {
  const pool = new Pool(poolPlan(options))
  // What the payload is was named by the caller: whether it is JSON is found when it is written.
  const job: JobDefinition = defineJob({
    ...policyOf(options),
    kind: options.kind,
    service: pool,
    run: (context: JobContext) => pool.run(context),
  })
  return job as JobDefinition<Input, Stored<Result>>
}
