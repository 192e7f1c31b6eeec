/** The schemas of the system, its duties and diagnostics, and the job kinds. */
import { z } from '@hono/zod-openapi'
import {
  CHECK_NAMES,
  type DatabaseHealth,
  type DutyView,
  type Health,
  HEALTHS,
  type KindView,
  type NeedsAttention,
  type ResourcesView,
  type SchemaStatus,
  type RecentRunsView,
  STORE_CLASSES,
} from 'jobmill/internal'
import { OUTCOMES } from 'jobmill/store'
import { percentilesShape, recordOf } from './series.ts'

const bytes = z.number()

export const dutyShape = z
  .object({
    name: z.string(),
    leader: z.uuid().nullable(),
    lastSuccessAt: z.number().nullable(),
    failures: z.int(),
  })
  .openapi('Duty')

/** Omits what only the answering process knows. */
export function dutyOf({ name, leader, lastSuccessAt, failures }: DutyView): z.infer<typeof dutyShape> {
  return { name, leader, lastSuccessAt, failures }
}

const databaseShape = z
  .object({
    server: z.string().openapi({ example: 'PostgreSQL 18.1' }),
    sizeBytes: bytes,
    logBytes: bytes.nullable(),
    tables: z
      .array(
        z.object({
          name: z.string(),
          bytes: bytes.nullable(),
          rows: z.number().nullable(),
          deadRows: z.number().nullable(),
        }),
      )
      .readonly(),
    pinned: z
      .array(
        z.object({
          pid: z.int(),
          ageMs: z.number(),
          user: z.string().nullable(),
          state: z.string(),
          query: z.string().nullable().openapi({ description: 'null for viewers' }),
        }),
      )
      .readonly(),
  })
  .openapi('Database') satisfies z.ZodType<DatabaseHealth>

const migration = z.object({ number: z.int(), name: z.string() })
const migrationsShape = z
  .object({
    applied: z.array(migration).readonly(),
    pending: z.array(migration).readonly(),
    refused: z.string().nullable(),
  })
  .openapi('Migrations') satisfies z.ZodType<Omit<SchemaStatus, 'isThere'>>

export const systemShape = z
  .object({
    store: z.string(),
    version: z.string(),
    node: z.string(),
    startedAt: z.number().nullable(),
    database: z.union([databaseShape, z.null()]),
    migrations: z.union([migrationsShape, z.null()]),
    duties: z.array(dutyShape.extend({ everyMs: z.number().nullable() }).openapi('SystemDuty')),
    storeTimings: z.object(recordOf(STORE_CLASSES, percentilesShape)),
  })
  .openapi('System')

export const resourcesShape = z
  .object({
    at: z.number(),
    database: z.union([
      z.object({
        sizeBytes: bytes.nullable(),
        walBytes: bytes.nullable(),
        disk: z.object({ freeBytes: bytes, totalBytes: bytes }).nullable(),
        pool: z.object({ open: z.int(), busy: z.int(), waiting: z.int() }).nullable(),
        server: z.object({ connections: z.int(), most: z.int() }).nullable(),
      }),
      z.null(),
    ]),
    process: z.object({
      cpuMs: z.number(),
      rssBytes: bytes,
      loopLagMs: z.object({ mean: z.number(), most: z.number() }).nullable(),
    }),
  })
  .openapi('Resources') satisfies z.ZodType<ResourcesView>

export const aboutShape = z.object({
  what: z.enum(['queue', 'kind', 'duty', 'instance', 'limit', 'schedule', 'database']).nullable(),
  name: z.string().nullable(),
})

export const checkShape = z.enum(CHECK_NAMES)

export const diagnosticShape = z
  .object({
    check: checkShape,
    level: z.enum(['notice', 'warning', 'error']),
    message: z.string(),
    fix: z.string(),
    about: aboutShape,
  })
  .openapi('Diagnostic') satisfies z.ZodType<NeedsAttention>

const kindShape = z
  .object({
    kind: z.string(),
    queue: z.string().nullable(),
    maxAttempts: z.int().nullable(),
    served: z.boolean(),
    instances: z.int(),
    schema: z
      .record(z.string(), z.unknown())
      .readonly()
      .nullable()
      .openapi({ description: 'JSON Schema (draft 2020-12) of the payload' }),
    indexedPayload: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'payload paths that the filter indexedPayload accepts' }),
  })
  .openapi('Kind') satisfies z.ZodType<KindView>

const attempts = { attempts: z.int(), failed: z.int() }

export const queueHealthShape = z
  .object({
    word: z.enum(HEALTHS),
    ...attempts,
  })
  .openapi('QueueHealth', { description: 'state of the queue, and its attempts of the last 10 minutes' })

export const listedKindShape = kindShape
  .extend({
    recent: z
      .object({ health: z.enum(['failing', 'degraded', 'ok']), ...attempts, running: percentilesShape })
      .nullable()
      .openapi({ description: 'attempts of the last 10 minutes; null if there were none' }),
  })
  .openapi('ListedKind') satisfies z.ZodType<
  KindView & { readonly recent: Omit<Health['kinds'][number], 'kind'> | null }
>

export const runsShape = z
  .object({
    from: z.number(),
    to: z.number(),
    completeFrom: z.number().nullable().openapi({
      description: 'runs that ended before this instant may be missing; null if none is missing',
    }),
    runs: z.array(
      z.object({
        job: z.uuid(),
        kind: z.string(),
        queue: z.string(),
        instance: z.uuid(),
        attempt: z.int(),
        startedAt: z.number(),
        endedAt: z.number().nullable(),
        outcome: z.enum(OUTCOMES).nullable(),
      }),
    ),
  })
  .openapi('RecentRuns') satisfies z.ZodType<
  Omit<RecentRunsView, 'runs'> & { runs: RecentRunsView['runs'][number][] }
>
