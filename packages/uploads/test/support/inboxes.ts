/**
 * An inbox on a real store and a real socket, with a movable clock. One per test file; each test has its own
 * mailboxes.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import type { KyselyPlugin } from 'kysely'
import { jobmill, type MillOptions } from 'jobmill'
import { type Served, serve, servePublic } from 'jobmill-server'
import { openTables } from 'jobmill-tables'
import {
  type BlobStore,
  directoryBlobs,
  type Inbox,
  postgresBlobs,
  type Schema,
  STEPS,
  uploads,
  type UploadsOptions,
} from 'jobmill-uploads'
import { afterAll, beforeAll, inject } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'

export const STORES = ['sqlite', 'postgres'] as const
/** Rows in PostgreSQL and blobs in a folder is the default of the command on PostgreSQL. */
export const PLACES = [...STORES, 'postgres with a folder'] as const
export type Place = (typeof PLACES)[number]

export function hasFolder(place: Place): boolean {
  return place !== 'postgres'
}

export function addressOf(store: Place): string {
  if (store === 'sqlite') return freshFile()
  const url = inject('postgresUrl')
  return `${url}?schema=${freshSchema(url, 'inbox')}`
}

/** The tables have their own schema next to the mill's. */
export async function dropTables(address: string): Promise<void> {
  if (!address.startsWith('postgres')) return
  const url = new URL(address)
  const schema = `${url.searchParams.get('schema')}_uploads`
  url.searchParams.delete('schema')
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  await client.query(`DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(schema)} CASCADE`)
  await client.end()
}

export interface Scene {
  readonly inbox: Inbox
  readonly url: string
  /** The URL of the API, through which Mission Control reads the inbox. */
  readonly adminUrl: string
  readonly address: string
  readonly tables: UploadsOptions['tables']
  readonly mill: ReturnType<typeof jobmill>
  readonly served: Served
  /** Moves the database clock of this scene. */
  readonly later: (ms: number) => void
  /** Freezes the clock at a time, until called with null. */
  readonly stopAt: (ms: number | null) => void
  /** The ids of all blobs. */
  readonly blobs: () => Promise<string[]>
  readonly errors: unknown[]
  /** The blob store without the wrapper of a test. */
  readonly store: BlobStore
  readonly close: () => Promise<void>
}

export type SceneOptions = Partial<Omit<UploadsOptions, 'tables' | 'blobs'>> & {
  readonly wrap?: (blobs: BlobStore) => BlobStore
  readonly jobs?: MillOptions['jobs']
  /** Called when the scene is created. */
  readonly address?: () => string
  readonly clock?: 'to move' | 'of the database'
  /** Called with every statement on the tables, as a JSON tree. */
  readonly onStatement?: (tree: string) => void
}

