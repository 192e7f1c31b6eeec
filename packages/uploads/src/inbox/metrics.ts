/** The Prometheus metrics of the inbox: swept and pending files. */
import type { Mill } from 'jobmill'
import { sql } from 'jobmill-tables'
import { type ForeignTarget, TARGETS } from './deliver/foreign.ts'
import type { Inside } from './inside.ts'
import { OUTCOMES, type SweptOutcome } from './sweep/sweep-counter.ts'

/** The number of mailboxes with their own series: those with the most bytes. */
const FULLEST = 100

/** Creates every series with 0. */
export function countSwept(mill: Mill<never>): (outcome: SweptOutcome, n: number) => void {
  const counter = mill.counter({
    name: 'jobmill_uploads_swept_total',
    help: 'Files deleted by the sweep, by reason; orphan_blob counts blobs.',
    labels: { outcome: OUTCOMES },
  })
  return (outcome, n) => counter.add({ outcome }, n)
}

export function countForeignRequests(mill: Mill<never>): (target: ForeignTarget) => void {
  const counter = mill.counter({
    name: 'jobmill_uploads_foreign_requests_total',
    help: 'Requests with a token of one mailbox for another mailbox or its files.',
    labels: { target: TARGETS },
  })
  return (target) => counter.add({ target }, 1)
}

interface Pending {
  readonly mailbox: string
  readonly files: number
  readonly bytes: number
  readonly oldestMs: number
}

/** Per mailbox, or in total. */
export function registerPendingGauges(
  mill: Mill<never>,
  inside: Pick<Inside, 'tables'>,
  byMailbox: boolean,
): void {
  let reading: Promise<Pending[]> | null = null
  // The gauges are read together, so they share one query.
  const read = (): Promise<Pending[]> => {
    reading ??= pendingOf(inside, byMailbox).finally(() => (reading = null))
    return reading
  }
  const gauge = (name: string, help: string, valueOf: (pending: Pending) => number): void => {
    if (byMailbox)
      mill.gauge({
        name,
        help: `${help} For the ${FULLEST} mailboxes with the most bytes.`,
        labels: { mailbox: true },
        read: async () =>
          (await read()).map((one) => ({ labels: { mailbox: one.mailbox }, value: valueOf(one) })),
      })
    else mill.gauge({ name, help, read: async () => valueOf((await read())[0] ?? NOTHING) })
  }
  gauge(
    'jobmill_uploads_pending_files',
    'Pending files: not acknowledged and not expired.',
    (one) => one.files,
  )
  gauge('jobmill_uploads_pending_bytes', 'Bytes of pending files.', (one) => one.bytes)
  gauge(
    'jobmill_uploads_oldest_pending_seconds',
    'Age of the oldest pending file.',
    (one) => Math.max(0, one.oldestMs) / 1_000,
  )
}

const NOTHING: Pending = { mailbox: '', files: 0, bytes: 0, oldestMs: 0 }

async function pendingOf({ tables }: Pick<Inside, 'tables'>, byMailbox: boolean): Promise<Pending[]> {
  const mailbox = byMailbox ? sql<string>`mailbox` : sql<string>`''`
  return tables.db
    .selectFrom('uploads_file')
    .select([
      mailbox.as('mailbox'),
      sql<number>`count(*)`.as('files'),
      sql<number>`CAST(coalesce(sum(size), 0) AS bigint)`.as('bytes'),
      sql<number>`CAST(coalesce(${tables.now} - min(created_at), 0) AS bigint)`.as('oldestMs'),
    ])
    .where('acked_at', 'is', null)
    .where('swept_at', 'is', null)
    .where('expires_at', '>', tables.now)
    .$if(byMailbox, (query) =>
      query
        .groupBy('mailbox')
        .orderBy(sql`sum(size)`, 'desc')
        .limit(FULLEST),
    )
    .execute()
}
