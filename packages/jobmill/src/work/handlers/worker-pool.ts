/**
 * `workerPool`: long-lived children in any language run the jobs of a kind. They read one line of JSON per
 * request and write one per answer.
 */
import type { JobContext } from '../../job/context.ts'
import { defineJob, type JobDefinition } from '../../job/definition.ts'
import { policyOf } from './child-options.ts'
import type { Stored } from '../../job/payload/stored.ts'
import { Pool } from './pool.ts'
import { poolPlan, type WorkerPoolOptions } from './pool-options.ts'

/** Payload and result types depend on your program: pass both type parameters, or neither. */
export function workerPool<Input = unknown, Result = unknown>(
  options: WorkerPoolOptions,
): JobDefinition<Input, Stored<Result>> {
  const pool = new Pool(poolPlan(options))
  // The caller named the payload type. Whether it is JSON is checked when it is written.
  const job: JobDefinition = defineJob({
    ...policyOf(options),
    kind: options.kind,
    service: pool,
    run: (context: JobContext) => pool.run(context),
  })
  return job as JobDefinition<Input, Stored<Result>>
}
