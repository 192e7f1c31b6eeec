/** The Prometheus metrics of the inbox: swept and pending files. */
import type { Mill } from 'jobmill'
import { sql, type Tables } from 'jobmill-tables'
import type { Schema } from '../tables/schema.ts'
import { OUTCOMES, type SweptOutcome } from './sweep/sweep-counter.ts'

/** The number of mailboxes with their own series: those with the most bytes. */
const FULLEST = 100

/** What a token of another mailbox was used for. */
const TARGETS = ['mailbox', 'file'] as const
export type ForeignTarget = (typeof TARGETS)[number]

export type Metrics = ReturnType<typeof metrics>

/** Counts nothing until `attach` passes the mill. */
export function metrics() {
  let to: ReturnType<typeof registerCounters> | null = null
  return {
    /** Does nothing the second time. */
    attach(mill: Mill<never>, tables: Tables<Schema>, byMailbox: boolean): void {
      if (to !== null) return
      to = registerCounters(mill)
      registerPendingGauges(mill, tables, byMailbox)
    },
    swept: (outcome: SweptOutcome, n: number): void => to?.swept.add({ outcome }, n),
    foreign: (target: ForeignTarget): void => to?.foreign.add({ target }, 1),
  }
}

/** Creates every series with 0. */
function registerCounters(mill: Mill<never>) {
  return {
    swept: mill.counter({
      name: 'jobmill_uploads_swept_total',
      help: 'Files deleted by the sweep, by reason; orphan_blob counts blobs.',
      labels: { outcome: OUTCOMES },
    }),
    foreign: mill.counter({
      name: 'jobmill_uploads_foreign_requests_total',
      help: 'Requests with a token of one mailbox for another mailbox or its files.',
      labels: { target: TARGETS },
    }),
  }
}

type Pending = Awaited<ReturnType<typeof pendingOf>>[number]

/** Per mailbox, or in total. */
function registerPendingGauges(mill: Mill<never>, tables: Tables<Schema>, byMailbox: boolean): void {
  let reading: Promise<Pending[]> | null = null
  // The gauges are read together, so they share one query.
  const read = (): Promise<Pending[]> => {
    reading ??= pendingOf(tables, byMailbox).finally(() => (reading = null))
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

function pendingOf(tables: Tables<Schema>, byMailbox: boolean) {
  const mailbox = byMailbox ? sql<string>`mailbox` : sql<string>`''`
  return tables.db
    .selectFrom('uploads_file')
    .select([
      mailbox.as('mailbox'),
      sql<number>`count(*)`.as('files'),
      sql<number>`CAST(coalesce(sum(size), 0) AS bigint)`.as('bytes'),
      sql<number>`CAST(coalesce(${tables.now} - min(created_at), 0) AS bigint)`.as('oldestMs'),
    ])
    .where((file) => file.and({ acked_at: null, swept_at: null }))
    .where('expires_at', '>', tables.now)
    .$if(byMailbox, (query) =>
      query
        .groupBy('mailbox')
        .orderBy(sql`sum(size)`, 'desc')
        .limit(FULLEST),
    )
    .execute()
}
