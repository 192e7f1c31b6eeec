/**
 * Creates many jobs in every state, like a busy mill: most ended, many waiting, some dead with a few kinds of
 * errors.
 */
import { Dead, defineJob, jobmill, type JobContext, type FullStore } from 'jobmill'

const BATCH = 1_000
/** One of the filled jobs is of this customer: it is due in a year. */
export const CUSTOMER = 'cus_4711'

const works = defineJob({ kind: 'works', run: () => null })
const dies = defineJob({
  kind: 'dies',
  run({ payload }: JobContext<{ n: number }>) {
    throw new Dead(
      `the partner ${['refused', 'lost', 'did not know'][payload.n % 3] ?? ''} order ${payload.n}`,
    )
  },
})

/**
 * Out of ten: three are done, one is dead, one is due in a year, five wait in queues without workers. Returns
 * the id of the job of CUSTOMER.
 */
export async function fill(
  store: FullStore<never>,
  jobs: number,
  report: (done: number) => void,
): Promise<string> {
  const mill = jobmill({
    store,
    jobs: [works, dies],
    log: 'silent',
    queues: { done: {}, dead: {} },
    serve: ['done', 'dead'],
  })
  await mill.start()
  let ofCustomer = ''
  for (let done = 0; done < jobs; done += BATCH) {
    const turn = (done / BATCH) % 10
    const items = Array.from({ length: BATCH }, (_, n) => ({
      payload: { n: done + n, user: { id: n % 100 }, customer: { id: `cus_${done + n}` } },
      ...placeOf(turn),
      tags: n % 50 === 0 ? ['vip'] : [],
    }))
    const kind = turn < 3 ? 'works' : turn === 3 ? 'dies' : `kind.${turn}`
    const handles = await mill.enqueueMany(kind, items)
    const at = items.findIndex(({ payload }) => payload.customer.id === CUSTOMER)
    if (at !== -1) ofCustomer = handles[at]?.id ?? ''
    if (done % 100_000 === 0) report(done)
  }
  while (!isIdle(await mill.counts())) await new Promise((resolve) => setTimeout(resolve, 200))
  await mill.stop()
  return ofCustomer
}

function placeOf(turn: number): object {
  if (turn < 3) return { queue: 'done' }
  if (turn === 3) return { queue: 'dead' }
  if (turn === 4) return { queue: 'later', delay: '365d' }
  return { queue: `wait-${turn}` }
}

function isIdle(counts: readonly { queue: string; ready: number; running: number }[]): boolean {
  return counts.every(({ queue, ready, running }) => queue.startsWith('wait') || ready + running === 0)
}
