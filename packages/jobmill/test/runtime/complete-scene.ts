/** A mill with a job that uses a connection of the user's, for the tests of complete(tx). */
import { defineJob, type JobContext } from '../../src/index.ts'
import type { Client, Place } from './places.ts'

type Run = (context: JobContext, user: Client) => Promise<unknown>

let scenes = 0

/** The job does this; it fails at most twice, 1 s apart. `after` is a kind for what comes after it. On a queue of its own: tests share a database. */
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
