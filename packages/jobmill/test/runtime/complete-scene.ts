/** A mill with a job that uses a database connection of the application, for the tests of complete(tx). */
import { defineJob, type JobContext } from '../../src/index.ts'
import type { Client, Place } from './places.ts'

type Run = (context: JobContext, user: Client) => Promise<unknown>

let scenes = 0

/**
 * The job runs `run`, with at most three attempts, 1 s apart. `after` is a kind for its follow-ups. The queue
 * is new for each call, because tests share a database.
 */
export async function completeScene(at: Place, run: Run) {
  const user = await at.connect()
  const job = defineJob({
    kind: 'job',
    maxAttempts: 3,
    backoff: { fixed: '1s' },
    run: (context: JobContext) => run(context, user),
  })
  const after = defineJob({ kind: 'after', run: ({ payload }: JobContext<string>) => payload })
  scenes += 1
  const queue = `scene-${scenes}`
  const mill = await at.mill({ jobs: [job, after], route: () => queue })
  return { mill, user, job, queue }
}
