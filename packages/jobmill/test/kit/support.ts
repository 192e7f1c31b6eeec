/**
 * Shared by the tests of the kit: small jobs, a gate for jobs that must wait, and a store on a fake clock.
 */
import { onTestFinished } from 'vitest'
import { defineJob, type JobContext } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { TestPlatform } from '../../src/testing/index.ts'

export const echo = defineJob({ kind: 'echo', run: ({ payload }: JobContext<{ n: number }>) => payload.n })

/** Fails that many times, and is due five minutes later each time. */
export const flaky = defineJob({
  kind: 'flaky',
  backoff: { fixed: '5m' },
  run({ payload, attempt }: JobContext<{ failures: number }>) {
    if (attempt <= payload.failures) throw new Error(`failure ${attempt}`)
    return attempt
  },
})

/** A job whose handler waits until the test opens the gate; `entered` resolves when it has started. */
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
