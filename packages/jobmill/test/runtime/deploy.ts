/** Releases of one application on one database, for tests of options in code and overrides. */
import { defineJob, jobmill, type Logger, type Mill, type MillOptions } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { lent } from './stores.ts'

export const quick = defineJob({ kind: 'quick', run: () => null })

export type Code = Pick<MillOptions, 'jobs' | 'queues' | 'limits' | 'schedules' | 'log'>

/** Starts a process with the options of one release, inspects it, and stops it. */
export async function deploy<T = void>(
  { store, platform }: { readonly store: TestMill; readonly platform: TestMill['platform'] },
  code: Code,
  look?: (mill: Mill, lines: readonly string[]) => Promise<T>,
): Promise<T | undefined> {
  const lines: string[] = []
  const note = (line: string): void => void lines.push(line)
  const log: Logger = { debug: () => {}, info: () => {}, warn: note, error: note }
  const mill = jobmill({ store: lent(store), platform, jobs: [quick], log, ...code })
  await mill.start()
  try {
    await platform.settled()
    return await look?.(mill, lines)
  } finally {
    await mill.stop({ grace: 0 })
  }
}
