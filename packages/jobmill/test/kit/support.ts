/** What the tests of the kit share: jobs that do little, a gate for those that must wait, a store on the clock of a test. */
import { onTestFinished } from 'vitest'
import { defineJob, type JobContext } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { TestPlatform } from '../../src/testing/index.ts'

export const echo = defineJob({ kind: 'echo', run: ({ payload }: JobContext<{ n: number }>) => payload.n })

/** Fails so many times, and is due again five minutes later each time. */
export const flaky = defineJob({
  kind: 'flaky',
  backoff: { fixed: '5m' },
  run({ payload, attempt }: JobContext<{ failures: number }>) {
    if (attempt <= payload.failures) throw new Error(`failure ${attempt}`)
    return attempt
  },
})

/** A job whose handler waits until the test opens the gate; `entered` resolves when it has begun. */
export function gatedJob(kind = 'gated') {
  const entered = Promise.withResolvers<AbortSignal>()
  const gate = Promise.withResolvers<string>()
  const job = defineJob({
    kind,
    run({ signal }: JobContext<null>) {
      entered.resolve(signal)
      return gate.promise
    },
  })
  return { job, entered: entered.promise, open: gate.resolve }
}

/** An open store in memory. */
export async function openStore(platform: TestPlatform) {
  const store = sqlite(':memory:', { clock: platform.now })
  await store.open()
  onTestFinished(() => store.close())
  return store
}

/** Real turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve))
}
