// Processes of earlier releases at work while one of today's starts beside them and migrates their database.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { STORES } from './places.ts'
import { keptSchemas } from './release.ts'
import { upgradeUnderLoad } from './side-by-side.ts'

const TIMEOUT_MS = 60_000

/** From the one directly before; with JOBMILL_UPGRADES=all, from every release that is kept. */
function releases(newest: number): number[] {
  const before = keptSchemas().filter((schema) => schema < newest)
  return process.env['JOBMILL_UPGRADES'] === 'all' ? before : before.slice(-1)
}

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-upgrade-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe.each(STORES)('upgrades under load, on %s', (_, stores) => {
  test.each(releases(stores.newest))(
    'P2 P3 P4 old processes of schema %i go on beside a new one: nothing is lost, nothing runs twice',
    async (release) => {
      const upgrade = await upgradeUnderLoad({
        release,
        place: stores.empty(),
        folder: ownFolder(),
        expire: stores.expire,
        onEnd: onTestFinished,
      })
      expect(upgrade.broken).toEqual([])
      expect(upgrade.cutOff).toBeGreaterThan(0)
    },
    TIMEOUT_MS,
  )
})
