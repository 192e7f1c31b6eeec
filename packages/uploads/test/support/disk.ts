/**
 * Records flushes, links and renames in order, together with the notes of a test. The real calls are made.
 */
import fs from 'node:fs/promises'
import { readlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { onTestFinished } from 'vitest'

type Named = 'link' | 'rename'
type Give = (from: string, to: string) => Promise<void>

export interface Disk {
  readonly log: string[]
  readonly real: Readonly<Record<Named, Give>>
  /** Replaces a call from now on. */
  readonly instead: (call: Named, act: Give) => void
}

/** Records until the test ends. */
export async function watchDisk(): Promise<Disk> {
  const log: string[] = []
  const handle = await fs.open(tmpdir(), 'r')
  const proto = Object.getPrototypeOf(handle) as typeof handle
  await handle.close()
  // eslint-disable-next-line typescript/unbound-method -- called with their handle below
  const { sync, datasync } = proto
  const { link, rename } = fs
  const real: Record<Named, Give> = { link, rename }
  const acts = { ...real }
  for (const [call, act] of [
    ['sync', sync],
    ['datasync', datasync],
  ] as const)
    proto[call] = async function (this: typeof handle) {
      const path = readlinkSync(`/proc/self/fd/${this.fd}`)
      await act.call(this)
      log.push(`flush ${path}`)
    }
  for (const call of ['link', 'rename'] as const)
    fs[call] = (async (from: string, to: string) => {
      await acts[call](from, to)
      log.push(`${call} ${from} ${to}`)
    }) as typeof fs.rename
  syncBuiltinESMExports()
  onTestFinished(() => {
    Object.assign(proto, { sync, datasync })
    Object.assign(fs, { link, rename })
    syncBuiltinESMExports()
  })
  return { log, real, instead: (call, act) => void (acts[call] = act) }
}
