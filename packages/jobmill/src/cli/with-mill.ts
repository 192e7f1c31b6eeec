/** A mill for a command that looks or steers: opened, used, and closed again whatever happens. It never works. */
import { type Mill, jobmill } from '../runtime/mill.ts'
import type { MillOptions } from '../runtime/options.ts'
import { checkIsThere, checkUsualIsThere, storeAt, usualStore } from './choose-store.ts'
import { EXIT, type Given } from './command.ts'
import { loadIfThere } from './load-config.ts'
import { terminal } from './terminal.ts'
import { waitingFor } from './waiting.ts'

/** Who overrides an option from the command line. */
export const BY_CLI = { by: 'cli' }

/** `mayCreate`: for a command that writes something new, so that a database may come into being. */
export async function optionsFor(given: Given, { mayCreate = false } = {}): Promise<MillOptions> {
  const config = await loadIfThere(given.text('config'), process.cwd())
  const db = given.text('db')
  if (db !== undefined) {
    if (!mayCreate) await checkIsThere(db)
    return { ...config, store: await storeAt(db) }
  }
  if (config !== null) return config
  if (!mayCreate) await checkUsualIsThere(process.env)
  return { store: await usualStore(process.env) }
}

interface WithMill {
  readonly mayCreate?: boolean
  /** Throws for options that the command refuses, before the database is opened or created. */
  readonly check?: (options: MillOptions) => void
}

export async function withMill<T>(
  given: Given,
  use: (mill: Mill, options: MillOptions) => Promise<T>,
  { check, ...how }: WithMill = {},
): Promise<T> {
  const options = await optionsFor(given, how)
  check?.(options)
  const mill = jobmill({ ...options, log: 'error' }, { declares: 'missing' })
  process.stdout.on('error', endWithReader)
  try {
    await waitingFor(options.store.name, mill.open(), terminal)
    return await use(mill, options)
  } finally {
    await mill.stop()
    process.stdout.off('error', endWithReader)
  }
}

/** Whoever reads our output may have enough of it: `jobmill jobs list --all | head`. Not for a process that works: that one has to end in good order. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.done)
  throw error
}