/** The same tables, with a listener for statements. */
function withListener(tables: UploadsOptions['tables'], onStatement: (tree: string) => void): typeof tables {
  const ear: KyselyPlugin = {
    transformQuery({ node }) {
      onStatement(JSON.stringify(node))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return {
    ...tables,
    get now() {
      return tables.now
    },
    db: tables.db.withPlugin(ear),
    transaction: (work) => tables.transaction((db, tx) => work(db.withPlugin(ear), tx)),
  }
}

export async function scene(place: Place, options: SceneOptions = {}): Promise<Scene> {
  const {
    wrap = (blobs) => blobs,
    jobs = [],
    onStatement,
    clock = 'to move',
    address: addressOption,
    ...rest
  } = options
  const address = addressOption?.() ?? addressOf(place)
  let aheadMs = 0
  let stoppedAt: number | null = null
  const database = await openTables<Schema>(address, {
    app: 'uploads',
    steps: STEPS,
    ...(clock === 'to move' && { clock: () => stoppedAt ?? Date.now() + aheadMs }),
  })
  const tables = onStatement === undefined ? database.tables : withListener(database.tables, onStatement)
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-blobs-'))
  const real = hasFolder(place) ? directoryBlobs(folder) : postgresBlobs(tables)
  const errors: unknown[] = []
  const inbox = uploads({
    onError: (error) => void errors.push(error),
    ...rest,
    tables,
    blobs: wrap(real),
  })
  const mill = jobmill({ store: database.store, jobs, serve: ['uploads'], log: 'silent' })
  await inbox.start(mill)
  const served = await servePublic(mill, { port: 0, routes: inbox.fetch })
  const admin = await serve(mill, { port: 0, page: false, apps: { uploads: inbox.app } })
  if (jobs.length > 0) await mill.start()
  return {
    inbox,
    url: served.url,
    adminUrl: admin.url,
    address,
    tables,
    mill,
    served,
    later: (ms) => void (aheadMs += ms),
    stopAt: (ms) => void (stoppedAt = ms),
    errors,
    store: real,
    async blobs() {
      if (hasFolder(place)) return filesIn(folder)
      const rows = await tables.db.selectFrom('uploads_chunk').select('blob').distinct().execute()
      return rows.map(({ blob }) => blob)
    },
    async close() {
      await inbox.stop({ graceMs: 0 })
      await Promise.all([served.close(), admin.close()])
      await mill.stop({ grace: 0 })
      await tables.close()
      await dropTables(address)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Without the marker of the folder. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.startsWith('.') && statSync(path.join(folder, name)).isFile(),
  )
}

/** The scene of a whole test file. */
export function sceneForAll(place: Place, options: SceneOptions = {}): () => Scene {
  let made: Scene | null = null
  beforeAll(async () => {
    made = await scene(place, options)
    // Keep this connection for the tests, so that closing does not wait for it.
    await (await fetch(`${made.url}/healthz`)).arrayBuffer()
  })
  afterAll(async () => made?.close())
  return () => {
    if (made === null) throw new Error('there is no scene yet')
    return made
  }
}

export interface Box {
  readonly id: string
  readonly token: string
  /** Sends a request with the token of the mailbox, below its path. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>
  readonly upload: (files: readonly FileInput[], init?: RequestInit) => Promise<Response>
  /** Uploads, and expects success. */
  readonly sent: (...contents: string[]) => Promise<string[]>
}

export interface FileInput {
  readonly name?: string
  readonly type?: string
  readonly bytes: string | Uint8Array<ArrayBuffer>
}

export async function mailbox(
  { inbox, url }: Scene,
  options: Partial<Parameters<Inbox['mailboxes']['add']>[0]> = {},
): Promise<Box> {
  const { id } = await inbox.mailboxes.add({ name: 'letters', ...options })
  const { token } = await inbox.tokens.add(id)
  const ask: Box['ask'] = (at, init = {}) =>
    fetch(`${url}/mailboxes/${id}${at}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string> | undefined) },
    })
  const upload: Box['upload'] = (files, init = {}) =>
    ask('/uploads', { method: 'POST', body: formOf(files), ...init })
  return {
    id,
    token,
    ask,
    upload,
    async sent(...contents) {
      const response = await upload(
        contents.map((bytes, n) => ({ name: `${n}.txt`, type: 'text/plain', bytes })),
      )
      if (response.status !== 200) throw new Error(await response.text())
      const { files } = (await response.json()) as { files: { id: string }[] }
      return files.map(({ id: file }) => file)
    },
  }
}

export function formOf(files: readonly FileInput[]): FormData {
  const form = new FormData()
  for (const { name = 'a.txt', type = 'text/plain', bytes } of files)
    form.append('files', new Blob([bytes], { type }), name)
  return form
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export interface Page {
  readonly files: readonly { id: string; name: string; uri: string; state: string; cursor: string }[]
  readonly cursor: string
  readonly more: boolean
}

export async function pending(box: Box, query = ''): Promise<Page> {
  const response = await box.ask(`/uploads${query}`)
  if (response.status !== 200) throw new Error(await response.text())
  return (await response.json()) as Page
}

/** The status, the code and other fields of a refusal. */
export async function refusal(response: Response): Promise<Record<string, unknown>> {
  if (response.headers.get('content-type') !== 'application/problem+json')
    throw new Error(`${response.status} is not a problem response: ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

/** Counts what is left of a mailbox in all tables and the blob store. */
export async function leftOf({ tables, blobs }: Scene, box: Box): Promise<Record<string, number>> {
  const rows = async (name: 'uploads_file' | 'uploads_notice' | 'uploads_upload' | 'uploads_staging') =>
    (await tables.db.selectFrom(name).select('mailbox').where('mailbox', '=', box.id).execute()).length
  return {
    files: await rows('uploads_file'),
    notices: await rows('uploads_notice'),
    uploads: await rows('uploads_upload'),
    staging: await rows('uploads_staging'),
    blobs: (await blobs()).length,
  }
}
