/**
 * Opens a mill for a command that reads or changes something, and always closes it. The mill runs no jobs and
 * declares nothing: the config may belong to another release, or to another database than `--db`.
 */
import { JobmillError } from '../job/errors.ts'
import { jobmill } from '../runtime/jobmill.ts'
import type { Mill } from '../runtime/mill.ts'
import type { MillOptions } from '../runtime/options/options.ts'
import { isCurrent } from '../store/admin/schema-status.ts'
import type { Store, ToolStore } from '../store/store.ts'
import type { StoreTools } from '../store/admin/tools.ts'
import { checkIsThere, checkUsualIsThere, storeAt, usualStore } from './config/choose-store.ts'
import { EXIT, type ParsedArguments } from './program/command.ts'
import { loadIfThere } from './config/load-config.ts'
import { type Answer, print } from './output/print.ts'
import { type Terminal, terminal } from './output/terminal.ts'
import { waitingFor } from './output/progress.ts'

/** Recorded as the author of overrides that are set from the command line. */
export const BY_CLI = { by: 'cli' }

/**
 * `mayCreate` allows a command that writes to create the database. One named by `--db` also needs
 * `mayCreateNamed`, because a name that does not exist is probably a typo.
 */
export async function optionsFor(
  parsed: ParsedArguments,
  { mayCreate = false, mayCreateNamed = false } = {},
): Promise<MillOptions> {
  const config = await loadIfThere(parsed.text('config'), process.cwd())
  const db = parsed.text('db')
  if (db !== undefined) {
    if (!mayCreateNamed) await checkIsThere(db)
    return { ...config, store: await storeAt(db) }
  }
  if (config !== null) return config
  if (!mayCreate) await checkUsualIsThere(process.env)
  return { store: await usualStore(process.env) }
}

interface WithMill {
  readonly mayCreate?: boolean
  /** Throws if the command refuses these options, before the database is opened or created. */
  readonly check?: (options: MillOptions) => void
}

export async function withMill<T>(
  parsed: ParsedArguments,
  use: (mill: Mill, options: MillOptions) => Promise<T>,
  { check, ...how }: WithMill = {},
): Promise<T> {
  const options = await optionsFor(parsed, how)
  check?.(options)
  if (how.mayCreate !== true) await checkSchema(options.store)
  const mill = jobmill({ ...options, log: 'error' }, { declares: false })
  process.stdout.on('error', endWithReader)
  try {
    await waitingFor(options.store.name, mill.open(), terminal)
    return await use(mill, options)
  } finally {
    await mill.stop()
    process.stdout.off('error', endWithReader)
  }
}

/** Like `withMill`, for a command that prints one answer, or returns only an exit code. */
export function answerWith(
  parsed: ParsedArguments,
  output: Terminal,
  use: (mill: Mill) => Promise<Answer | number>,
  how: WithMill = {},
): Promise<number> {
  const printed = (answer: Answer | number): number =>
    typeof answer === 'number' ? answer : print(parsed, output, answer)
  return withMill(parsed, async (mill) => printed(await use(mill)), how)
}

/** The admin tools of a store. A third-party store may not have any. */
export function toolsOf(store: Store<never>): StoreTools {
  const { tools } = store as Partial<Pick<ToolStore, 'tools'>>
  if (tools !== undefined) return tools
  throw new JobmillError('OPTION_INVALID', 'has no admin tools for its database', {
    field: 'store',
    value: store.name,
    fix: 'Use the tools that come with the store',
  })
}

/** A command that creates nothing does not migrate either: running processes may be of an earlier release. */
async function checkSchema(store: Store<never>): Promise<void> {
  if (!('tools' in store)) return
  const status = await toolsOf(store).schema()
  if (isCurrent(status) || status.refused !== null) return
  const { isThere, pending } = status
  const names = pending.map(({ number, name }) => `${number} (${name})`).join(', ')
  throw new JobmillError(
    'SCHEMA_OUTDATED',
    isThere
      ? `${store.name} is missing ${pending.length === 1 ? 'migration' : 'migrations'} ${names}`
      : `${store.name} has no Jobmill tables`,
    { fix: 'Run jobmill db migrate, or start a process of the installed release' },
  )
}

/**
 * Ends quietly when the reader closes the pipe, as in `jobmill jobs list --all | head`. Workers do not use
 * this: they need a graceful shutdown.
 */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.done)
  throw error
}
