/** Everything that is looked at in a file. */
import { isJobmillError } from '../../job/errors.ts'
import { type Check, examining } from '../../store/examining.ts'
import { broken, type Finding, well } from '../../store/keeping.ts'
import type { AppliedMigration } from '../../store/migrations.ts'
import { schemaFinding } from '../../store/schema-status.ts'
import { isStatementError } from '../errors.ts'
import type { SqliteHandle } from '../handle.ts'
import type { StoreSettings } from '../live.ts'
import { appliedTo } from '../migrate.ts'
import { MIGRATIONS } from '../migrations.ts'
import { clock } from './examine-clock.ts'
import { freePages, integrity } from './examine-file.ts'
import { log } from './examine-log.ts'
import { drift } from './examine-schema.ts'
import { durability, fileSystem, journal, version } from './examine-settings.ts'
import { isFileThere, lookInto } from './reach.ts'

export async function examine(settings: StoreSettings): Promise<Finding[]> {
  if (settings.path === ':memory:')
    return [well('schema', 'it lives in memory, and ends with its store: there is nothing to look at')]
  if (!isFileThere(settings)) {
    return [broken('schema', `there is no file ${settings.path}`, 'Make it: jobmill db migrate')]
  }
  // Each on a handle of its own, so that no look keeps others from their log for longer than it takes.
  const looking =
    (look: (handle: SqliteHandle) => Finding | readonly Finding[]): Check[1] =>
    () =>
      lookInto(settings, look).then((found) => [found].flat())
  try {
    const applied = await lookInto(settings, appliedTo)
    return await examining(
      [
        ['schema', () => [schemaFinding(applied, MIGRATIONS)]],
        ...(isComplete(applied) ? [['drift', looking(drift)] as const] : []),
        ['journal', looking(journal)],
        ['durability', () => [durability(settings)]],
        ['file system', () => [fileSystem(settings.path)]],
        ['log', () => [log(settings.path)]],
        ['integrity', looking(integrity)],
        ['free space', looking(freePages)],
        ...(applied === null
          ? []
          : [['clock', looking((handle) => clock(handle, settings.clock()))] as const]),
        ['server', looking(version)],
      ],
      isStatementError,
    )
  } catch (error) {
    if (!isJobmillError(error) || error.code !== 'STORE_UNSUPPORTED') throw error
    return [broken('integrity', error.message, error.fix ?? '')]
  }
}

/** Only then it is known what has to be there. */
function isComplete(applied: readonly AppliedMigration[] | null): boolean {
  return applied !== null && schemaFinding(applied, MIGRATIONS).level === 'ok'
}
