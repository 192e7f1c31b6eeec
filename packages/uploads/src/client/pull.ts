/**
 * `pull(options)` keeps a folder in sync with a mailbox. `pullOnce(options)` pulls the pending files and
 * ends.
 */
import { existsSync } from 'node:fs'
import { pulledOf } from './bring.ts'
import { ClientError } from './http/client-error.ts'
import { crew as createCrew } from './crew.ts'
import { type Entry, type FileIndex, openIndex } from './folder/file-index.ts'
import { type PulledFile, type PullOptions, type Settings, settingsOf } from './options.ts'
import { openPlace } from './folder/place.ts'
import { clean, keepClean } from './folder/retention.ts'
import { rewrite } from './rewrite.ts'
import { delayAfter, sleep } from './time.ts'
import type { Trouble } from './trouble.ts'
import { follow, listAll, listTrouble, relist } from './watch.ts'

export interface Settled {
  /** Whether all pending files were pulled. */
  readonly isComplete: boolean
  readonly files: readonly PulledFile[]
  /** Why files are missing. */
  readonly troubles: readonly Trouble[]
}

export type Puller = Readonly<ReturnType<typeof pull>>

export interface PullSummary extends Settled {
  /** The number of files deleted because their retention was over. */
  readonly cleaned: number
}

const WITHIN_MS = 65_000
const ROUNDS = 4

export function pull(options: PullOptions) {
  const settings = settingsOf(options)
  let opened: Promise<Opened> | null = null
  let current: Opened | null = null
  const here = (): Opened => {
    if (current !== null) return current
    throw new ClientError('NOT_STARTED', 'the puller is not running', { fix: 'Call start() first' })
  }
  const pathOf = (uri: string): string | null => pathIn(settings, here().known, uri)
  return {
    /**
     * Resolves when the folder is open; rejects with FOLDER_BUSY if another puller has it. Safe to call
     * twice.
     */
    async start(): Promise<void> {
      opened ??= open(settings).then((made) => {
        const { known, crew, signal, loops } = made
        for (const entry of unfinished(made)) crew.offer(entry, false)
        loops.push(follow(made), relist(made), keepClean(settings, known, signal))
        return (current = made)
      })
      const mine = opened
      await mine.catch((error: unknown) => {
        // Allows another start after a failure.
        if (opened === mine) opened = null
        throw error
      })
    },
    /** Resolves when nothing is running. Safe to call before the start, and twice. */
    async stop(): Promise<void> {
      const made = await opened?.catch(() => null)
      opened = null
      current = null
      await made?.close()
    },
    /**
     * Lists the pending files and resolves after one attempt at each, or when the disk is full. Call it
     * before `rewrite` when a message refers to files. Resolves after `withinMs` (default 65 s) at the
     * latest. Never rejects for errors of the inbox.
     */
    settled: ({ withinMs = WITHIN_MS }: { readonly withinMs?: number } = {}): Promise<Settled> =>
      settle(here(), withinMs),
    /** Returns a copy of a JSON value with paths in place of uris. Uris of missing files stay. */
    rewrite: <T>(value: T): T => rewrite(value, pathOf),
    /** Null if the file is not in the folder. */
    pathOf,
    /** The current problems. */
    troubles: (): Trouble[] => here().crew.troubles(),
  }
}

/**
 * Rejects if the files can never be listed, for example because the inbox is unreachable. Transient failures
 * are retried a few times.
 */
export async function pullOnce(
  options: PullOptions & { readonly signal?: AbortSignal },
): Promise<PullSummary> {
  const settings = settingsOf(options, 'signal')
  const made = await open(settings, options.signal)
  try {
    const files = new Map<string, PulledFile>()
    for (let round = 1; ; round += 1) {
      const now = await settle(made, Infinity)
      for (const file of now.files) files.set(file.uri, file)
      const [failed] = now.troubles.filter(({ uri }) => uri === null)
      // A rejected token stays rejected.
      const isHopeless = failed?.code === 'TOKEN_REFUSED'
      const isOver = now.isComplete || isHopeless || made.signal.aborted || round === ROUNDS
      if (isOver && failed !== undefined && files.size === 0) throw failed.cause
      const cleaned = isOver && settings.keepForMs !== Infinity ? await clean(settings, made.known) : 0
      if (isOver) return { ...now, files: [...files.values()], cleaned }
      await sleep(delayAfter(round, settings.backoff), made.signal)
    }
  } finally {
    await made.close()
  }
}

type Opened = Awaited<ReturnType<typeof open>>

async function open(settings: Settings, stopped?: AbortSignal) {
  const place = await openPlace(settings.folder)
  const known = await openIndex(place.indexFile).catch(async (error: unknown) => {
    await place.release()
    throw error
  })
  const stopping = new AbortController()
  const signal = stopped === undefined ? stopping.signal : AbortSignal.any([stopping.signal, stopped])
  let limit = Infinity
  const crew = createCrew(
    { settings, known, signal, maxFileBytes: () => Math.min(limit, settings.maxFileBytes) },
    settings.onTrouble,
  )
  const loops: Promise<void>[] = []
  return {
    settings,
    known,
    crew,
    loops,
    signal,
    setLimit: (bytes: number) => void (limit = bytes),
    async close(): Promise<void> {
      stopping.abort()
      await crew.stop()
      await Promise.all(loops)
      await known.close()
      await place.release()
    },
  }
}

/**
 * Files that an earlier run stored and may not have acknowledged, without those of another mailbox that the
 * folder was used for before.
 */
function unfinished({ settings, known }: Opened): Entry[] {
  return [...known.all()].filter(
    ({ uri, doneAt }) => doneAt === null && uri.startsWith(`jobmill-upload:${settings.line.mailbox}/`),
  )
}

async function settle(made: Opened, withinMs: number): Promise<Settled> {
  const files: PulledFile[] = []
  const troubles: Trouble[] = []
  const over = new AbortController()
  const attempts = (async () => {
    try {
      const listed = await listAll(made)
      const ids = new Set(listed.map(({ id }) => id))
      listed.push(...unfinished(made).filter(({ id }) => !ids.has(id)))
      const outcomes = await Promise.all(
        listed.map(async (file) => {
          const outcome = await made.crew.attempt(file)
          if (outcome.is === 'pulled') files.push(outcome.file)
          return outcome
        }),
      )
      return outcomes.every(({ is }) => is === 'pulled' || is === 'gone')
    } catch (error) {
      troubles.push(listTrouble(error, 1, null))
      return false
    }
  })()
  const isComplete = await Promise.race([
    attempts,
    ...(withinMs === Infinity ? [] : [sleep(withinMs, over.signal).then(() => false)]),
  ])
  over.abort()
  return { isComplete, files: [...files], troubles: [...troubles, ...made.crew.troubles()] }
}

function pathIn({ folder }: Settings, known: FileIndex, uri: string): string | null {
  const entry = known.get(uri.toLowerCase())
  if (entry === undefined) return null
  const { path } = pulledOf(folder, entry)
  // The application may have moved the file.
  return existsSync(path) ? path : null
}
